"""One side arrives on a named barrier for two tiles in a row before the other side syncs for the first.

Source: flashinfer-ai/flashinfer pull request 4732, issue 3700.
"""

from exogpu.skeleton import *

CLASS = "named-bar"


@skeleton
def buggy(n: size):
    with role("math", threads=256):
        for t in range(n):
            bar_arrive(1, 384)
    with role("io", threads=128):
        for t in range(n):
            bar_sync(1, 384)


@skeleton
def fixed(n: size):
    """Two barriers in turns; the way back lets math start a tile when the tile before the last is done."""
    y = smem(2, 256)
    with role("math", threads=256):
        for t in range(n):
            if t >= 2:
                bar_sync(2 + 4 * (t % 2), 384)
            store(y[t % 2, tid])
            bar_arrive(1 + 4 * (t % 2), 384)
    with role("io", threads=128):
        for t in range(n):
            bar_sync(1 + 4 * (t % 2), 384)
            load(y[t % 2])
            if t + 2 < n:
                bar_arrive(2 + 4 * (t % 2), 384)


@skeleton
def buggy_one_barrier(n: size):
    """The way back is right, but math is two tiles ahead on one barrier."""
    y = smem(2, 256)
    with role("math", threads=256):
        for t in range(n):
            if t >= 2:
                bar_sync(2 + 4 * (t % 2), 384)
            store(y[t % 2, tid])
            bar_arrive(1, 384)
    with role("io", threads=128):
        for t in range(n):
            bar_sync(1, 384)
            load(y[t % 2])
            if t + 2 < n:
                bar_arrive(2 + 4 * (t % 2), 384)


@skeleton
def fixed_one_tile_ahead(n: size):
    """One barrier each way is enough if math waits for the tile before."""
    y = smem(256)
    with role("math", threads=256):
        for t in range(n):
            if t >= 1:
                bar_sync(2, 384)
            store(y[tid])
            bar_arrive(1, 384)
    with role("io", threads=128):
        for t in range(n):
            bar_sync(1, 384)
            load(y)
            if t + 1 < n:
                bar_arrive(2, 384)


@skeleton
def buggy_alternating(n: size):
    """Two barriers without a way back: math can be three tiles ahead."""
    with role("math", threads=256):
        for t in range(n):
            bar_arrive(1 + 4 * (t % 2), 384)
    with role("io", threads=128):
        for t in range(n):
            bar_sync(1 + 4 * (t % 2), 384)


@skeleton
def fixed_mbarrier(n: size):
    """The way back through an mbarrier."""
    done = mbarrier(2, count=128)
    y = smem(2, 256)
    with role("math", threads=256):
        for t in range(n):
            wait(done[t % 2], parity=t // 2 + 1)
            store(y[t % 2, tid])
            bar_arrive(1 + t % 2, 384)
    with role("io", threads=128):
        for t in range(n):
            bar_sync(1 + t % 2, 384)
            load(y[t % 2])
            arrive(done[t % 2])


EXPECT = {
    "buggy": "bar.recycle | bar.count | deadlock.cycle",
    "fixed": "proved",
    "buggy_one_barrier": "bar.recycle | bar.count | deadlock.cycle | race.raw",
    "fixed_one_tile_ahead": "proved",
    "buggy_alternating": "bar.recycle | bar.count | deadlock.cycle",
    "fixed_mbarrier": "proved",
}
