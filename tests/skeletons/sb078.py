"""An optimiser copies a barrier of one warp into both arms of a branch on the lane, so no copy sees the whole warp.

Source: facebookexperimental/triton pull request 1040.
"""

from exogpu.skeleton import *

CLASS = "divergence"


@skeleton
def buggy():
    x = smem()
    y = smem(32)
    with role("other", warps=3):
        cta_sync()
    with role("worker", warps=1):
        cta_sync()
        if lane == 0:
            bar_sync(14, 32)
            store(x)
        else:
            bar_sync(14, 32)
            store(y[lane])


@skeleton
def fixed():
    x = smem()
    y = smem(32)
    with role("other", warps=3):
        cta_sync()
    with role("worker", warps=1):
        cta_sync()
        bar_sync(14, 32)
        if lane == 0:
            store(x)
        else:
            store(y[lane])


@skeleton
def buggy_half_warp(n: size):
    """In a loop, with the branch between the halves of the warp."""
    y = smem(32)
    with role("worker", warps=1):
        for i in range(n):
            store(y[lane])
            if lane < 16:
                bar_sync(14, 32)
            else:
                bar_sync(14, 32)
            load(y)
            bar_sync(14, 32)


@skeleton
def fixed_whole_warps(n: size):
    """The same barrier from two places is right if each warp is in one of them with all its lanes."""
    y = smem(64)
    with role("worker", warps=2):
        for i in range(n):
            store(y[tid])
            if warp == 0:
                bar_sync(14, 64)
            else:
                bar_sync(14, 64)
            load(y)
            bar_sync(14, 64)


@skeleton
def buggy_elected():
    """One lane of each warp comes to the barrier for its warp."""
    y = smem(64)
    with role("worker", warps=2):
        store(y[tid])
        with elect():
            bar_sync(14, 64)
        warp_sync()
        load(y)


EXPECT = {
    "buggy": "bar.divergence | bar.count | deadlock.cycle",
    "fixed": "proved",
    "buggy_half_warp": "bar.divergence | bar.count | deadlock.cycle",
    "fixed_whole_warps": "proved",
    "buggy_elected": "bar.divergence | bar.count | deadlock.cycle",
}
