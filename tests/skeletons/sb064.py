"""A multistage loop waits for its cp.async groups before it has committed the group of this trip.

Source: csarofeen/pytorch pull request 2463, issue 2457.
"""

from exogpu.skeleton import *

CLASS = "cp-async"


def wait_then_commit(stages):
    @skeleton
    def pipeline(n: size):
        x = smem(stages, 128)
        with role("all", threads=128):
            for s in range(stages - 1):
                cp_async(x[s, tid])
                cp_commit()
            cp_wait(stages - 2)
            cta_sync()
            for k in range(n):
                cp_async(x[(k + stages - 1) % stages, tid])
                load(x[k % stages])
                cp_wait(stages - 2)
                cp_commit()
                cta_sync()
            cp_wait_all()

    return pipeline


def commit_then_wait(stages, pending):
    @skeleton
    def pipeline(n: size):
        x = smem(stages, 128)
        with role("all", threads=128):
            for s in range(stages - 1):
                cp_async(x[s, tid])
                cp_commit()
            cp_wait(pending)
            cta_sync()
            for k in range(n):
                cp_async(x[(k + stages - 1) % stages, tid])
                cp_commit()
                load(x[k % stages])
                cp_wait(pending)
                cta_sync()
            cp_wait_all()

    return pipeline


buggy = wait_then_commit(3)
buggy_two_stages = wait_then_commit(2)
buggy_depth = commit_then_wait(3, 2)
fixed = commit_then_wait(3, 1)
fixed_two_stages = commit_then_wait(2, 0)
fixed_four_stages = commit_then_wait(4, 2)
fixed_early = commit_then_wait(4, 0)


@skeleton
def buggy_barrier_then_wait(n: size):
    """A wait says something to its own thread only: it belongs before the barrier."""
    x = smem(3, 128)
    with role("all", threads=128):
        for s in range(2):
            cp_async(x[s, tid])
            cp_commit()
        for k in range(n):
            cta_sync()
            cp_wait(1)
            load(x[k % 3])
            cta_sync()
            cp_async(x[(k + 2) % 3, tid])
            cp_commit()
        cp_wait_all()


@skeleton
def fixed_guarded(n: size):
    """Nothing is fetched beyond the last tile; empty groups keep the count."""
    x = smem(3, 128)
    with role("all", threads=128):
        for s in range(2):
            if s < n:
                cp_async(x[s, tid])
            cp_commit()
        for k in range(n):
            cp_wait(1)
            cta_sync()
            if k + 2 < n:
                cp_async(x[(k + 2) % 3, tid])
            cp_commit()
            load(x[k % 3])


EXPECT = {
    "buggy": "race.raw | race.async_inflight | group.depth",
    "buggy_two_stages": "race.raw | race.async_inflight | group.depth",
    "buggy_depth": "race.raw | race.async_inflight | group.depth",
    "fixed": "proved",
    "fixed_two_stages": "proved",
    "fixed_four_stages": "proved",
    "fixed_early": "proved",
    "buggy_barrier_then_wait": "race.raw | race.async_inflight",
    "fixed_guarded": "proved",
}
