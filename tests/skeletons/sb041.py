"""Two guarded warpgroups run wgmma on one buffer; the barrier before the next trip's stores is missing.

Source: tile-ai/tilelang issue 2613.
"""

from exogpu.skeleton import *

CLASS = "ring-war"


@skeleton
def buggy(n: size):
    A = smem(256)
    c0 = registers()
    c1 = registers()
    with role("all", threads=256):
        for k in range(n):
            store(A[tid])
            proxy_fence()
            cta_sync()
            if tid < 128:
                wgmma_fence()
                wgmma(c0, A)
                wgmma_commit()
                wgmma_wait(0)
            if tid >= 128:
                wgmma_fence()
                wgmma(c1, A)
                wgmma_commit()
                wgmma_wait(0)


@skeleton
def buggy_barrier_before_wait(n: size):
    """The barrier is there, but the reads are over only after the wait."""
    A = smem(256)
    c0 = registers()
    c1 = registers()
    with role("all", threads=256):
        for k in range(n):
            store(A[tid])
            proxy_fence()
            cta_sync()
            if tid < 128:
                wgmma_fence()
                wgmma(c0, A)
                wgmma_commit()
            else:
                wgmma_fence()
                wgmma(c1, A)
                wgmma_commit()
            cta_sync()
            wgmma_wait(0)


@skeleton
def buggy_half_a_barrier(n: size):
    """Each warpgroup waits for itself only."""
    A = smem(256)
    c0 = registers()
    with role("all", threads=256):
        for k in range(n):
            store(A[tid])
            proxy_fence()
            cta_sync()
            wgmma_fence()
            wgmma(c0, A)
            wgmma_commit()
            wgmma_wait(0)
            bar_sync(1 + tid // 128, 128)


@skeleton
def fixed(n: size):
    A = smem(256)
    c0 = registers()
    c1 = registers()
    with role("all", threads=256):
        for k in range(n):
            store(A[tid])
            proxy_fence()
            cta_sync()
            if tid < 128:
                wgmma_fence()
                wgmma(c0, A)
                wgmma_commit()
                wgmma_wait(0)
            if tid >= 128:
                wgmma_fence()
                wgmma(c1, A)
                wgmma_commit()
                wgmma_wait(0)
            cta_sync()


@skeleton
def fixed_two_buffers(n: size):
    """With two buffers the barrier of the next trip comes between a read and its overwrite."""
    A = smem(2, 256)
    c0 = registers()
    c1 = registers()
    with role("all", threads=256):
        for k in range(n):
            store(A[k % 2, tid])
            proxy_fence()
            cta_sync()
            if tid < 128:
                wgmma_fence()
                wgmma(c0, A[k % 2])
                wgmma_commit()
                wgmma_wait(0)
            else:
                wgmma_fence()
                wgmma(c1, A[k % 2])
                wgmma_commit()
                wgmma_wait(0)


@skeleton
def fixed_own_halves(n: size):
    """Each warpgroup stores and reads a half of its own: a barrier of the warpgroup is enough."""
    A = smem(2, 128)
    c0 = registers()
    with role("all", threads=256):
        for k in range(n):
            store(A[tid // 128, tid % 128])
            proxy_fence()
            bar_sync(1 + tid // 128, 128)
            wgmma_fence()
            wgmma(c0, A[tid // 128])
            wgmma_commit()
            wgmma_wait(0)
            bar_sync(1 + tid // 128, 128)


WAR = "race.war | race.async_inflight"
EXPECT = {
    "buggy": WAR,
    "buggy_barrier_before_wait": WAR,
    "buggy_half_a_barrier": WAR,
    "fixed": "proved",
    "fixed_two_buffers": "proved",
    "fixed_own_halves": "proved",
}
