"""The leader warp frees a slot while a sibling warp has not yet left the wait for it, and is lapped by two phases.

Source: triton-lang/triton pull request 10035.
"""

from exogpu.skeleton import *

CLASS = "lap"


def leader_frees_early(S):
    """The partition's barrier stands before the wait only."""

    @skeleton
    def ring(n: size):
        ready = mbarrier(S, count=1)
        empty = mbarrier(S, count=1)
        X = smem(S)
        with role("produce", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                store(X[i % S])
                arrive(ready[i % S])
        with role("consume", threads=64):
            for i in range(n):
                bar_sync(1, 64)
                wait(ready[i % S], parity=i // S)
                with elect():
                    arrive(empty[i % S])

    return ring


def leader_waits(S):
    @skeleton
    def ring(n: size):
        ready = mbarrier(S, count=1)
        empty = mbarrier(S, count=1)
        X = smem(S)
        with role("produce", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                store(X[i % S])
                arrive(ready[i % S])
        with role("consume", threads=64):
            for i in range(n):
                wait(ready[i % S], parity=i // S)
                load(X[i % S])
                bar_sync(1, 64)
                with elect():
                    arrive(empty[i % S])

    return ring


buggy = leader_frees_early(2)
buggy_one_slot = leader_frees_early(1)
buggy_three_slots = leader_frees_early(3)
fixed = leader_waits(2)
fixed_one_slot = leader_waits(1)
fixed_three_slots = leader_waits(3)


@skeleton
def buggy_with_reads(n: size):
    """The sibling reads the slot, too: it may also find the next trip's data."""
    ready = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    with role("produce", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(X[i % 2])
            arrive(ready[i % 2])
    with role("consume", threads=64):
        for i in range(n):
            bar_sync(1, 64)
            wait(ready[i % 2], parity=i // 2)
            load(X[i % 2])
            with elect():
                arrive(empty[i % 2])


@skeleton
def buggy_warp_sync_only(n: size):
    """The leader waits for its own warp, not for the other one."""
    ready = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    with role("produce", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(X[i % 2])
            arrive(ready[i % 2])
    with role("consume", threads=64):
        for i in range(n):
            bar_sync(1, 64)
            wait(ready[i % 2], parity=i // 2)
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def fixed_every_warp_frees(n: size):
    """Instead of the barrier: one arrival of each warp."""
    ready = mbarrier(2, count=1)
    empty = mbarrier(2, count=2)
    X = smem(2)
    with role("produce", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(X[i % 2])
            arrive(ready[i % 2])
    with role("consume", warps=2):
        for i in range(n):
            wait(ready[i % 2], parity=i // 2)
            load(X[i % 2])
            warp_sync()
            with elect():
                arrive(empty[i % 2])


LAPPED = "deadlock.cycle | mbar.parity_alias"
EXPECT = {
    "buggy": LAPPED,
    "buggy_one_slot": LAPPED,
    "buggy_three_slots": LAPPED,
    "buggy_with_reads": "race.war | mbar.lane_release | " + LAPPED,
    "buggy_warp_sync_only": LAPPED,
    "fixed": "proved",
    "fixed_one_slot": "proved",
    "fixed_three_slots": "proved",
    "fixed_every_warp_frees": "proved",
}
