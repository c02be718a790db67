"""Sums into global memory: atomics of every type and width, from registers and shared memory, and TMA reductions."""

from exogpu.lang import *


@proc
def column_sums(M: size, N: size, X: f32[M, N] @ GMEM, S: f32[N] @ GMEM, P: f32[N] @ GMEM, Q: f32[N] @ GMEM):
    """Each of S, P and Q += the sum of the rows of X: by ones, pairs and fours."""
    require(N % 64 == 0)
    block(64)
    for m in tasks(0, M):
        for n in tasks(0, N // 64):
            row: f32[64] @ SMEM
            for t in threads(64):
                one: f32[1] @ RMEM
                one[0] = X[m, 64 * n + t]
                row[t] = one[0]
                atomic_add(S[64 * n + t : 64 * n + t + 1], one[0:1])
            Fence()
            for t in threads(32):
                atomic_add(P[64 * n + 2 * t : 64 * n + 2 * t + 2], row[2 * t : 2 * t + 2])
            for t in threads(16):
                atomic_add(Q[64 * n + 4 * t : 64 * n + 4 * t + 4], row[4 * t : 4 * t + 4])


@proc
def narrow_sums(
    M: size,
    X: f32[M, 32] @ GMEM,
    B: bf16[4, 32] @ GMEM,
    H: f16[4, 32] @ GMEM,
    D: f64[32] @ GMEM,
    W: i32[32] @ GMEM,
):
    """Rows of B and H: by ones, pairs, fours and eights."""
    block(32)
    for m in tasks(0, M):
        for t in threads(4):
            b: bf16[8] @ RMEM
            h: f16[8] @ RMEM
            d: f64[1] @ RMEM
            w: i32[1] @ RMEM
            for j in unroll(0, 8):
                b[j] = X[m, 8 * t + j]
                h[j] = X[m, 8 * t + j]
                d[0] = X[m, 8 * t + j]
                w[0] = cast(i32, X[m, 8 * t + j])
                atomic_add(B[0, 8 * t + j : 8 * t + j + 1], b[j : j + 1])
                atomic_add(H[0, 8 * t + j : 8 * t + j + 1], h[j : j + 1])
                atomic_add(D[8 * t + j : 8 * t + j + 1], d[0:1])
                atomic_add(W[8 * t + j : 8 * t + j + 1], w[0:1])
            for j in unroll(0, 4):
                atomic_add(B[1, 8 * t + 2 * j : 8 * t + 2 * j + 2], b[2 * j : 2 * j + 2])
                atomic_add(H[1, 8 * t + 2 * j : 8 * t + 2 * j + 2], h[2 * j : 2 * j + 2])
            for j in unroll(0, 2):
                atomic_add(B[2, 8 * t + 4 * j : 8 * t + 4 * j + 4], b[4 * j : 4 * j + 4])
                atomic_add(H[2, 8 * t + 4 * j : 8 * t + 4 * j + 4], h[4 * j : 4 * j + 4])
            atomic_add(B[3, 8 * t : 8 * t + 8], b[0:8])
            atomic_add(H[3, 8 * t : 8 * t + 8], h[0:8])


@proc
def tile_sums(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[8, 32] @ GMEM, Z: bf16[8, 64] @ GMEM):
    """Y += every whole 8 x 32 tile of the first 32 columns of X by TMA, Z += twice as many rounded to bf16."""
    require(N >= 32)
    block(32)
    for m in tasks(0, M // 8):
        y: f32[8, 32] @ SMEM
        z: bf16[8, 64] @ SMEM(swizzle=128)
        for c in threads(32):
            for r in seq(0, 8):
                y[r, c] = X[8 * m + r, c]
                z[r, c] = X[8 * m + r, c]
                z[r, 32 + c] = 2.0 * X[8 * m + r, c]
        fence_proxy_async()
        Fence()
        for t in threads(1):
            tma_reduce_add(Y[0:8, 0:32], y[:, :])
            tma_reduce_add(Z[0:8, 0:64], z[:, :])
            bulk_commit()
            bulk_wait_read(0)


@proc
def product_sums(
    T: size,
    A: bf16[64, 16] @ GMEM,
    B: bf16[8, 16] @ GMEM,
    F: f32[64, 8] @ GMEM,
    G: bf16[64, 8] @ GMEM,
    H: f16[64, 8] @ GMEM,
):
    """Each of F, G and H += T times A B^T, from accumulators."""
    block(128)
    full = mbarrier(ring=1, count=1)
    for t in tasks(0, T):
        acc: f32[1, 64, 8] @ WGMMA_D
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        for x in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:8, 0:64], full)
            Arrive(full, tx=9216)
        Await(full)
        wgmma_fence()
        wgmma(acc[0, :, :], a[:, 0:16], b[:, 0:16], accumulate=False)
        wgmma_commit()
        wgmma_wait(0)
        acc_add(F[0:64, 0:8], acc[0, :, :])
        acc_add(G[0:64, 0:8], acc[0, :, :])
        acc_add(H[0:64, 0:8], acc[0, :, :])
