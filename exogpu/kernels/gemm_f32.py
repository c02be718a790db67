"""C = A B in f32 on the SIMT cores: 128x128 tiles in shared memory, double-buffered, CTA barriers.

256 threads, each computing 8x8 elements. Iteration k computes from buffer k % 2 while the next slab of A and B is
loaded into the other; one barrier per iteration separates them.
"""

from __future__ import annotations

from exogpu.lang import *

BM, BN, BK = 128, 128, 8


@proc
def gemm_f32(
    M: size,
    N: size,
    K: size,
    A: f32[M, K] @ GMEM,
    B: f32[K, N] @ GMEM,
    C: f32[M, N] @ GMEM,
):
    block(256)
    for bm in tasks(0, ceildiv(M, BM)):
        for bn in tasks(0, ceildiv(N, BN)):
            sA: f32[2, BK, BM] @ SMEM
            sB: f32[2, BK, BN] @ SMEM
            acc: f32[16, 16, 8, 8] @ RMEM(threads=2)
            for ty in threads(16, unit=16):
                for tx in threads(16):
                    for i in unroll(0, 8):
                        for j in unroll(0, 8):
                            acc[ty, tx, i, j] = 0.0
            for t in threads(256):
                for v in unroll(0, 4):
                    sA[0, t % 8, 32 * v + t // 8] = select(
                        BM * bm + 32 * v + t // 8 < M and t % 8 < K, A[BM * bm + 32 * v + t // 8, t % 8], 0.0
                    )
                    sB[0, 2 * v + t // 128, t % 128] = select(
                        2 * v + t // 128 < K and BN * bn + t % 128 < N, B[2 * v + t // 128, BN * bn + t % 128], 0.0
                    )
            Fence()
            for k in seq(0, ceildiv(K, BK)):
                if k + 1 < ceildiv(K, BK):
                    for t in threads(256):
                        for v in unroll(0, 4):
                            sA[(k + 1) % 2, t % 8, 32 * v + t // 8] = select(
                                BM * bm + 32 * v + t // 8 < M and BK * k + BK + t % 8 < K,
                                A[BM * bm + 32 * v + t // 8, BK * k + BK + t % 8],
                                0.0,
                            )
                            sB[(k + 1) % 2, 2 * v + t // 128, t % 128] = select(
                                BK * k + BK + 2 * v + t // 128 < K and BN * bn + t % 128 < N,
                                B[BK * k + BK + 2 * v + t // 128, BN * bn + t % 128],
                                0.0,
                            )
                for ty in threads(16, unit=16):
                    for tx in threads(16):
                        for kk in unroll(0, BK):
                            a: f32[8] @ RMEM
                            b: f32[8] @ RMEM
                            for h in unroll(0, 2):
                                vec_copy(a[4 * h : 4 * h + 4], sA[k % 2, kk, 8 * ty + 4 * h : 8 * ty + 4 * h + 4])
                                vec_copy(b[4 * h : 4 * h + 4], sB[k % 2, kk, 64 * h + 4 * tx : 64 * h + 4 * tx + 4])
                            for i in unroll(0, 8):
                                for j in unroll(0, 8):
                                    acc[ty, tx, i, j] += a[i] * b[j]
                Fence()
            for ty in threads(16, unit=16):
                for tx in threads(16):
                    for i in unroll(0, 8):
                        for j in unroll(0, 8):
                            if BM * bm + 8 * ty + i < M and BN * bn + 64 * (j // 4) + 4 * tx + j % 4 < N:
                                C[BM * bm + 8 * ty + i, BN * bn + 64 * (j // 4) + 4 * tx + j % 4] = acc[ty, tx, i, j]
