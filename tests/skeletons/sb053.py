"""A staging tile is stored by TMA in every trip, but the group is committed and waited for only after the loop.

Source: NVIDIA/Fuser pull request 5448.
"""

from exogpu.skeleton import *

CLASS = "smem-reuse"


@skeleton
def buggy(n: size):
    y = smem(128)
    with role("all", threads=128):
        for i in range(n):
            store(y[tid])
            proxy_fence()
            cta_sync()
            with elect():
                tma_store(y)
        with elect():
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def buggy_late_commit(n: size):
    """The wait is in the loop, the commit is not: what is not committed is not waited for."""
    y = smem(128)
    with role("all", threads=128):
        for i in range(n):
            store(y[tid])
            proxy_fence()
            cta_sync()
            with elect():
                tma_store(y)
                bulk_wait_read(0)
            cta_sync()
        with elect():
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def buggy_issuer_alone(n: size):
    """The issuer waits in the loop, the other threads do not hear of it."""
    y = smem(128)
    with role("all", threads=128):
        for i in range(n):
            store(y[tid])
            proxy_fence()
            cta_sync()
            with elect():
                tma_store(y)
                bulk_commit()
                bulk_wait_read(0)


@skeleton
def fixed(n: size):
    y = smem(128)
    with role("all", threads=128):
        for i in range(n):
            store(y[tid])
            proxy_fence()
            cta_sync()
            with elect():
                tma_store(y)
                bulk_commit()
                bulk_wait_read(0)
            cta_sync()


def in_turns(slots, pending):
    """Several staging tiles: before a tile is written again, all but `pending` groups have been read."""

    @skeleton
    def stores(n: size):
        y = smem(slots, 128)
        with role("all", threads=128):
            for i in range(n):
                with elect():
                    bulk_wait_read(pending)
                cta_sync()
                store(y[i % slots, tid])
                proxy_fence()
                cta_sync()
                with elect():
                    tma_store(y[i % slots])
                    bulk_commit()
            with elect():
                bulk_wait_read(0)

    return stores


fixed_two_slots = in_turns(2, 1)
fixed_three_slots = in_turns(3, 2)
fixed_early = in_turns(3, 0)
buggy_two_slots = in_turns(2, 2)
buggy_three_slots = in_turns(3, 3)

EXPECT = {
    "buggy": "race.war | race.async_inflight",
    "buggy_late_commit": "race.war | race.async_inflight | group.depth",
    "buggy_issuer_alone": "race.war | race.async_inflight",
    "fixed": "proved",
    "fixed_two_slots": "proved",
    "fixed_three_slots": "proved",
    "fixed_early": "proved",
    "buggy_two_slots": "race.war | race.async_inflight | group.depth",
    "buggy_three_slots": "race.war | race.async_inflight | group.depth",
}
