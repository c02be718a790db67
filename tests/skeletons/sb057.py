"""A tile has two producers, TMA and ordinary stores, and the wait stands before the read of the TMA part only.

Source: tile-ai/tilelang pull request 2166.
"""

from exogpu.skeleton import *

CLASS = "raw-sync"


@skeleton
def buggy():
    full = mbarrier(count=1 + 32)
    a = smem()
    b = smem(32)
    with role("load", warps=1):
        with elect():
            arrive(full, tx=4096)
            tma_load(a, full, bytes=4096)
        store(b[lane])
        arrive(full)
    with role("compute", warps=4):
        load(b)
        wait(full, parity=0)
        load(a)


@skeleton
def fixed():
    full = mbarrier(count=1 + 32)
    a = smem()
    b = smem(32)
    with role("load", warps=1):
        with elect():
            arrive(full, tx=4096)
            tma_load(a, full, bytes=4096)
        store(b[lane])
        arrive(full)
    with role("compute", warps=4):
        wait(full, parity=0)
        load(b)
        load(a)


def buggy_ring_of(stages):
    @skeleton
    def ring(n: size):
        full = mbarrier(stages, count=1 + 32)
        empty = mbarrier(stages, count=4)
        a = smem(stages)
        b = smem(stages, 32)
        with role("load", warps=1):
            for i in range(n):
                wait(empty[i % stages], parity=i // stages + 1)
                with elect():
                    arrive(full[i % stages], tx=4096)
                    tma_load(a[i % stages], full[i % stages], bytes=4096)
                store(b[i % stages, lane])
                arrive(full[i % stages])
        with role("compute", warps=4):
            for i in range(n):
                load(b[i % stages])
                wait(full[i % stages], parity=i // stages)
                load(a[i % stages])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % stages])

    return ring


def fixed_ring_of(stages):
    @skeleton
    def ring(n: size):
        full = mbarrier(stages, count=1 + 32)
        empty = mbarrier(stages, count=4)
        a = smem(stages)
        b = smem(stages, 32)
        with role("load", warps=1):
            for i in range(n):
                wait(empty[i % stages], parity=i // stages + 1)
                with elect():
                    arrive(full[i % stages], tx=4096)
                    tma_load(a[i % stages], full[i % stages], bytes=4096)
                store(b[i % stages, lane])
                arrive(full[i % stages])
        with role("compute", warps=4):
            for i in range(n):
                wait(full[i % stages], parity=i // stages)
                load(b[i % stages])
                load(a[i % stages])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % stages])

    return ring


buggy_ring = buggy_ring_of(2)
buggy_one_stage = buggy_ring_of(1)
fixed_ring = fixed_ring_of(2)
fixed_one_stage = fixed_ring_of(1)


@skeleton
def buggy_count_of_copies(n: size):
    """Only the TMA part is counted: the barrier says nothing about the ordinary stores."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    a = smem(2)
    b = smem(2, 32)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            warp_sync()
            with elect():
                arrive(full[i % 2], tx=4096)
                tma_load(a[i % 2], full[i % 2], bytes=4096)
            store(b[i % 2, lane])
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(b[i % 2])
            load(a[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


EXPECT = {
    "buggy": "race.raw",
    "fixed": "proved",
    "buggy_ring": "race.raw",
    "buggy_one_stage": "race.raw",
    "fixed_ring": "proved",
    "fixed_one_stage": "proved",
    "buggy_count_of_copies": "race.raw",
}
