"""The register operand of a wgmma is written for the next step while the wgmma still reads it.

Source: deepseek-ai/DeepGEMM pull request 448.
"""

from exogpu.skeleton import *

CLASS = "wgmma-reg"


@skeleton
def buggy(n: size):
    ready = mbarrier(count=1)
    x = smem(2)
    b = smem(2)
    a = registers()
    acc = registers()
    with role("load", threads=1):
        arrive(ready, tx=32768)
        tma_load(x, ready, bytes=16384)
        tma_load(b, ready, bytes=16384)
    with role("math", threads=128):
        wait(ready, parity=0)
        for k in range(n):
            load(x[k % 2])
            store(a)
            wgmma_fence()
            wgmma(acc, a, b[k % 2])
            wgmma_commit()
        wgmma_wait(0)
        load(acc)


@skeleton
def fixed(n: size):
    ready = mbarrier(count=1)
    x = smem(2)
    b = smem(2)
    a = registers()
    acc = registers()
    with role("load", threads=1):
        arrive(ready, tx=32768)
        tma_load(x, ready, bytes=16384)
        tma_load(b, ready, bytes=16384)
    with role("math", threads=128):
        wait(ready, parity=0)
        for k in range(n):
            load(x[k % 2])
            store(a)
            wgmma_fence()
            wgmma(acc, a, b[k % 2])
            wgmma_commit()
            wgmma_wait(0)
        load(acc)


def in_turns(sets, pending):
    """Several register sets: before a set is written, all but `pending` groups are over."""

    @skeleton
    def products(n: size):
        ready = mbarrier(count=1)
        x = smem(2)
        b = smem(2)
        a = registers(sets)
        acc = registers()
        with role("load", threads=1):
            arrive(ready, tx=32768)
            tma_load(x, ready, bytes=16384)
            tma_load(b, ready, bytes=16384)
        with role("math", threads=128):
            wait(ready, parity=0)
            for k in range(n):
                wgmma_wait(pending)
                load(x[k % 2])
                store(a[k % sets])
                wgmma_fence()
                wgmma(acc, a[k % sets], b[k % 2])
                wgmma_commit()
            wgmma_wait(0)
            load(acc)

    return products


fixed_two_sets = in_turns(2, 1)
fixed_three_sets = in_turns(3, 2)
fixed_early = in_turns(3, 1)
buggy_two_sets = in_turns(2, 2)
buggy_three_sets = in_turns(3, 3)


@skeleton
def buggy_without_fence(n: size):
    """The registers are free, but nothing orders their writes before the next wgmma."""
    ready = mbarrier(count=1)
    b = smem()
    a = registers()
    acc = registers()
    with role("load", threads=1):
        arrive(ready, tx=16384)
        tma_load(b, ready, bytes=16384)
    with role("math", threads=128):
        wait(ready, parity=0)
        wgmma_fence()
        for k in range(n):
            store(a)
            wgmma(acc, a, b)
            wgmma_commit()
            wgmma_wait(0)
        load(acc)


@skeleton
def fixed_ring(n: size):
    """The slots of a ring are released with the registers."""
    full = mbarrier(3, count=1)
    empty = mbarrier(3, count=4)
    x = smem(3)
    b = smem(3)
    a = registers()
    acc = registers()
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 3], parity=k // 3 + 1)
            arrive(full[k % 3], tx=32768)
            tma_load(x[k % 3], full[k % 3], bytes=16384)
            tma_load(b[k % 3], full[k % 3], bytes=16384)
    with role("math", warps=4):
        for k in range(n):
            wait(full[k % 3], parity=k // 3)
            load(x[k % 3])
            proxy_fence()
            store(a)
            wgmma_fence()
            wgmma(acc, a, b[k % 3])
            wgmma_commit()
            wgmma_wait(0)
            warp_sync()
            with elect():
                arrive(empty[k % 3])
        load(acc)


EXPECT = {
    "buggy": "wgmma.reg_inflight | race.war",
    "fixed": "proved",
    "fixed_two_sets": "proved",
    "fixed_three_sets": "proved",
    "fixed_early": "proved",
    "buggy_two_sets": "wgmma.reg_inflight | race.war | group.depth",
    "buggy_three_sets": "wgmma.reg_inflight | race.war | group.depth",
    "buggy_without_fence": "wgmma.reg_fence",
    "fixed_ring": "proved",
}
