"""wgmma with its first operand in registers, and two accumulators in flight."""

from exogpu.lang import *

BM, BN, D, STAGES = 64, 64, 64, 2


@scalar
def bend(x: f32) -> f32:
    return x * sigmoid(x)


@proc
def chained(M: size, N: size, Q: bf16[M, D] @ GMEM, K: bf16[N, D] @ GMEM, V: bf16[D, N] @ GMEM, Y: f32[M, D] @ GMEM):
    """Y = bend(Q K^T) V^T: the product with V of one step runs beside the product with K of the next."""
    require(M >= 1 and N >= 1)
    block(loader=warpgroups(1), math=warpgroups(1), persistent=True)
    ready = mbarrier(ring=1, count=1)
    done = mbarrier(ring=1, count=4)
    full = mbarrier(ring=STAGES, count=1)
    empty = mbarrier(ring=STAGES, count=4)
    for t in tasks(0, ceildiv(M, BM)):
        o: f32[1, 64, D] @ WGMMA_D
        p: bf16[1, 64, BN] @ WGMMA_A
        q: bf16[BM, D] @ SMEM(swizzle=128)
        with role(loader):
            for x in threads(1):
                Await(done, lag=1)
                tma_load(q[:, :], Q[BM * t : BM * t + BM, 0:D], ready)
                Arrive(ready, tx=BM * D * 2)
        with role(math):
            Await(ready)
        for n in seq(0, ceildiv(N, BN)):
            k: bf16[BN, D] @ SMEM(swizzle=128, ring=STAGES)
            v: bf16[D, BN] @ SMEM(swizzle=128, ring=STAGES)
            with role(loader):
                for x in threads(1):
                    Await(empty, lag=STAGES)
                    tma_load(k[:, :], K[BN * n : BN * n + BN, 0:D], full)
                    tma_load(v[:, :], V[0:D, BN * n : BN * n + BN], full)
                    Arrive(full, tx=2 * BN * D * 2)
            with role(math):
                s: f32[1, 64, BN] @ WGMMA_D
                Await(full)
                wgmma_fence()
                for j in unroll(0, D // 16):
                    wgmma(
                        s[0, :, :],
                        q[:, 16 * j : 16 * j + 16],
                        k[:, 16 * j : 16 * j + 16],
                        accumulate=j > 0,
                    )
                wgmma_commit()
                wgmma_wait(0)
                if n > 0:
                    for w in threads(4, unit=warp):
                        Arrive(empty)
                acc_convert(p[0, :, :], s[0, :, :], bend)
                wgmma_fence()
                for j in unroll(0, BN // 16):
                    wgmma_rs(
                        o[0, :, :],
                        p[0, :, 16 * j : 16 * j + 16],
                        v[:, 16 * j : 16 * j + 16],
                        accumulate=n > 0 or j > 0,
                    )
                wgmma_commit()
        with role(math):
            wgmma_wait(0)
            for w in threads(4, unit=warp):
                Arrive(empty)
                Arrive(done)
            acc_store(Y[BM * t : BM * t + BM, 0:D], o[0, :, :])


@proc
def overlapped(M: size, N: size, Q: bf16[M, D] @ GMEM, K: bf16[N, D] @ GMEM, V: bf16[D, N] @ GMEM, Y: f32[M, D] @ GMEM):
    """The same. Step i multiplies by V_i and K_(i+1) at once, and rounds the new product while the other one is still
    in flight: two sets of operand registers take turns. What lies beyond N is zero, and so is bend(0)."""
    require(M >= 1 and N >= 1)
    block(loader=warpgroups(1), math=warpgroups(1), persistent=True)
    ready = mbarrier(ring=1, count=1)
    done = mbarrier(ring=1, count=4)
    full = mbarrier(ring=STAGES, count=1)
    empty = mbarrier(ring=STAGES, count=4)
    for t in tasks(0, ceildiv(M, BM)):
        o: f32[1, 64, D] @ WGMMA_D
        s: f32[1, 64, BN] @ WGMMA_D
        p: bf16[1, 64, 2 * BN] @ WGMMA_A
        q: bf16[BM, D] @ SMEM(swizzle=128)
        first: bf16[BN, D] @ SMEM(swizzle=128)
        with role(loader):
            for x in threads(1):
                Await(done, lag=1)
                tma_load(q[:, :], Q[BM * t : BM * t + BM, 0:D], ready)
                tma_load(first[:, :], K[0:BN, 0:D], ready)
                Arrive(ready, tx=(BM + BN) * D * 2)
        with role(math):
            Await(ready)
            wgmma_fence()
            for j in unroll(0, D // 16):
                wgmma(
                    s[0, :, :],
                    q[:, 16 * j : 16 * j + 16],
                    first[:, 16 * j : 16 * j + 16],
                    accumulate=j > 0,
                )
            wgmma_commit()
            wgmma_wait(0)
            acc_convert(p[0, :, 0:BN], s[0, :, :], bend)
        for n in seq(0, ceildiv(N, 2 * BN)):
            for h in unroll(0, 2):
                k: bf16[BN, D] @ SMEM(swizzle=128, ring=STAGES)
                v: bf16[D, BN] @ SMEM(swizzle=128, ring=STAGES)
                with role(loader):
                    for x in threads(1):
                        Await(empty, lag=STAGES)
                        tma_load(k[:, :], K[2 * BN * n + BN * h + BN : 2 * BN * n + BN * h + 2 * BN, 0:D], full)
                        tma_load(v[:, :], V[0:D, 2 * BN * n + BN * h : 2 * BN * n + BN * h + BN], full)
                        Arrive(full, tx=2 * BN * D * 2)
                with role(math):
                    Await(full)
                    wgmma_fence()
                    for j in unroll(0, D // 16):
                        wgmma(
                            s[0, :, :],
                            q[:, 16 * j : 16 * j + 16],
                            k[:, 16 * j : 16 * j + 16],
                            accumulate=j > 0,
                        )
                    wgmma_commit()
                    for j in unroll(0, BN // 16):
                        wgmma_rs(
                            o[0, :, :],
                            p[0, :, BN * h + 16 * j : BN * h + 16 * j + 16],
                            v[:, 16 * j : 16 * j + 16],
                            accumulate=n > 0 or h > 0 or j > 0,
                        )
                    wgmma_commit()
                    wgmma_wait(1)
                    acc_convert(p[0, :, BN - BN * h : 2 * BN - BN * h], s[0, :, :], bend)
                    wgmma_wait(0)
                    for w in threads(4, unit=warp):
                        Arrive(empty)
        with role(math):
            for w in threads(4, unit=warp):
                Arrive(done)
            acc_store(Y[BM * t : BM * t + BM, 0:D], o[0, :, :])


@proc
def rows_along_n(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[K, N] @ GMEM, C: f32[M, N] @ GMEM):
    """C = A B for a B whose rows run along N: 192 columns at once from shared memory, 64 from registers."""
    require(M >= 1 and N >= 1 and K >= 1)
    block(128)
    full = mbarrier(ring=1, count=1)
    for m in tasks(0, ceildiv(M, 64)):
        for n in tasks(0, ceildiv(N, 256)):
            wide: f32[1, 64, 192] @ WGMMA_D
            rest: f32[1, 64, 64] @ WGMMA_D
            r: bf16[1, 64, 64] @ WGMMA_A
            for k in seq(0, ceildiv(K, 64)):
                a: bf16[64, 64] @ SMEM(swizzle=128)
                b: bf16[4, 64, 64] @ SMEM(swizzle=128)
                for t in threads(1):
                    tma_load(a[:, :], A[64 * m : 64 * m + 64, 64 * k : 64 * k + 64], full)
                    for c in unroll(0, 4):
                        tma_load(
                            b[c, :, :],
                            B[64 * k : 64 * k + 64, 256 * n + 64 * c : 256 * n + 64 * c + 64],
                            full,
                        )
                    Arrive(full, tx=5 * 64 * 64 * 2)
                Await(full)
                ldmatrix(r[0, :, :], a[:, :])
                wgmma_fence()
                for j in unroll(0, 4):
                    wgmma(
                        wide[0, :, :],
                        a[:, 16 * j : 16 * j + 16],
                        b[0:3, 16 * j : 16 * j + 16, :],
                        accumulate=k > 0 or j > 0,
                        transpose_b=False,
                    )
                    wgmma_rs(
                        rest[0, :, :],
                        r[0, :, 16 * j : 16 * j + 16],
                        b[3, 16 * j : 16 * j + 16, :],
                        accumulate=k > 0 or j > 0,
                        transpose_b=False,
                    )
                wgmma_commit()
                wgmma_wait(0)
                fence_proxy_async()
                Fence()
            acc_store(C[64 * m : 64 * m + 64, 256 * n : 256 * n + 192], wide[0, :, :])
            acc_store(C[64 * m : 64 * m + 64, 256 * n + 192 : 256 * n + 256], rest[0, :, :])


@proc
def rows_along_m(M: size, N: size, K: size, A: bf16[K, M] @ GMEM, B: bf16[N, K] @ GMEM, C: f32[M, N] @ GMEM):
    """C = A^T B^T for an A whose rows run along M: two warpgroups with 64 rows of C each."""
    require(M >= 1 and N >= 1 and K >= 1)
    block(256)
    full = mbarrier(ring=1, count=1)
    for m in tasks(0, ceildiv(M, 128)):
        for n in tasks(0, ceildiv(N, 64)):
            acc: f32[2, 64, 64] @ WGMMA_D
            for k in seq(0, ceildiv(K, 64)):
                a: bf16[2, 64, 64] @ SMEM(swizzle=128)
                b: bf16[64, 64] @ SMEM(swizzle=128)
                for t in threads(1):
                    for c in unroll(0, 2):
                        tma_load(
                            a[c, :, :],
                            A[64 * k : 64 * k + 64, 128 * m + 64 * c : 128 * m + 64 * c + 64],
                            full,
                        )
                    tma_load(b[:, :], B[64 * n : 64 * n + 64, 64 * k : 64 * k + 64], full)
                    Arrive(full, tx=3 * 64 * 64 * 2)
                Await(full)
                for w in threads(2, unit=warpgroup):
                    wgmma_fence()
                    for j in unroll(0, 4):
                        wgmma_ta(
                            acc[w, :, :],
                            a[w, 16 * j : 16 * j + 16, :],
                            b[:, 16 * j : 16 * j + 16],
                            accumulate=k > 0 or j > 0,
                        )
                    wgmma_commit()
                    wgmma_wait(0)
                Fence()
            for w in threads(2, unit=warpgroup):
                acc_store(C[128 * m + 64 * w : 128 * m + 64 * w + 64, 64 * n : 64 * n + 64], acc[w, :, :])
