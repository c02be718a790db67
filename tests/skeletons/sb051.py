"""Split-K partials are stored over pipeline stage 0 before every warp has read it.

Source: sgl-project/sglang issue or pull request 37287.
"""

from exogpu.skeleton import *

CLASS = "smem-reuse"


def without_barrier(stages):
    """There is a barrier between stores and sums, but none before the first store."""

    @skeleton
    def partials(n: size):
        full = mbarrier(stages, count=1)
        empty = mbarrier(stages, count=8)
        a = smem(stages, 256)
        partial = smem(256, at=a[0])
        with role("load", threads=1):
            for k in range(n):
                wait(empty[k % stages], parity=k // stages + 1)
                arrive(full[k % stages], tx=8192)
                tma_load(a[k % stages], full[k % stages], bytes=8192)
        with role("compute", warps=8):
            for k in range(n):
                wait(full[k % stages], parity=k // stages)
                load(a[k % stages])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[k % stages])
            store(partial[tid])
            bar_sync(1, 256)
            load(partial)

    return partials


def with_barrier(stages, stage):
    """A barrier first; the partials lie over any one of the stages."""

    @skeleton
    def partials(n: size):
        full = mbarrier(stages, count=1)
        empty = mbarrier(stages, count=8)
        a = smem(stages, 256)
        partial = smem(256, at=a[stage])
        with role("load", threads=1):
            for k in range(n):
                wait(empty[k % stages], parity=k // stages + 1)
                arrive(full[k % stages], tx=8192)
                tma_load(a[k % stages], full[k % stages], bytes=8192)
        with role("compute", warps=8):
            for k in range(n):
                wait(full[k % stages], parity=k // stages)
                load(a[k % stages])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[k % stages])
            bar_sync(1, 256)
            store(partial[tid])
            bar_sync(1, 256)
            load(partial)

    return partials


buggy = without_barrier(3)
buggy_one_stage = without_barrier(1)
fixed = with_barrier(3, 0)
fixed_one_stage = with_barrier(1, 0)
fixed_last_stage = with_barrier(4, 3)


@skeleton
def buggy_barrier_of_halves(n: size):
    """The first barrier joins only the four warps of a warpgroup."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    a = smem(2, 256)
    partial = smem(256, at=a[0])
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1)
            arrive(full[k % 2], tx=8192)
            tma_load(a[k % 2], full[k % 2], bytes=8192)
    with role("compute", warps=8):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            load(a[k % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[k % 2])
        bar_sync(2 + warp // 4, 128)
        store(partial[tid])
        bar_sync(1, 256)
        load(partial)


@skeleton
def fixed_own_cells(n: size):
    """Each thread reads only the cells that it overwrites later: no barrier is needed."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    a = smem(2, 256)
    partial = smem(256, at=a[0])
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1)
            arrive(full[k % 2], tx=8192)
            tma_load(a[k % 2], full[k % 2], bytes=8192)
    with role("compute", warps=8):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            load(a[k % 2, tid])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[k % 2])
        store(partial[tid])
        bar_sync(1, 256)
        load(partial)


EXPECT = {
    "buggy": "race.war | smem.reuse",
    "buggy_one_stage": "race.war | smem.reuse",
    "buggy_barrier_of_halves": "race.war | smem.reuse",
    "fixed": "proved",
    "fixed_one_stage": "proved",
    "fixed_last_stage": "proved",
    "fixed_own_cells": "proved",
}
