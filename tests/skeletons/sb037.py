"""The slot is released while the wgmmas that read it are still in flight.

Source: NVIDIA/Fuser issue 3561, fixed by pull request 3863.
"""

from exogpu.skeleton import *

CLASS = "ring-war"
BYTES = 32768


def ring_of(S, pending, behind):
    """After the wgmmas of trip k all but `pending` groups are waited for and slot k - `behind` is released."""

    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=128)
        X = smem(S)
        acc = registers()
        with role("load", threads=1):
            for k in range(n):
                wait(empty[k % S], parity=k // S + 1)
                arrive(full[k % S], tx=BYTES)
                tma_load(X[k % S], full[k % S], bytes=BYTES)
        with role("multiply", threads=128):
            for k in range(n):
                wait(full[k % S], parity=k // S)
                wgmma_fence()
                wgmma(acc, X[k % S])
                wgmma_commit()
                wgmma_wait(pending)
                if k >= behind:
                    arrive(empty[(k - behind) % S])
            wgmma_wait(0)
            load(acc)

    return ring


@skeleton
def buggy(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=128)
    X = smem(2)
    acc = registers()
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1)
            arrive(full[k % 2], tx=BYTES)
            tma_load(X[k % 2], full[k % 2], bytes=BYTES)
    with role("multiply", threads=128):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, X[k % 2])
            wgmma_commit()
            arrive(empty[k % 2])
        wgmma_wait(0)
        load(acc)


buggy_one_pending = ring_of(2, 1, 0)
buggy_two_pending = ring_of(3, 2, 1)
fixed = ring_of(2, 0, 0)
fixed_one_slot = ring_of(1, 0, 0)
fixed_one_in_flight = ring_of(2, 1, 1)
fixed_two_in_flight = ring_of(4, 2, 2)
fixed_late_release = ring_of(3, 0, 1)


@skeleton
def buggy_wait_before_commit(n: size):
    """A wait before the commit does not cover the trip's wgmma."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=128)
    X = smem(2)
    acc = registers()
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1)
            arrive(full[k % 2], tx=BYTES)
            tma_load(X[k % 2], full[k % 2], bytes=BYTES)
    with role("multiply", threads=128):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, X[k % 2])
            wgmma_wait(0)
            wgmma_commit()
            arrive(empty[k % 2])
        wgmma_wait(0)
        load(acc)


@skeleton
def buggy_one_warp_speaks(n: size):
    """One thread releases after its own wait, which covers its warp alone (axiom L12, not assumed by default)."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    acc = registers()
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1)
            arrive(full[k % 2], tx=BYTES)
            tma_load(X[k % 2], full[k % 2], bytes=BYTES)
    with role("multiply", threads=128):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, X[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(empty[k % 2])
        load(acc)


@skeleton
def fixed_one_thread_speaks(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    acc = registers()
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1)
            arrive(full[k % 2], tx=BYTES)
            tma_load(X[k % 2], full[k % 2], bytes=BYTES)
    with role("multiply", threads=128):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, X[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            bar_sync(1, 128)
            with elect():
                arrive(empty[k % 2])
        load(acc)


WAR = "race.war | race.async_inflight | group.depth"
EXPECT = {
    "buggy": WAR,
    "buggy_one_pending": WAR,
    "buggy_two_pending": WAR,
    "buggy_wait_before_commit": WAR,
    "buggy_one_warp_speaks": "race.war | mbar.lane_release | race.async_inflight | deadlock.cycle | mbar.parity_alias",
    "fixed": "proved",
    "fixed_one_slot": "proved",
    "fixed_one_in_flight": "proved",
    "fixed_two_in_flight": "proved",
    "fixed_late_release": "proved",
    "fixed_one_thread_speaks": "proved",
}
