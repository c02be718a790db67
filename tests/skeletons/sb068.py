"""All lanes of a warp write parts of a slot, and one lane publishes it before the warp has met.

Source: mlc-ai/TIRx-kernels pull request 202, item 1 (item 2 for the reads).
"""

from exogpu.skeleton import *

CLASS = "elect"


@skeleton
def buggy():
    full = mbarrier(count=1)
    m = smem(32)
    with role("load", warps=1):
        store(m[lane])
        with elect():
            arrive(full)
    with role("compute", warps=4):
        wait(full, parity=0)
        load(m)


@skeleton
def fixed():
    full = mbarrier(count=1)
    m = smem(32)
    with role("load", warps=1):
        store(m[lane])
        warp_sync()
        with elect():
            arrive(full)
    with role("compute", warps=4):
        wait(full, parity=0)
        load(m)


@skeleton
def buggy_fence():
    """A fence by the elected lane says nothing about what the others did."""
    full = mbarrier(count=1)
    m = smem(32)
    with role("load", warps=1):
        store(m[lane])
        with elect():
            fence("cta")
            arrive(full)
    with role("compute", warps=4):
        wait(full, parity=0)
        load(m)


@skeleton
def fixed_every_lane():
    full = mbarrier(count=32)
    m = smem(32)
    with role("load", warps=1):
        store(m[lane])
        arrive(full)
    with role("compute", warps=4):
        wait(full, parity=0)
        load(m)


@skeleton
def fixed_one_writer():
    """The lane that arrives is the one that has written."""
    full = mbarrier(count=1)
    m = smem(32)
    with role("load", warps=1):
        with elect():
            store(m)
            arrive(full)
    with role("compute", warps=4):
        wait(full, parity=0)
        load(m)


@skeleton
def buggy_ring(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    m = smem(2, 32)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            warp_sync()
            store(m[i % 2, lane])
            with elect():
                arrive(full[i % 2])
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(m[i % 2])
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def buggy_release(n: size):
    """The same in the other direction: one lane releases the slot that the other lanes still read."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    m = smem(2, 32)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(m[i % 2, lane])
            warp_sync()
            with elect():
                arrive(full[i % 2])
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            warp_sync()
            load(m[i % 2])
            with elect():
                arrive(empty[i % 2])


@skeleton
def fixed_ring(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    m = smem(2, 32)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(m[i % 2, lane])
            warp_sync()
            with elect():
                arrive(full[i % 2])
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(m[i % 2])
            warp_sync()
            with elect():
                arrive(empty[i % 2])


EXPECT = {
    "buggy": "race.raw | mbar.lane_release",
    "fixed": "proved",
    "buggy_fence": "race.raw | mbar.lane_release",
    "fixed_every_lane": "proved",
    "fixed_one_writer": "proved",
    "buggy_ring": "race.raw | mbar.lane_release",
    "buggy_release": "race.war | mbar.lane_release",
    "fixed_ring": "proved",
}
