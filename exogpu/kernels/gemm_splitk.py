"""C += A B^T in bf16 with f32 sums, K split over SPLIT tasks per tile: for few tiles and a long K.

As `gemm_bf16`, with one task for each tile and split. Split s takes the K-steps s, s + SPLIT, s + 2 SPLIT, ...: every
split then has the same number of steps, and TMA fills what lies beyond K with zeros. The tile sums go through shared
memory and are added to C by TMA reductions; rows of C that are no multiple of 16 bytes get atomic sums instead. Start
with a C of zeros to get the product alone.
"""

from __future__ import annotations

from exogpu.lang import *

BM, BN, BK, STAGES, SPLIT = 128, 256, 64, 4, 4
STAGE_BYTES = (BM + BN) * BK * 2
PIECE = 32


@proc
def gemm_splitk(
    M: size,
    N: size,
    K: size,
    A: bf16[M, K] @ GMEM,
    B: bf16[N, K] @ GMEM,
    C: f32[M, N] @ GMEM,
):
    require(M >= 1)
    require(N >= 1)
    require(K >= 1)
    block(producer=warpgroups(1, regs=40), consumer=warpgroups(2, regs=232), persistent=True, raster=16)
    full = mbarrier(ring=STAGES, count=1)
    empty = mbarrier(ring=STAGES, count=8)
    for tm in tasks(0, ceildiv(M, BM)):
        for tn in tasks(0, ceildiv(N, BN)):
            for s in tasks(0, SPLIT):
                acc: f32[2, 64, BN] @ WGMMA_D
                for k in seq(0, ceildiv(K, BK * SPLIT)):
                    sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=STAGES)
                    sB: bf16[BN, BK] @ SMEM(swizzle=128, ring=STAGES)
                    with role(producer):
                        for p in threads(1):
                            Await(empty, lag=STAGES)
                            tma_load(
                                sA[:, :],
                                A[BM * tm : BM * tm + BM, BK * (SPLIT * k + s) : BK * (SPLIT * k + s) + BK],
                                full,
                            )
                            tma_load(
                                sB[:, :],
                                B[BN * tn : BN * tn + BN, BK * (SPLIT * k + s) : BK * (SPLIT * k + s) + BK],
                                full,
                            )
                            Arrive(full, tx=STAGE_BYTES)
                    with role(consumer):
                        Await(full)
                        for w in threads(2, unit=warpgroup):
                            wgmma_fence()
                            for ks in unroll(0, 4):
                                wgmma(
                                    acc[w, :, :],
                                    sA[64 * w : 64 * w + 64, 16 * ks : 16 * ks + 16],
                                    sB[:, 16 * ks : 16 * ks + 16],
                                    accumulate=k > 0 or ks > 0,
                                )
                            wgmma_commit()
                            wgmma_wait(1)
                        if k > 0:
                            for v in threads(8, unit=warp):
                                Arrive(empty)
                with role(consumer):
                    for w in threads(2, unit=warpgroup):
                        wgmma_wait(0)
                    for v in threads(8, unit=warp):
                        Arrive(empty)
                    if N % 4 == 0:
                        for c in unroll(0, BN // PIECE):
                            stage: f32[2, 64, PIECE] @ SMEM(swizzle=128, ring=2)
                            for w in threads(2, unit=warpgroup):
                                for t in threads(1):
                                    bulk_wait_read(1)
                                Fence()
                                acc_store(stage[w, :, :], acc[w, :, PIECE * c : PIECE * c + PIECE])
                                fence_proxy_async()
                                Fence()
                                for t in threads(1):
                                    tma_reduce_add(
                                        C[
                                            BM * tm + 64 * w : BM * tm + 64 * w + 64,
                                            BN * tn + PIECE * c : BN * tn + PIECE * c + PIECE,
                                        ],
                                        stage[w, :, :],
                                    )
                                    bulk_commit()
                    else:
                        for w in threads(2, unit=warpgroup):
                            acc_add(
                                C[BM * tm + 64 * w : BM * tm + 64 * w + 64, BN * tn : BN * tn + BN],
                                acc[w, :, :],
                            )
    with role(consumer):
        for w in threads(2, unit=warpgroup):
            for t in threads(1):
                bulk_wait_read(0)
