"""The wait for an operand stands after its use, or is replaced by a delay.

Source: facebookexperimental/CUTracer pull request 106 (seeded there as tests for race detectors).
"""

from exogpu.skeleton import *

CLASS = "ring-war"


@skeleton
def buggy():
    full_a = mbarrier(count=1)
    full_b = mbarrier(count=1)
    a = smem()
    b = smem()
    acc = registers()
    with role("load", threads=1):
        arrive(full_a, tx=16384)
        tma_load(a, full_a, bytes=16384)
        arrive(full_b, tx=16384)
        tma_load(b, full_b, bytes=16384)
    with role("math", threads=128):
        wait(full_b, parity=0)
        wgmma_fence()
        wgmma(acc, a, b)
        wgmma_commit()
        wait(full_a, parity=0)
        wgmma_wait(0)
        load(acc)


@skeleton
def buggy_delay():
    """Nothing but time between the load of B and its use."""
    full_a = mbarrier(count=1)
    full_b = mbarrier(count=1)
    a = smem()
    b = smem()
    acc = registers()
    with role("load", threads=1):
        arrive(full_a, tx=16384)
        tma_load(a, full_a, bytes=16384)
        arrive(full_b, tx=16384)
        tma_load(b, full_b, bytes=16384)
    with role("math", threads=128):
        wait(full_a, parity=0)
        wgmma_fence()
        wgmma(acc, a, b)
        wgmma_commit()
        wgmma_wait(0)
        load(acc)


@skeleton
def fixed():
    full_a = mbarrier(count=1)
    full_b = mbarrier(count=1)
    a = smem()
    b = smem()
    acc = registers()
    with role("load", threads=1):
        arrive(full_a, tx=16384)
        tma_load(a, full_a, bytes=16384)
        arrive(full_b, tx=16384)
        tma_load(b, full_b, bytes=16384)
    with role("math", threads=128):
        wait(full_a, parity=0)
        wait(full_b, parity=0)
        wgmma_fence()
        wgmma(acc, a, b)
        wgmma_commit()
        wgmma_wait(0)
        load(acc)


@skeleton
def buggy_ring(n: size):
    full_a = mbarrier(2, count=1)
    full_b = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    a = smem(2)
    b = smem(2)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full_a[i % 2], tx=16384)
            tma_load(a[i % 2], full_a[i % 2], bytes=16384)
            arrive(full_b[i % 2], tx=16384)
            tma_load(b[i % 2], full_b[i % 2], bytes=16384)
    with role("math", warps=4):
        for i in range(n):
            wait(full_b[i % 2], parity=i // 2)
            wgmma_fence()
            wgmma(acc, a[i % 2], b[i % 2])
            wgmma_commit()
            wait(full_a[i % 2], parity=i // 2)
            wgmma_wait(0)
            with elect():
                arrive(empty[i % 2])
        load(acc)


@skeleton
def fixed_ring(n: size):
    full_a = mbarrier(2, count=1)
    full_b = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    a = smem(2)
    b = smem(2)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full_a[i % 2], tx=16384)
            tma_load(a[i % 2], full_a[i % 2], bytes=16384)
            arrive(full_b[i % 2], tx=16384)
            tma_load(b[i % 2], full_b[i % 2], bytes=16384)
    with role("math", warps=4):
        for i in range(n):
            wait(full_a[i % 2], parity=i // 2)
            wait(full_b[i % 2], parity=i // 2)
            wgmma_fence()
            wgmma(acc, a[i % 2], b[i % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(empty[i % 2])
        load(acc)


@skeleton
def fixed_one_barrier(n: size):
    """Both operands on one barrier: one wait is for both."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    a = smem(2)
    b = smem(2)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=32768)
            tma_load(a[i % 2], full[i % 2], bytes=16384)
            tma_load(b[i % 2], full[i % 2], bytes=16384)
    with role("math", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            wgmma_fence()
            wgmma(acc, a[i % 2], b[i % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(empty[i % 2])
        load(acc)


@skeleton
def fixed_lagged(n: size):
    """One wgmma stays in flight: each trip releases the slot of the trip before."""
    full = mbarrier(3, count=1)
    empty = mbarrier(3, count=4)
    a = smem(3)
    b = smem(3)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 3], parity=i // 3 + 1)
            arrive(full[i % 3], tx=32768)
            tma_load(a[i % 3], full[i % 3], bytes=16384)
            tma_load(b[i % 3], full[i % 3], bytes=16384)
    with role("math", warps=4):
        for i in range(n):
            wait(full[i % 3], parity=i // 3)
            wgmma_fence()
            wgmma(acc, a[i % 3], b[i % 3])
            wgmma_commit()
            wgmma_wait(1)
            if i >= 1:
                with elect():
                    arrive(empty[(i - 1) % 3])
        wgmma_wait(0)
        load(acc)


EXPECT = {
    "buggy": "race.raw | race.async_inflight",
    "buggy_delay": "race.raw | race.async_inflight",
    "fixed": "proved",
    "buggy_ring": "race.raw | race.async_inflight",
    "fixed_ring": "proved",
    "fixed_one_barrier": "proved",
    "fixed_lagged": "proved",
}
