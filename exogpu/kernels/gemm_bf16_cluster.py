"""C = A B^T in bf16 with f32 accumulation on clusters: as `gemm_bf16`, and the CTAs of a cluster share tiles of B.

The CTAs of a cluster compute tiles one below the other. Each loads its own tile of A and an equal part of the common
tile of B, which TMA multicasts to all of them. A stage is free when the consumers of every CTA have read it, so each
consumer warp arrives on the `empty` barrier of every CTA, its lane r on that of CTA r. These arrives are relaxed: they
hand on the end of asynchronous reads only, and a release across CTAs costs a fifth of the speed.
"""

from __future__ import annotations

from exogpu.ir.proc import Proc
from exogpu.lang import *

BK = 64
REGISTERS = {1: 240, 2: 232, 3: 152, 4: 104}


def build(cluster: int = 2, stages: int = 4, consumers: int = 2, columns: int = 256) -> Proc:
    """The kernel for a cluster shape, ring depth, number of consumer warpgroups (64 rows each) and tile width."""
    CLUSTER, STAGES, WGS, BM, BN = cluster, stages, consumers, 64 * consumers, columns
    PART, REGS = BN // CLUSTER, REGISTERS[consumers]
    STAGE_BYTES = (BM + BN) * BK * 2
    ABROAD = CLUSTER > 1  # a cluster of one CTA has only its own barriers, where a relaxed arrive hands on nothing

    @proc
    def gemm_bf16_cluster(
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
        block(
            producer=warpgroups(1, regs=40),
            consumer=warpgroups(WGS, regs=REGS),
            persistent=True,
            raster=8,
            cluster=CLUSTER,
        )
        full = mbarrier(ring=STAGES, count=1)
        empty = mbarrier(ring=STAGES, count=4 * WGS * CLUSTER)
        for tm in tasks(0, ceildiv(M, CLUSTER * BM)):
            for tn in tasks(0, ceildiv(N, BN)):
                acc: f32[CLUSTER, WGS, 64, BN] @ WGMMA_D
                for k in seq(0, ceildiv(K, BK)):
                    sA: bf16[CLUSTER, BM, BK] @ SMEM(swizzle=128, ring=STAGES)
                    sB: bf16[CLUSTER, BN, BK] @ SMEM(swizzle=128, ring=STAGES)
                    for c in threads(CLUSTER, unit=cta):
                        with role(producer):
                            for p in threads(1):
                                Await(empty, lag=STAGES)
                                tma_load(
                                    sA[c, :, :],
                                    A[
                                        BM * CLUSTER * tm + BM * c : BM * CLUSTER * tm + BM * c + BM,
                                        BK * k : BK * k + BK,
                                    ],
                                    full,
                                )
                                tma_load_multicast(
                                    sB[:, PART * c : PART * c + PART, :],
                                    B[BN * tn + PART * c : BN * tn + PART * c + PART, BK * k : BK * k + BK],
                                    full,
                                )
                                Arrive(full, tx=STAGE_BYTES)
                    for c in threads(CLUSTER, unit=cta):
                        with role(consumer):
                            Await(full)
                            for w in threads(WGS, unit=warpgroup):
                                wgmma_fence()
                                for ks in unroll(0, 4):
                                    wgmma(
                                        acc[c, w, :, :],
                                        sA[c, 64 * w : 64 * w + 64, 16 * ks : 16 * ks + 16],
                                        sB[c, :, 16 * ks : 16 * ks + 16],
                                        accumulate=k > 0 or ks > 0,
                                    )
                                wgmma_commit()
                                wgmma_wait(1)
                            if k > 0:
                                for v in threads(4 * WGS, unit=warp):
                                    for r in threads(CLUSTER):
                                        Arrive(empty[r], relaxed=ABROAD)
                for c in threads(CLUSTER, unit=cta):
                    with role(consumer):
                        for w in threads(WGS, unit=warpgroup):
                            wgmma_wait(0)
                        for v in threads(4 * WGS, unit=warp):
                            for r in threads(CLUSTER):
                                Arrive(empty[r], relaxed=ABROAD)
                if N % 8 == 0:
                    for p in unroll(0, BN // 64):
                        stage: bf16[CLUSTER, WGS, 64, 64] @ SMEM(swizzle=128, ring=2)
                        for c in threads(CLUSTER, unit=cta):
                            with role(consumer):
                                for w in threads(WGS, unit=warpgroup):
                                    for t in threads(1):
                                        bulk_wait_read(1)
                                    Fence()
                                    acc_store(stage[c, w, :, :], acc[c, w, :, 64 * p : 64 * p + 64])
                                    fence_proxy_async()
                                    Fence()
                                    for t in threads(1):
                                        tma_store(
                                            C[
                                                BM * CLUSTER * tm + BM * c + 64 * w : BM * CLUSTER * tm
                                                + BM * c
                                                + 64 * w
                                                + 64,
                                                BN * tn + 64 * p : BN * tn + 64 * p + 64,
                                            ],
                                            stage[c, w, :, :],
                                        )
                                        bulk_commit()
                else:
                    for c in threads(CLUSTER, unit=cta):
                        with role(consumer):
                            for w in threads(WGS, unit=warpgroup):
                                acc_store(
                                    C[
                                        BM * CLUSTER * tm + BM * c + 64 * w : BM * CLUSTER * tm + BM * c + 64 * w + 64,
                                        BN * tn : BN * tn + BN,
                                    ],
                                    acc[c, w, :, :],
                                )
        for c in threads(CLUSTER, unit=cta):
            with role(consumer):
                for w in threads(WGS, unit=warpgroup):
                    for t in threads(1):
                        bulk_wait_read(0)
        Fence()

    return gemm_bf16_cluster


gemm_bf16_cluster = build()
