"""The address of a copy contains the lane number, although any lane of the warp may be the elected one.

Source: deepseek-ai/DeepEP issues 359 and 527.
"""

from exogpu.skeleton import *

CLASS = "elect"


@skeleton
def buggy(n: size):
    full = mbarrier(count=1)
    x = smem(32)
    g = gmem(n, 32)
    with role("copy", warps=1):
        for i in range(n):
            with elect(any=True):
                arrive(full, tx=512)
                tma_load(x, full, bytes=512, src=g[i, lane : lane + 32])
            wait(full, parity=i)
            load(x[lane])
            proxy_fence()
            warp_sync()


@skeleton
def fixed(n: size):
    full = mbarrier(count=1)
    x = smem(32)
    g = gmem(n, 32)
    with role("copy", warps=1):
        for i in range(n):
            with elect(any=True):
                arrive(full, tx=512)
                tma_load(x, full, bytes=512, src=g[i])
            wait(full, parity=i)
            load(x[lane])
            proxy_fence()
            warp_sync()


@skeleton
def fixed_first_lane(n: size):
    """The same address is right if the program itself elects the first lane."""
    full = mbarrier(count=1)
    x = smem(32)
    g = gmem(n, 32)
    with role("copy", warps=1):
        for i in range(n):
            with elect():
                arrive(full, tx=512)
                tma_load(x, full, bytes=512, src=g[i, lane : lane + 32])
            wait(full, parity=i)
            load(x[lane])
            proxy_fence()
            warp_sync()


@skeleton
def buggy_value(n: size):
    """Inside the bounds, but not the intended address."""
    full = mbarrier(count=1)
    x = smem(32)
    with role("copy", warps=1):
        for i in range(n):
            with elect(any=True):
                check(lane + 32 * (i + 1) == 32 * (i + 1), "the copy starts at the block of this trip")
                arrive(full, tx=512)
                tma_load(x, full, bytes=512)
            wait(full, parity=i)
            load(x[lane])
            proxy_fence()
            warp_sync()


@skeleton
def fixed_value(n: size):
    full = mbarrier(count=1)
    x = smem(32)
    with role("copy", warps=1):
        for i in range(n):
            with elect():
                check(lane + 32 * (i + 1) == 32 * (i + 1), "the copy starts at the block of this trip")
                arrive(full, tx=512)
                tma_load(x, full, bytes=512)
            wait(full, parity=i)
            load(x[lane])
            proxy_fence()
            warp_sync()


@skeleton
def fixed_same_lane(n: size):
    """Whichever lane it is, it is the same one in every trip: its groups are its own."""
    y = smem(32)
    with role("copy", warps=1):
        for i in range(n):
            store(y[lane])
            proxy_fence()
            warp_sync()
            with elect(any=True):
                tma_store(y)
                bulk_commit()
            with elect(any=True):
                bulk_wait_read(0)
            warp_sync()


@skeleton
def buggy_other_lane(n: size):
    """Lane 0 waits for the groups of the elected lane, which need not be lane 0."""
    y = smem(32)
    with role("copy", warps=1):
        for i in range(n):
            store(y[lane])
            proxy_fence()
            warp_sync()
            with elect(any=True):
                tma_store(y)
                bulk_commit()
            if lane == 0:
                bulk_wait_read(0)
            warp_sync()


EXPECT = {
    "buggy": "bounds",
    "fixed": "proved",
    "fixed_first_lane": "proved",
    "buggy_value": "seq.mismatch",
    "fixed_value": "proved",
    "fixed_same_lane": "proved",
    "buggy_other_lane": "race.war | race.async_inflight | group.wrong_thread",
}
