"""Loads complete bytes on a barrier that nobody has told to expect any.

Source: biondizzle/nvfp4-megamoe-kernel, notes of commit bd4f09d5.
"""

from exogpu.skeleton import *

CLASS = "tx-bytes"
BYTES = 8192


@skeleton
def buggy(n: size):
    f = mbarrier(count=1)
    X = smem()
    with role("load", threads=1):
        for i in range(n):
            tma_load(X, f, bytes=BYTES)
    with role("compute", threads=128):
        for i in range(n):
            wait(f, parity=i)
            load(X)


@skeleton
def buggy_released(n: size):
    """The slot is handed back, so the announcement is all that is missing."""
    f = mbarrier(count=1)
    e = mbarrier(count=128)
    X = smem()
    with role("load", threads=1):
        for i in range(n):
            wait(e, parity=i + 1)
            tma_load(X, f, bytes=BYTES)
    with role("compute", threads=128):
        for i in range(n):
            wait(f, parity=i)
            load(X)
            proxy_fence()
            arrive(e)


@skeleton
def buggy_arrival_without_bytes(n: size):
    """An arrival, but of no bytes: the phase may end before the copy has landed."""
    f = mbarrier(count=1)
    e = mbarrier(count=128)
    X = smem()
    with role("load", threads=1):
        for i in range(n):
            wait(e, parity=i + 1)
            arrive(f)
            tma_load(X, f, bytes=BYTES)
    with role("compute", threads=128):
        for i in range(n):
            wait(f, parity=i)
            load(X)
            proxy_fence()
            arrive(e)


@skeleton
def buggy_bytes_without_arrival(n: size):
    f = mbarrier(count=1)
    e = mbarrier(count=128)
    X = smem()
    with role("load", threads=1):
        for i in range(n):
            wait(e, parity=i + 1)
            expect(f, BYTES)
            tma_load(X, f, bytes=BYTES)
    with role("compute", threads=128):
        for i in range(n):
            wait(f, parity=i)
            load(X)
            proxy_fence()
            arrive(e)


@skeleton
def fixed(n: size):
    f = mbarrier(count=1)
    e = mbarrier(count=128)
    X = smem()
    with role("load", threads=1):
        for i in range(n):
            wait(e, parity=i + 1)
            arrive(f, tx=BYTES)
            tma_load(X, f, bytes=BYTES)
    with role("compute", threads=128):
        for i in range(n):
            wait(f, parity=i)
            load(X)
            proxy_fence()
            arrive(e)


@skeleton
def fixed_announced_later(n: size):
    """Bytes may complete before they are announced, as long as the phase is still open."""
    f = mbarrier(count=1)
    e = mbarrier(count=128)
    X = smem()
    with role("load", threads=1):
        for i in range(n):
            wait(e, parity=i + 1)
            tma_load(X, f, bytes=BYTES)
            arrive(f, tx=BYTES)
    with role("compute", threads=128):
        for i in range(n):
            wait(f, parity=i)
            load(X)
            proxy_fence()
            arrive(e)


@skeleton
def fixed_expect_and_arrive(n: size):
    f = mbarrier(count=1)
    e = mbarrier(count=128)
    X = smem()
    with role("load", threads=1):
        for i in range(n):
            wait(e, parity=i + 1)
            expect(f, BYTES)
            tma_load(X, f, bytes=BYTES)
            arrive(f)
    with role("compute", threads=128):
        for i in range(n):
            wait(f, parity=i)
            load(X)
            proxy_fence()
            arrive(e)


EXPECT = {
    "buggy": "deadlock.cycle | mbar.tx_bytes | mbar.count | race.waw",
    "buggy_released": "deadlock.cycle | mbar.tx_bytes | mbar.count",
    "buggy_arrival_without_bytes": "race.raw | deadlock.cycle | mbar.tx_bytes",
    "buggy_bytes_without_arrival": "deadlock.cycle | mbar.count",
    "fixed": "proved",
    "fixed_announced_later": "proved",
    "fixed_expect_and_arrive": "proved",
}
