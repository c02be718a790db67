"""Copies fetched beyond the last tile are still in flight when an epilogue writes to memory that aliases a stage.

Source: NVIDIA/Fuser pull request 2008, issues 2000 and 2001.
"""

from exogpu.skeleton import *

CLASS = "cp-async"


@skeleton
def buggy(n: size):
    x = smem(3, 128)
    scratch = smem(128, at=x[0])
    with role("all", threads=128):
        for s in range(2):
            cp_async(x[s, tid])
            cp_commit()
        for k in range(n):
            cp_wait(1)
            cta_sync()
            cp_async(x[(k + 2) % 3, tid])
            cp_commit()
            load(x[k % 3])
        store(scratch[tid])
        cta_sync()
        load(scratch)


@skeleton
def buggy_barrier_only(n: size):
    """All threads have read their tiles, but copies are in flight."""
    x = smem(3, 128)
    scratch = smem(128, at=x[0])
    with role("all", threads=128):
        for s in range(2):
            cp_async(x[s, tid])
            cp_commit()
        for k in range(n):
            cp_wait(1)
            cta_sync()
            cp_async(x[(k + 2) % 3, tid])
            cp_commit()
            load(x[k % 3])
        cta_sync()
        store(scratch[tid])
        cta_sync()
        load(scratch)


@skeleton
def buggy_wait_only(n: size):
    """The copies have landed, but other threads still read the stage."""
    x = smem(3, 128)
    scratch = smem(128, at=x[0])
    with role("all", threads=128):
        for s in range(2):
            cp_async(x[s, tid])
            cp_commit()
        for k in range(n):
            cp_wait(1)
            cta_sync()
            cp_async(x[(k + 2) % 3, tid])
            cp_commit()
            load(x[k % 3])
        cp_wait(0)
        store(scratch[tid])
        cta_sync()
        load(scratch)


@skeleton
def fixed(n: size):
    x = smem(3, 128)
    scratch = smem(128, at=x[0])
    with role("all", threads=128):
        for s in range(2):
            cp_async(x[s, tid])
            cp_commit()
        for k in range(n):
            cp_wait(1)
            cta_sync()
            cp_async(x[(k + 2) % 3, tid])
            cp_commit()
            load(x[k % 3])
        cp_wait(0)
        cta_sync()
        store(scratch[tid])
        cta_sync()
        load(scratch)


@skeleton
def fixed_guarded(n: size):
    """Nothing is fetched beyond the last tile, so only the readers are left to be waited for."""
    x = smem(3, 128)
    scratch = smem(128, at=x[0])
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
        cta_sync()
        store(scratch[tid])
        cta_sync()
        load(scratch)


@skeleton
def fixed_apart(n: size):
    """The scratch memory is its own."""
    x = smem(3, 128)
    scratch = smem(128)
    with role("all", threads=128):
        for s in range(2):
            cp_async(x[s, tid])
            cp_commit()
        for k in range(n):
            cp_wait(1)
            cta_sync()
            cp_async(x[(k + 2) % 3, tid])
            cp_commit()
            load(x[k % 3])
        store(scratch[tid])
        cp_wait(0)
        cta_sync()
        load(scratch)


EXPECT = {
    "buggy": "race.waw | race.war | race.async_inflight | smem.reuse",
    "buggy_barrier_only": "race.waw | race.async_inflight | smem.reuse",
    "buggy_wait_only": "race.war | race.waw | smem.reuse",
    "fixed": "proved",
    "fixed_guarded": "proved",
    "fixed_apart": "proved",
}
