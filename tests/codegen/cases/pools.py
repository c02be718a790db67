"""Buffers that share storage: a staging tile where a ring of TMA tiles lies, and tiles of two types in turn."""

from exogpu.lang import *


@proc
def staged(T: size, K: size, X: f32[T, K] @ GMEM, Y: f32[T, 32] @ GMEM):
    """Sums of every 32nd element of a row, backwards; the result leaves through the storage of the ring."""
    require(T >= 1 and K >= 1)
    block(producer=warps(1), consumer=warps(1), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    free = mbarrier(ring=1, count=1)
    for t in tasks(0, T):
        total: f32[32, 1] @ RMEM(threads=1)
        with role(producer):
            for p in threads(1):
                Await(free, lag=1)
        with role(consumer):
            for t1 in threads(32):
                total[t1, 0] = 0.0
        for k in seq(0, ceildiv(K, 32)):
            s: f32[1, 32] @ SMEM(ring=2, pool="tiles")
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=2)
                    tma_load(s[:, :], X[t : t + 1, 32 * k : 32 * k + 32], full)
                    Arrive(full, tx=128)
            with role(consumer):
                Await(full)
                for t1 in threads(32):
                    total[t1, 0] += s[0, t1]
                fence_proxy_async()
                Fence()
                Arrive(empty)
        with role(consumer):
            out: f32[1, 32] @ SMEM(pool="tiles")
            for t1 in threads(32):
                out[0, 31 - t1] = total[t1, 0]
            fence_proxy_async()
            Fence()
            for o in threads(1):
                tma_store(Y[t : t + 1, 0:32], out[:, :])
                bulk_commit()
                bulk_wait_read(0)
            Fence()
            Arrive(free)


@proc
def in_turn(M: size, X: f32[M, 64] @ GMEM, Y: bf16[M, 64] @ GMEM):
    """Each row backwards, rounded, and backwards again in pairs: a tile of f32 and then one of bf16 in its place."""
    block(64, persistent=True)
    for m in tasks(0, M):
        low: f32[64, 1] @ RMEM(threads=1)
        for once in unroll(0, 1):
            wide: f32[64] @ SMEM(pool="row")
            for t in threads(64):
                wide[t] = X[m, t]
            Fence()
            for t in threads(64):
                low[t, 0] = wide[63 - t]
            Fence()
        narrow: bf16[64] @ SMEM(pool="row")
        for t in threads(64):
            narrow[t] = low[t, 0]
        Fence()
        for t in threads(64):
            Y[m, t] = narrow[t // 2 * 2 + 1 - t % 2]
        Fence()


@proc
def staged_gemm(M: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[64, K] @ GMEM, C: bf16[M, 64] @ GMEM):
    """A product whose epilogue is staged where the ring of A lies; B has a ring of its own behind it in the pool.

    A warp stages the rows that it alone has read of A, so nothing needs to stand between its wgmma_wait and acc_store.
    """
    require(K >= 1)
    block(producer=warps(4), consumer=warpgroups(1), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=4)
    free = mbarrier(ring=1, count=1)
    for bm in tasks(0, ceildiv(M, 64)):
        acc: f32[1, 64, 64] @ WGMMA_D
        with role(producer):
            for p in threads(1):
                Await(free, lag=1)
        for k in seq(0, ceildiv(K, 64)):
            a: bf16[64, 64] @ SMEM(swizzle=128, ring=2, pool="stages")
            b: bf16[64, 64] @ SMEM(swizzle=128, ring=2, pool="stages", offset=16384)
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=2)
                    tma_load(a[:, :], A[64 * bm : 64 * bm + 64, 64 * k : 64 * k + 64], full)
                    tma_load(b[:, :], B[0:64, 64 * k : 64 * k + 64], full)
                    Arrive(full, tx=16384)
            with role(consumer):
                Await(full)
                wgmma_fence()
                for ks in unroll(0, 4):
                    wgmma(
                        acc[0, :, :],
                        a[:, 16 * ks : 16 * ks + 16],
                        b[:, 16 * ks : 16 * ks + 16],
                        accumulate=k > 0 or ks > 0,
                    )
                wgmma_commit()
                wgmma_wait(0)
                for w in threads(4, unit=warp):
                    Arrive(empty)
        with role(consumer):
            out: bf16[64, 64] @ SMEM(swizzle=128, pool="stages")
            acc_store(out[:, :], acc[0, :, :])
            fence_proxy_async()
            Fence()
            for t in threads(1):
                tma_store(C[64 * bm : 64 * bm + 64, 0:64], out[:, :])
                bulk_commit()
                bulk_wait_read(0)
            Fence()
            Arrive(free)
