"""Kernels whose synchronisation is not written yet, each with one mechanism that it needs."""

from exogpu.lang import *


@proc
def reverse(M: size, X: f32[M, 128] @ GMEM, Y: f32[M, 128] @ GMEM):
    """Threads read what others have written."""
    block(128)
    for i in tasks(0, M):
        s: f32[128] @ SMEM
        for t in threads(128):
            s[t] = X[i, t]
        for t in threads(128):
            Y[i, t] = s[127 - t]


@proc
def reverse_by_warps(M: size, X: f32[M, 128] @ GMEM, Y: f32[M, 128] @ GMEM):
    """Threads read what others of their warp have written, in a loop."""
    block(128, persistent=True)
    for i in tasks(0, M):
        s: f32[128] @ SMEM
        for t in threads(128):
            s[t] = X[i, t]
        for t in threads(128):
            Y[i, t] = s[32 * (t // 32) + 31 - t % 32]


@proc
def row_sums(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M] @ GMEM):
    """A reduction through shared memory, whose two buffers the next task uses again."""
    block(128, persistent=True)
    for i in tasks(0, M):
        part: f32[128] @ SMEM
        total: f32[4] @ SMEM
        for t in threads(128):
            part[t] = 0.0
            for j in seq(0, ceildiv(N, 128)):
                if 128 * j + t < N:
                    part[t] += X[i, 128 * j + t]
        for w in threads(4, unit=warp):
            for t in threads(1):
                total[w] = 0.0
                for j in seq(0, 32):
                    total[w] += part[32 * w + j]
        for t in threads(1):
            Y[i] = 0.0
            for w in seq(0, 4):
                Y[i] += total[w]


@proc
def handed_over(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    """One role writes, another reads, two slots apart."""
    block(writer=warps(2), reader=warps(2), persistent=True)
    for i in tasks(0, M):
        s: f32[64] @ SMEM(ring=2)
        with role(writer):
            for t in threads(64):
                s[t] = X[i, t]
        with role(reader):
            for t in threads(64):
                Y[i, t] = s[63 - t]


@proc
def relayed(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    """A ring from one role to the next, and another one to the third."""
    block(first=warps(1), second=warps(1), third=warps(1), persistent=True)
    for i in tasks(0, M):
        s: f32[32] @ SMEM(ring=2)
        r: f32[32] @ SMEM(ring=3)
        with role(first):
            for t in threads(32):
                s[t] = X[i, t]
        with role(second):
            for t in threads(32):
                r[t] = s[31 - t]
        with role(third):
            for t in threads(32):
                Y[i, t] = r[(t + 1) % 32]


@proc
def loaded(M: size, N: size, X: bf16[M, N] @ GMEM, Y: f32[M] @ GMEM):
    """Tiles by TMA for another role, which is done with the last ones when its task ends."""
    require(M >= 1 and N >= 1)
    block(producer=warps(1), consumer=warps(2), persistent=True)
    for i in tasks(0, ceildiv(M, 64)):
        sum: f32[64] @ RMEM(threads=1)
        with role(consumer):
            for t in threads(64):
                sum[t] = 0.0
        for k in seq(0, ceildiv(N, 64)):
            s: bf16[64, 64] @ SMEM(ring=3)
            with role(producer):
                for p in threads(1):
                    tma_load(s[:, :], X[64 * i : 64 * i + 64, 64 * k : 64 * k + 64])
            with role(consumer):
                for t in threads(64):
                    for j in seq(0, 64):
                        sum[t] += s[t, j]
        with role(consumer):
            for t in threads(64):
                if 64 * i + t < M:
                    Y[64 * i + t] = sum[t]


@proc
def doubled(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    """In by TMA, changed by threads, out by TMA, all in one buffer and by one block."""
    require(M >= 1 and N >= 1 and N % 4 == 0)
    block(64, persistent=True)
    for i in tasks(0, ceildiv(M, 64)):
        for k in seq(0, ceildiv(N, 32)):
            s: f32[64, 32] @ SMEM
            for p in threads(1):
                tma_load(s[:, :], X[64 * i : 64 * i + 64, 32 * k : 32 * k + 32])
            for t in threads(64):
                for j in seq(0, 32):
                    s[t, j] = 2.0 * s[t, j]
            for p in threads(1):
                tma_store(Y[64 * i : 64 * i + 64, 32 * k : 32 * k + 32], s[:, :])


@proc
def copied(M: size, X: f32[M, 128] @ GMEM, Y: f32[M, 128] @ GMEM):
    """In by cp.async, read by other lanes."""
    block(32)
    for i in tasks(0, M):
        s: f32[128] @ SMEM
        for t in threads(32):
            cp_async(s[4 * t : 4 * t + 4], X[i, 4 * t : 4 * t + 4])
        for t in threads(32):
            for j in unroll(0, 4):
                Y[i, 4 * t + j] = s[127 - 4 * t - j]


@proc
def multiplied(M: size, A: bf16[M, 64] @ GMEM, B: bf16[8, 64] @ GMEM, C: f32[M, 8] @ GMEM):
    """wgmma on operands that its own block loads."""
    require(M >= 1)
    block(128, persistent=True)
    for i in tasks(0, ceildiv(M, 64)):
        acc: f32[1, 64, 8] @ WGMMA_D
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        for p in threads(1):
            tma_load(a[:, :], A[64 * i : 64 * i + 64, 0:64])
            tma_load(b[:, :], B[0:8, 0:64])
        for j in unroll(0, 4):
            wgmma(acc[0, :, :], a[0:64, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16], accumulate=j > 0)
        acc_store(C[64 * i : 64 * i + 64, 0:8], acc[0, :, :])


@proc
def written_operands(M: size, A: bf16[M, 64] @ GMEM, B: bf16[8, 64] @ GMEM, C: f32[M, 8] @ GMEM):
    """wgmma on operands that threads of another role write."""
    block(writer=warpgroups(1), math=warpgroups(1), persistent=True)
    for i in tasks(0, ceildiv(M, 64)):
        acc: f32[1, 64, 8] @ WGMMA_D
        a: bf16[64, 64] @ SMEM(swizzle=128, ring=2)
        b: bf16[8, 64] @ SMEM(swizzle=128, ring=2)
        with role(writer):
            for t in threads(128):
                for j in seq(0, 32):
                    a[t // 2, 32 * (t % 2) + j] = select(64 * i + t // 2 < M, A[64 * i + t // 2, 32 * (t % 2) + j], 0.0)
                for j in seq(0, 4):
                    b[t // 16, 4 * (t % 16) + j] = B[t // 16, 4 * (t % 16) + j]
        with role(math):
            for j in unroll(0, 4):
                wgmma(acc[0, :, :], a[0:64, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16], accumulate=j > 0)
            acc_store(C[64 * i : 64 * i + 64, 0:8], acc[0, :, :])


@proc
def exchanged(M: size, X: f32[M, 128] @ GMEM, Y: f32[M, 128] @ GMEM):
    """Threads read the shared memory of other CTAs."""
    block(32, persistent=True, cluster=4)
    for i in tasks(0, M):
        parts: f32[4, 32] @ SMEM
        for c in threads(4, unit=cta):
            for t in threads(32):
                parts[c, t] = X[i, 32 * c + t]
        for c in threads(4, unit=cta):
            for t in threads(32):
                Y[i, 32 * c + t] = parts[3 - c, 31 - t]


@proc
def broadcast(T: size, K: size, X: f32[K + 2, 32] @ GMEM, Y: f32[T, 2, 32] @ GMEM):
    """Each CTA of a pair multicasts half of what both read."""
    require(T >= 1)
    block(producer=warps(1), consumer=warps(1), persistent=True, cluster=2)
    for t in tasks(0, T):
        for k in seq(0, K):
            s: f32[2, 2, 32] @ SMEM(ring=2)
            for c in threads(2, unit=cta):
                with role(producer):
                    for p in threads(1):
                        tma_load_multicast(s[:, c : c + 1, :], X[k + c : k + c + 1, 0:32])
            for c in threads(2, unit=cta):
                with role(consumer):
                    for x in threads(32):
                        Y[t, c, x] += s[c, 0, x] + s[c, 1, 31 - x]


@proc
def two_readers(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM, Z: f32[M, 32] @ GMEM):
    """Two roles read what TMA brings."""
    require(M >= 1)
    block(producer=warps(1), left=warps(1), right=warps(1), persistent=True)
    for i in tasks(0, M):
        s: f32[1, 32] @ SMEM(ring=2)
        with role(producer):
            for p in threads(1):
                tma_load(s[:, :], X[i : i + 1, 0:32])
        with role(left):
            for t in threads(32):
                Y[i, t] = s[0, 31 - t]
        with role(right):
            for t in threads(32):
                Z[i, t] = s[0, (t + 1) % 32]


@proc
def by_turns(M: size, N: size, X: f32[N + 1, 128] @ GMEM, Y: f32[M, 128] @ GMEM):
    """Two units of a role take whole tasks in turn, from one ring."""
    require(M >= 1)
    block(producer=warps(1), consumer=warpgroups(2), persistent=True)
    for i in tasks(0, M):
        sum: f32[128] @ RMEM(threads=1)
        with role(consumer[ordinal % 2]):
            for t in threads(128):
                sum[t] = 0.0
        for k in seq(0, N):
            s: f32[1, 128] @ SMEM(ring=3)
            with role(producer):
                for p in threads(1):
                    tma_load(s[:, :], X[k : k + 1, 0:128])
            with role(consumer[ordinal % 2]):
                for t in threads(128):
                    sum[t] += s[0, 127 - t]
        with role(consumer[ordinal % 2]):
            for t in threads(128):
                Y[i, t] = sum[t]


@proc
def added(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[1, 32] @ GMEM):
    """Sums into global memory by TMA, from two pieces of staging in turn."""
    require(M >= 1 and N >= 1)
    block(32, persistent=True)
    for i in tasks(0, M):
        for k in seq(0, ceildiv(N, 32)):
            s: f32[1, 32] @ SMEM(ring=2)
            for t in threads(32):
                s[0, t] = select(32 * k + t < N, X[i, 32 * k + t], 0.0)
            for p in threads(1):
                tma_reduce_add(Y[0:1, 0:32], s[:, :])


@proc
def some_bytes(M: size, N: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    """How many bytes fill a slot depends on N."""
    require(M >= 1 and N >= 1 and N <= 4)
    block(producer=warps(1), consumer=warps(1), persistent=True)
    for i in tasks(0, M):
        s: f32[4, 32] @ SMEM(ring=2)
        with role(producer):
            for p in threads(1):
                for r in seq(0, N):
                    tma_load(s[r : r + 1, :], X[i : i + 1, 0:32])
        with role(consumer):
            for t in threads(32):
                for r in seq(0, N):
                    Y[i, t] += s[r, 31 - t]


@proc
def both_write(M: size, N: size, X: f32[N, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    """Two roles change one buffer step by step."""
    block(left=warps(1), right=warps(1))
    for i in tasks(0, M):
        s: f32[32] @ SMEM
        with role(left):
            for t in threads(32):
                s[t] = 0.0
        for k in seq(0, N):
            with role(left):
                for t in threads(32):
                    s[t] += X[k, t]
            with role(right):
                for t in threads(32):
                    s[31 - t] = 0.5 * s[31 - t]
        with role(left):
            for t in threads(32):
                Y[i, t] = s[31 - t]


@proc
def slots_by_hand(M: size, N: size, X: f32[M + N, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    """The slots of a buffer are chosen by the loop in which one role fills and another reads it."""
    require(M <= 1000 and N <= 1000)
    block(writer=warps(1), reader=warps(1))
    for i in tasks(0, M):
        s: f32[2, 32] @ SMEM
        for k in seq(0, N):
            with role(writer):
                for t in threads(32):
                    s[k % 2, t] = X[i + k, t]
            with role(reader):
                for t in threads(32):
                    Y[i, t] += s[k % 2, 31 - t]


@proc
def passed_through(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    """One thread loads and stores."""
    require(M >= 1 and N >= 1 and N % 4 == 0)
    block(32, persistent=True)
    for i in tasks(0, ceildiv(M, 32)):
        for k in seq(0, ceildiv(N, 32)):
            s: f32[32, 32] @ SMEM(ring=4)
            for p in threads(1):
                tma_load(s[:, :], X[32 * i : 32 * i + 32, 32 * k : 32 * k + 32])
                tma_store(Y[32 * i : 32 * i + 32, 32 * k : 32 * k + 32], s[:, :])
