"""Pipelines with rings and lags of several kinds, f16 operands, and both ways out of the accumulator."""

from exogpu.lang import *

STAGES, BN, BK = 3, 200, 64


@scalar
def gelu(x: f32) -> f32:
    return 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


@proc
def gemm_gelu(M: size, N: size, K: size, A: f16[M, K] @ GMEM, B: f16[N, K] @ GMEM, C: f32[M, N] @ GMEM):
    require(K >= 1)
    block(loader=warpgroups(1), math=warpgroups(1), persistent=True)
    full = mbarrier(ring=STAGES, count=1)
    empty = mbarrier(ring=STAGES, count=4)
    for tm in tasks(0, ceildiv(M, 64)):
        for tn in tasks(0, ceildiv(N, BN)):
            acc: f32[1, 64, BN] @ WGMMA_D
            for k in seq(0, ceildiv(K, BK)):
                sA: f16[64, BK] @ SMEM(swizzle=128, ring=STAGES)
                sB: f16[BN, BK] @ SMEM(swizzle=128, ring=STAGES)
                with role(loader):
                    for p in threads(1):
                        Await(empty, lag=STAGES)
                        tma_load(sA[:, :], A[64 * tm : 64 * tm + 64, BK * k : BK * k + BK], full)
                        tma_load(sB[:, :], B[BN * tn : BN * tn + BN, BK * k : BK * k + BK], full)
                        Arrive(full, tx=(64 + BN) * BK * 2)
                with role(math):
                    Await(full)
                    wgmma_fence()
                    for ks in unroll(0, 4):
                        wgmma(
                            acc[0, :, :],
                            sA[:, 16 * ks : 16 * ks + 16],
                            sB[:, 16 * ks : 16 * ks + 16],
                            accumulate=k > 0 or ks > 0,
                        )
                    wgmma_commit()
                    wgmma_wait(0)
                    for v in threads(4, unit=warp):
                        Arrive(empty)
            with role(math):
                out: f32[64, 40] @ SMEM
                acc_store(C[64 * tm : 64 * tm + 64, BN * tn : BN * tn + 160], acc[0, :, 0:160], gelu)
                acc_store(out[:, :], acc[0, :, 160:200])
                Fence()
                for t in threads(128):
                    for v in seq(0, 20):
                        if 64 * tm + (128 * v + t) // 40 < M and BN * tn + 160 + (128 * v + t) % 40 < N:
                            C[64 * tm + (128 * v + t) // 40, BN * tn + 160 + (128 * v + t) % 40] = out[
                                (128 * v + t) // 40, (128 * v + t) % 40
                            ]
                Fence()


@proc
def groups(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    block(96)
    for b in tasks(0, ceildiv(N, 96)):
        s: f32[96] @ SMEM
        for t in threads(96):
            s[t] = select(96 * b + t < N, X[96 * b + t], 0.0)
        for w in threads(3, unit=warp):
            Fence()
            for h in threads(4, unit=8):
                Fence()
                for t in threads(8):
                    if 96 * b + 32 * w + 8 * h + t < N:
                        Y[96 * b + 32 * w + 8 * h + t] = s[32 * w + 8 * h + 7 - t]
        for p in threads(1, unit=64):
            Fence()


@proc
def reread(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM, Z: f32[M, 64] @ GMEM, W: f32[M, 64] @ GMEM):
    """W = Y, then Y = X by TMA, then Z = Y: ordinary loads before and after a bulk store to the same rows."""
    block(64)
    for m in tasks(0, M):
        s: f32[1, 64] @ SMEM
        for t in threads(64):
            s[0, t] = X[m, t]
            W[m, t] = Y[m, t]
        fence_proxy_async_all()
        Fence()
        for t in threads(1):
            tma_store(Y[m : m + 1, 0:64], s[:, :])
            bulk_commit()
            bulk_wait(0)
        Fence()
        for t in threads(64):
            Z[m, t] = Y[m, t]
