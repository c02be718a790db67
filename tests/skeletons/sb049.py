"""A slot is input stage and output staging in turn; the wait for the last task's store stands at a fixed trip.

The slot counter runs on from task to task, so that trip is the first reuse of the slot only if the length of a task is
a multiple of the ring's depth.

Source: uccl-project/mKernel pull request 18.
"""

from exogpu.skeleton import *

CLASS = "smem-reuse"
BYTES = 16384
S = 4


def at_trip(length, trip):
    """Tasks of `length` trips; the wait for the last task's store comes before load `trip`."""

    @skeleton
    def persistent(tasks: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=128)
        stored = mbarrier(count=1)
        X = smem(S, 128)
        with role("load", threads=1):
            c = 0
            for task in range(tasks):
                for k in range(length):
                    if task > 0 and k == trip:
                        wait(stored, parity=task - 1)
                    wait(empty[c % S], parity=c // S + 1)
                    arrive(full[c % S], tx=BYTES)
                    tma_load(X[c % S], full[c % S], bytes=BYTES)
                    c += 1
        with role("compute", threads=128):
            c = 0
            for task in range(tasks):
                for k in range(length):
                    wait(full[c % S], parity=c // S)
                    load(X[c % S])
                    proxy_fence()
                    arrive(empty[c % S])
                    c += 1
                bar_sync(1, 128)
                store(X[S - 1, tid])
                proxy_fence()
                bar_sync(1, 128)
                with elect():
                    tma_store(X[S - 1])
                    bulk_commit()
                    bulk_wait_read(0)
                    arrive(stored)

    return persistent


# Task 1 starts at slot 2, so its load 1 goes to slot 3, before the wait at trip 3.
buggy = at_trip(6, S - 1)
buggy_five = at_trip(5, S - 1)
buggy_seven = at_trip(7, S - 1)
buggy_eight_one_late = at_trip(8, S)
fixed = at_trip(6, 0)
fixed_five = at_trip(5, 0)
# The fixed trip is right for multiples of the depth.
fixed_four = at_trip(4, S - 1)
fixed_eight = at_trip(8, S - 1)


@skeleton
def fixed_any_length(tasks: size, length: size):
    """The wait at the start of the task, for tasks of any length."""
    require(length >= 1)
    full = mbarrier(S, count=1)
    empty = mbarrier(S, count=128)
    stored = mbarrier(count=1)
    X = smem(S, 128)
    with role("load", threads=1):
        c = 0
        for task in range(tasks):
            if task > 0:
                wait(stored, parity=task - 1)
            for k in range(length):
                wait(empty[c % S], parity=c // S + 1)
                arrive(full[c % S], tx=BYTES)
                tma_load(X[c % S], full[c % S], bytes=BYTES)
                c += 1
    with role("compute", threads=128):
        c = 0
        for task in range(tasks):
            for k in range(length):
                wait(full[c % S], parity=c // S)
                load(X[c % S])
                proxy_fence()
                arrive(empty[c % S])
                c += 1
            bar_sync(1, 128)
            store(X[S - 1, tid])
            proxy_fence()
            bar_sync(1, 128)
            with elect():
                tma_store(X[S - 1])
                bulk_commit()
                bulk_wait_read(0)
                arrive(stored)


@skeleton
def fixed_own_staging(tasks: size):
    """Staging memory of its own: the loads of the next task need not wait for the store at all."""
    full = mbarrier(S, count=1)
    empty = mbarrier(S, count=128)
    X = smem(S)
    C = smem(128)
    with role("load", threads=1):
        c = 0
        for task in range(tasks):
            for k in range(6):
                wait(empty[c % S], parity=c // S + 1)
                arrive(full[c % S], tx=BYTES)
                tma_load(X[c % S], full[c % S], bytes=BYTES)
                c += 1
    with role("compute", threads=128):
        c = 0
        for task in range(tasks):
            for k in range(6):
                wait(full[c % S], parity=c // S)
                load(X[c % S])
                proxy_fence()
                arrive(empty[c % S])
                c += 1
            bar_sync(1, 128)
            store(C[tid])
            proxy_fence()
            bar_sync(1, 128)
            with elect():
                tma_store(C)
                bulk_commit()
                bulk_wait_read(0)


# Loaded over the staged tile or over its store's source, or staged over what has been loaded: one fault.
REUSE = "race.war | race.waw | race.raw | race.async_inflight | smem.reuse"
EXPECT = {
    "buggy": REUSE,
    "buggy_five": REUSE,
    "buggy_seven": REUSE,
    "buggy_eight_one_late": REUSE,
    "fixed": "proved",
    "fixed_five": "proved",
    "fixed_four": "proved",
    "fixed_eight": "proved",
    "fixed_any_length": "proved",
    "fixed_own_staging": "proved",
}
