"""The shipped kernels' protocols with tiny tiles, for the simulator."""

from exogpu.lang import *

BM, BN, BK, STAGES = 64, 64, 64, 2


@proc
def product(M: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[BN, K] @ GMEM, C: bf16[M, BN] @ GMEM):
    require(M >= 1)
    require(K >= 1)
    block(consumer=warpgroups(1), producer=warps(1), persistent=True)
    full = mbarrier(ring=STAGES, count=1)
    empty = mbarrier(ring=STAGES, count=4)
    for tm in tasks(0, ceildiv(M, BM)):
        acc: f32[1, BM, BN] @ WGMMA_D
        for k in seq(0, ceildiv(K, BK)):
            sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=STAGES)
            sB: bf16[BN, BK] @ SMEM(swizzle=128, ring=STAGES)
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=STAGES)
                    tma_load(sA[:, :], A[BM * tm : BM * tm + BM, BK * k : BK * k + BK], full)
                    tma_load(sB[:, :], B[0:BN, BK * k : BK * k + BK], full)
                    Arrive(full, tx=2 * (BM + BN) * BK)
            with role(consumer):
                Await(full)
                wgmma_fence()
                for ks in unroll(0, 2):
                    wgmma(
                        acc[0, :, :],
                        sA[:, 16 * ks : 16 * ks + 16],
                        sB[:, 16 * ks : 16 * ks + 16],
                        accumulate=k > 0 or ks > 0,
                    )
                wgmma_commit()
                wgmma_wait(1)
                if k > 0:
                    for v in threads(4, unit=warp):
                        Arrive(empty)
        with role(consumer):
            wgmma_wait(0)
            for v in threads(4, unit=warp):
                Arrive(empty)
            stage: bf16[BM, BN] @ SMEM(swizzle=128, ring=2)
            for t in threads(1):
                bulk_wait_read(1)
            Fence()
            acc_store(stage[:, :], acc[0, :, :])
            fence_proxy_async()
            Fence()
            for t in threads(1):
                tma_store(C[BM * tm : BM * tm + BM, 0:BN], stage[:, :])
                bulk_commit()
    with role(consumer):
        for t in threads(1):
            bulk_wait_read(0)


TILE, SLAB = 8, 4


@proc
def scalar_product(M: size, K: size, A: f32[M, K] @ GMEM, B: f32[K, TILE] @ GMEM, C: f32[M, TILE] @ GMEM):
    block(64)
    for bm in tasks(0, ceildiv(M, TILE)):
        sA: f32[2, SLAB, TILE] @ SMEM
        sB: f32[2, SLAB, TILE] @ SMEM
        acc: f32[8, 8] @ RMEM(threads=2)
        for ty in threads(8, unit=8):
            for tx in threads(8):
                acc[ty, tx] = 0.0
        for t in threads(32):
            sA[0, t % 4, t // 4] = select(TILE * bm + t // 4 < M and t % 4 < K, A[TILE * bm + t // 4, t % 4], 0.0)
            sB[0, t // 8, t % 8] = select(t // 8 < K, B[t // 8, t % 8], 0.0)
        Fence()
        for k in seq(0, ceildiv(K, SLAB)):
            if k + 1 < ceildiv(K, SLAB):
                for t in threads(32):
                    sA[(k + 1) % 2, t % 4, t // 4] = select(
                        TILE * bm + t // 4 < M and SLAB * k + SLAB + t % 4 < K,
                        A[TILE * bm + t // 4, SLAB * k + SLAB + t % 4],
                        0.0,
                    )
                    sB[(k + 1) % 2, t // 8, t % 8] = select(
                        SLAB * k + SLAB + t // 8 < K, B[SLAB * k + SLAB + t // 8, t % 8], 0.0
                    )
            for ty in threads(8, unit=8):
                for tx in threads(8):
                    for kk in unroll(0, SLAB):
                        acc[ty, tx] += sA[k % 2, kk, ty] * sB[k % 2, kk, tx]
            Fence()
        for ty in threads(8, unit=8):
            for tx in threads(8):
                if TILE * bm + ty < M:
                    C[TILE * bm + ty, tx] = acc[ty, tx]
