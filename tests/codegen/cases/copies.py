"""Rings filled with cp.async, completed by commit groups and a CTA barrier, and by arrivals on an mbarrier."""

from exogpu.lang import *

STAGES = 3


@proc
def copy_groups(M: size, K: size, X: f32[M, K] @ GMEM, Y: f32[M] @ GMEM):
    """Sums of rows of blocks of 128 in opposite order: two tiles are on their way while one is read."""
    require(K % 4 == 0)
    block(128)
    for bm in tasks(0, ceildiv(M, 128)):
        s: f32[STAGES, 128, 4] @ SMEM
        total: f32[128, 1] @ RMEM(threads=1)
        for t in threads(128):
            total[t, 0] = 0.0
        for p in unroll(0, 2):
            for t in threads(128):
                cp_async(s[p, t, :], X[128 * bm + t, 4 * p : 4 * p + 4])
            cp_async_commit()
        for k in seq(0, ceildiv(K, 4)):
            cp_async_wait(1)
            Fence()
            for t in threads(128):
                cp_async(s[(k + 2) % STAGES, t, :], X[128 * bm + t, 4 * k + 8 : 4 * k + 12])
            cp_async_commit()
            for t in threads(128):
                for c in unroll(0, 4):
                    total[t, 0] += s[k % STAGES, 127 - t, c]
        cp_async_wait_all()
        for t in threads(128):
            if 128 * bm + t < M:
                Y[128 * bm + t] = total[t, 0]


@proc
def copy_arrivals(M: size, K: size, X: bf16[M, K] @ GMEM, Y: f32[M] @ GMEM):
    """The same sums for blocks of 32: one warp copies, another adds; every lane's arrival follows its copies."""
    require(K % 2 == 0)
    block(producer=warps(1), consumer=warps(1), persistent=True)
    full = mbarrier(ring=STAGES, count=32)
    empty = mbarrier(ring=STAGES, count=1)
    for bm in tasks(0, ceildiv(M, 32)):
        total: f32[32, 1] @ RMEM(threads=1)
        with role(consumer):
            for t in threads(32):
                total[t, 0] = 0.0
        for k in seq(0, ceildiv(K, 8)):
            s: bf16[32, 8] @ SMEM(ring=STAGES)
            with role(producer):
                Await(empty, lag=STAGES)
                for t in threads(32):
                    for v in unroll(0, 4):
                        cp_async(s[t, 2 * v : 2 * v + 2], X[32 * bm + t, 8 * k + 2 * v : 8 * k + 2 * v + 2])
                    cp_async_arrive(full)
            with role(consumer):
                Await(full)
                for t in threads(32):
                    for c in unroll(0, 8):
                        total[t, 0] += s[31 - t, c]
                Fence()
                Arrive(empty)
        with role(consumer):
            for t in threads(32):
                if 32 * bm + t < M:
                    Y[32 * bm + t] = total[t, 0]
    with role(producer):
        cp_async_wait_all()


@proc
def copied_gemm(M: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[64, K] @ GMEM, C: f32[M, 64] @ GMEM):
    """A product whose swizzled operands come by cp.async: ordinary writes, so wgmma reads them behind a proxy fence."""
    require(K >= 1 and K % 8 == 0)
    block(producer=warpgroups(1), consumer=warpgroups(1), persistent=True)
    full = mbarrier(ring=2, count=128)
    empty = mbarrier(ring=2, count=4)
    for bm in tasks(0, ceildiv(M, 64)):
        acc: f32[1, 64, 64] @ WGMMA_D
        for k in seq(0, ceildiv(K, 64)):
            a: bf16[64, 64] @ SMEM(swizzle=128, ring=2)
            b: bf16[64, 64] @ SMEM(swizzle=128, ring=2)
            with role(producer):
                Await(empty, lag=2)
                for t in threads(128):
                    for v in unroll(0, 4):
                        cp_async(
                            a[16 * v + t // 8, 8 * (t % 8) : 8 * (t % 8) + 8],
                            A[64 * bm + 16 * v + t // 8, 64 * k + 8 * (t % 8) : 64 * k + 8 * (t % 8) + 8],
                        )
                        cp_async(
                            b[16 * v + t // 8, 8 * (t % 8) : 8 * (t % 8) + 8],
                            B[16 * v + t // 8, 64 * k + 8 * (t % 8) : 64 * k + 8 * (t % 8) + 8],
                        )
                    cp_async_arrive(full)
            with role(consumer):
                Await(full)
                fence_proxy_async()
                Fence()
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
            acc_store(C[64 * bm : 64 * bm + 64, 0:64], acc[0, :, :])
    with role(producer):
        cp_async_wait_all()
