"""Scratch memory is placed over an mbarrier that is still in use.

Source: triton-lang/triton 11120, pull request 11244; facebookexperimental/triton 861.
"""

from exogpu.skeleton import *

CLASS = "mbar-life"


def scratch_at(place):
    """64 cells of scratch memory from this cell on; the barrier has cell 64."""

    @skeleton
    def kernel():
        x = smem(192)
        full = mbarrier(count=1, at=x[64])
        scratch = smem(64, at=x[place])
        tile = smem()
        with role("load", threads=1):
            arrive(full, tx=4096)
            tma_load(tile, full, bytes=4096)
        with role("convert", threads=64):
            store(scratch[tid])
            bar_sync(1, 64)
            load(scratch)
            wait(full, parity=0)
            load(tile)

    return kernel


buggy = scratch_at(64)
buggy_last_cell = scratch_at(1)
fixed = scratch_at(128)
fixed_before = scratch_at(0)


@skeleton
def fixed_ended():
    """The barrier has ended when its memory is used again."""
    x = smem(128)
    full = mbarrier(count=1, at=x[64])
    scratch = smem(64, at=x[64])
    tile = smem()
    with role("load", threads=1):
        arrive(full, tx=4096)
        tma_load(tile, full, bytes=4096)
    with role("convert", threads=64):
        wait(full, parity=0)
        load(tile)
        bar_sync(1, 64)
        if tid == 0:
            inval(full)
        bar_sync(1, 64)
        store(scratch[tid])
        bar_sync(1, 64)
        load(scratch)


@skeleton
def buggy_not_ended():
    """Nobody uses the barrier any more, but it has not been invalidated."""
    x = smem(128)
    full = mbarrier(count=1, at=x[64])
    scratch = smem(64, at=x[64])
    tile = smem()
    with role("load", threads=1):
        arrive(full, tx=4096)
        tma_load(tile, full, bytes=4096)
    with role("convert", threads=64):
        wait(full, parity=0)
        load(tile)
        bar_sync(1, 64)
        store(scratch[tid])
        bar_sync(1, 64)
        load(scratch)


@skeleton
def buggy_no_barrier():
    """Ended by one thread, while others may still wait."""
    x = smem(128)
    full = mbarrier(count=1, at=x[64])
    scratch = smem(64, at=x[64])
    tile = smem()
    with role("load", threads=1):
        arrive(full, tx=4096)
        tma_load(tile, full, bytes=4096)
    with role("convert", threads=64):
        wait(full, parity=0)
        load(tile)
        if tid == 0:
            inval(full)
        bar_sync(1, 64)
        store(scratch[tid])
        bar_sync(1, 64)
        load(scratch)


@skeleton
def buggy_inval_unordered():
    """The memory is used again before the other threads know that the barrier has ended."""
    x = smem(128)
    full = mbarrier(count=1, at=x[64])
    scratch = smem(64, at=x[64])
    tile = smem()
    with role("load", threads=1):
        arrive(full, tx=4096)
        tma_load(tile, full, bytes=4096)
    with role("convert", threads=64):
        wait(full, parity=0)
        load(tile)
        bar_sync(1, 64)
        if tid == 32:
            inval(full)
        store(scratch[tid])
        bar_sync(1, 64)
        load(scratch)


@skeleton
def fixed_ring(n: size):
    """A ring of barriers beside the data that they guard."""
    x = smem(4, 64)
    full = mbarrier(2, count=1, at=x[2])
    empty = mbarrier(2, count=2, at=x[3])
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=4096)
            tma_load(x[i % 2], full[i % 2], bytes=4096)
    with role("compute", warps=2):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def buggy_ring(n: size):
    """A slot too many: the third lies over the barriers."""
    x = smem(4, 64)
    full = mbarrier(3, count=1, at=x[2])
    empty = mbarrier(3, count=2, at=x[3])
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 3], parity=i // 3 + 1)
            arrive(full[i % 3], tx=4096)
            tma_load(x[i % 3], full[i % 3], bytes=4096)
    with role("compute", warps=2):
        for i in range(n):
            wait(full[i % 3], parity=i // 3)
            load(x[i % 3])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 3])


EXPECT = {
    "buggy": "mbar.alias | race.waw",
    "buggy_last_cell": "mbar.alias | race.waw",
    "fixed": "proved",
    "fixed_before": "proved",
    "fixed_ended": "proved",
    "buggy_not_ended": "mbar.alias",
    "buggy_no_barrier": "mbar.uninit | mbar.alias | mbar.reinit",
    "buggy_inval_unordered": "mbar.alias | mbar.uninit | race.waw",
    "fixed_ring": "proved",
    "buggy_ring": "mbar.alias | race.waw",
}
