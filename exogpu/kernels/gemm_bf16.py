"""C = A B^T in bf16 with f32 accumulation: warp-specialised, persistent, TMA + wgmma.

One producer thread fills a ring of (A, B) stages by TMA; two consumer warpgroups multiply, one 64-row half of
the tile each; the epilogue goes through shared memory and TMA stores, two 64-column pieces in flight. A row of C that
is no multiple of 16 bytes is stored by ordinary guarded stores, since TMA would write beyond it. The rings stay open
from one tile to the next.
"""

from __future__ import annotations

from exogpu.lang import *

BM, BN, BK, STAGES = 128, 256, 64, 4
STAGE_BYTES = (BM + BN) * BK * 2


@proc
def gemm_bf16(
    M: size,
    N: size,
    K: size,
    A: bf16[M, K] @ GMEM,
    B: bf16[N, K] @ GMEM,
    C: bf16[M, N] @ GMEM,
):
    require(M >= 1)
    require(N >= 1)
    require(K >= 1)
    block(producer=warpgroups(1, regs=40), consumer=warpgroups(2, regs=232), persistent=True, raster=16)
    full = mbarrier(ring=STAGES, count=1)
    empty = mbarrier(ring=STAGES, count=8)
    for tm in tasks(0, ceildiv(M, BM)):
        for tn in tasks(0, ceildiv(N, BN)):
            acc: f32[2, 64, BN] @ WGMMA_D
            for k in seq(0, ceildiv(K, BK)):
                sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=STAGES)
                sB: bf16[BN, BK] @ SMEM(swizzle=128, ring=STAGES)
                with role(producer):
                    for p in threads(1):
                        Await(empty, lag=STAGES)
                        tma_load(sA[:, :], A[BM * tm : BM * tm + BM, BK * k : BK * k + BK], full)
                        tma_load(sB[:, :], B[BN * tn : BN * tn + BN, BK * k : BK * k + BK], full)
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
                if N % 8 == 0:
                    for c in unroll(0, BN // 64):
                        stage: bf16[2, 64, 64] @ SMEM(swizzle=128, ring=2)
                        for w in threads(2, unit=warpgroup):
                            for t in threads(1):
                                bulk_wait_read(1)
                            Fence()
                            acc_store(stage[w, :, :], acc[w, :, 64 * c : 64 * c + 64])
                            fence_proxy_async()
                            Fence()
                            for t in threads(1):
                                tma_store(
                                    C[
                                        BM * tm + 64 * w : BM * tm + 64 * w + 64,
                                        BN * tn + 64 * c : BN * tn + 64 * c + 64,
                                    ],
                                    stage[w, :, :],
                                )
                                bulk_commit()
                else:
                    for w in threads(2, unit=warpgroup):
                        acc_store(
                            C[BM * tm + 64 * w : BM * tm + 64 * w + 64, BN * tn : BN * tn + BN],
                            acc[w, :, :],
                        )
    with role(consumer):
        for w in threads(2, unit=warpgroup):
            for t in threads(1):
                bulk_wait_read(0)
