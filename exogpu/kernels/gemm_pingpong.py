"""C = A B^T in bf16 with f32 accumulation, ping-pong: two consumer warpgroups take whole tiles in turn.

One producer thread fills a ring of (A, B) stages by TMA. While one warpgroup stores its tile, the other multiplies the
next one: `turn` hands the stages and the tensor cores over as soon as the last products of a tile are issued. The
epilogue goes through shared memory in pieces of 64 x 64 by TMA stores; a row of C that is no multiple of 16 bytes is
stored by ordinary guarded stores, since TMA would write beyond it.
"""

from __future__ import annotations

from exogpu.lang import *

BM, BN, BK, STAGES = 128, 192, 64, 5
STAGE_BYTES = (BM + BN) * BK * 2


@proc
def gemm_pingpong(
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
    block(producer=warpgroups(1, regs=24), consumer=warpgroups(2, regs=240), persistent=True, raster=16)
    full = mbarrier(ring=STAGES, count=1)
    empty = mbarrier(ring=STAGES, count=4)
    turn = mbarrier(ring=2, count=4)
    for tm in tasks(0, ceildiv(M, BM)):
        for tn in tasks(0, ceildiv(N, BN)):
            upper: f32[1, 64, BN] @ WGMMA_D
            lower: f32[1, 64, BN] @ WGMMA_D
            with role(consumer[ordinal % 2]):
                Await(turn, lag=1)
            for k in seq(0, ceildiv(K, BK)):
                sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=STAGES)
                sB: bf16[BN, BK] @ SMEM(swizzle=128, ring=STAGES)
                with role(producer):
                    for p in threads(1):
                        Await(empty, lag=STAGES)
                        tma_load(sA[:, :], A[BM * tm : BM * tm + BM, BK * k : BK * k + BK], full)
                        tma_load(sB[:, :], B[BN * tn : BN * tn + BN, BK * k : BK * k + BK], full)
                        Arrive(full, tx=STAGE_BYTES)
                with role(consumer[ordinal % 2]):
                    Await(full)
                    wgmma_fence()
                    for ks in unroll(0, 4):
                        wgmma(
                            upper[0, :, :],
                            sA[0:64, 16 * ks : 16 * ks + 16],
                            sB[:, 16 * ks : 16 * ks + 16],
                            accumulate=k > 0 or ks > 0,
                        )
                        wgmma(
                            lower[0, :, :],
                            sA[64:128, 16 * ks : 16 * ks + 16],
                            sB[:, 16 * ks : 16 * ks + 16],
                            accumulate=k > 0 or ks > 0,
                        )
                    wgmma_commit()
                    wgmma_wait(1)
                    if k > 0:
                        for v in threads(4, unit=warp):
                            Arrive(empty)
            with role(consumer[ordinal % 2]):
                for v in threads(4, unit=warp):
                    Arrive(turn)
                wgmma_wait(0)
                for v in threads(4, unit=warp):
                    Arrive(empty)
                if N % 8 == 0:
                    for c in unroll(0, BN // 64):
                        piece: bf16[64, 64] @ SMEM(swizzle=128)
                        for t in threads(1):
                            bulk_wait_read(0)
                        Fence()
                        acc_store(piece[:, :], upper[0, :, 64 * c : 64 * c + 64])
                        fence_proxy_async()
                        Fence()
                        for t in threads(1):
                            tma_store(
                                C[BM * tm : BM * tm + 64, BN * tn + 64 * c : BN * tn + 64 * c + 64],
                                piece[:, :],
                            )
                            bulk_commit()
                            bulk_wait_read(0)
                        Fence()
                        acc_store(piece[:, :], lower[0, :, 64 * c : 64 * c + 64])
                        fence_proxy_async()
                        Fence()
                        for t in threads(1):
                            tma_store(
                                C[BM * tm + 64 : BM * tm + 128, BN * tn + 64 * c : BN * tn + 64 * c + 64],
                                piece[:, :],
                            )
                            bulk_commit()
                else:
                    acc_store(C[BM * tm : BM * tm + 64, BN * tn : BN * tn + BN], upper[0, :, :])
                    acc_store(C[BM * tm + 64 : BM * tm + 128, BN * tn : BN * tn + BN], lower[0, :, :])
    with role(consumer):
        for w in threads(2, unit=warpgroup):
            for t in threads(1):
                bulk_wait_read(0)
