"""The epilogue of a tile reads the accumulator while the last wgmma of the tile still writes it.

Source: triton-lang/triton pull request 8964.
"""

from exogpu.skeleton import *

CLASS = "wgmma-reg"


def before_the_epilogue(pending):
    """The operand registers are constant, so wgmmas may overlap until the accumulator is read."""

    @skeleton
    def persistent(tiles: size, n: size):
        ready = mbarrier(count=1)
        b = smem()
        a = registers()
        acc = registers()
        with role("load", threads=1):
            arrive(ready, tx=16384)
            tma_load(b, ready, bytes=16384)
        with role("math", threads=128):
            wait(ready, parity=0)
            store(a)
            for t in range(tiles):
                for k in range(n):
                    wgmma_fence()
                    wgmma(acc, a, b)
                    wgmma_commit()
                    wgmma_wait(1)
                wgmma_wait(pending)
                load(acc)
            wgmma_wait(0)

    return persistent


buggy = before_the_epilogue(1)
fixed = before_the_epilogue(0)


@skeleton
def fixed_one_fence_per_tile(tiles: size, n: size):
    """Wgmmas of one shape on one accumulator need no fence between them."""
    ready = mbarrier(count=1)
    b = smem()
    a = registers()
    acc = registers()
    with role("load", threads=1):
        arrive(ready, tx=16384)
        tma_load(b, ready, bytes=16384)
    with role("math", threads=128):
        wait(ready, parity=0)
        store(a)
        for t in range(tiles):
            wgmma_fence()
            for k in range(n):
                wgmma(acc, a, b)
            wgmma_commit()
            wgmma_wait(0)
            load(acc)


@skeleton
def buggy_one_fence(tiles: size, n: size):
    """The epilogue has read the accumulator, so the next tile needs a fence."""
    ready = mbarrier(count=1)
    b = smem()
    a = registers()
    acc = registers()
    with role("load", threads=1):
        arrive(ready, tx=16384)
        tma_load(b, ready, bytes=16384)
    with role("math", threads=128):
        wait(ready, parity=0)
        store(a)
        wgmma_fence()
        for t in range(tiles):
            for k in range(n):
                wgmma(acc, a, b)
            wgmma_commit()
            wgmma_wait(0)
            load(acc)


def overlapped(pending):
    """Two accumulators in turns: the epilogue of a tile runs beside the wgmmas of the next one."""

    @skeleton
    def persistent(tiles: size, n: size):
        ready = mbarrier(count=1)
        b = smem()
        a = registers()
        acc = registers(2)
        with role("load", threads=1):
            arrive(ready, tx=16384)
            tma_load(b, ready, bytes=16384)
        with role("math", threads=128):
            wait(ready, parity=0)
            store(a)
            for t in range(tiles):
                wgmma_fence()
                for k in range(n):
                    wgmma(acc[t % 2], a, b)
                wgmma_commit()
                wgmma_wait(pending)
                load(acc[(t + 1) % 2])
            wgmma_wait(0)

    return persistent


fixed_overlapped = overlapped(1)
buggy_overlapped = overlapped(2)

EXPECT = {
    "buggy": "wgmma.reg_inflight | race.raw",
    "fixed": "proved",
    "fixed_one_fence_per_tile": "proved",
    "buggy_one_fence": "wgmma.reg_fence",
    "fixed_overlapped": "proved",
    "buggy_overlapped": "wgmma.reg_inflight | race.raw | group.depth",
}
