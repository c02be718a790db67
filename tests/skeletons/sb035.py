"""A scheduler writes the next tile into a mailbox; nothing tells it that all five warps have read the last one.

Source: NVlabs/cuda-oxide pull request 1066.
"""

from exogpu.skeleton import *

CLASS = "lap"


@skeleton
def buggy(n: size):
    ready = mbarrier(count=1)
    info = smem()
    with role("schedule", threads=1):
        for t in range(n):
            store(info)
            arrive(ready)
    with role("work", warps=5):
        for t in range(n):
            wait(ready, parity=t)
            load(info)


@skeleton
def buggy_two_slots(n: size):
    """A second slot only puts it off."""
    ready = mbarrier(2, count=1)
    info = smem(2)
    with role("schedule", threads=1):
        for t in range(n):
            store(info[t % 2])
            arrive(ready[t % 2])
    with role("work", warps=5):
        for t in range(n):
            wait(ready[t % 2], parity=t // 2)
            load(info[t % 2])


@skeleton
def buggy_one_warp_reports(n: size):
    ready = mbarrier(count=1)
    free = mbarrier(count=1)
    info = smem()
    with role("schedule", threads=1):
        for t in range(n):
            if t > 0:
                wait(free, parity=t - 1)
            store(info)
            arrive(ready)
    with role("work", warps=5):
        for t in range(n):
            wait(ready, parity=t)
            load(info)
            warp_sync()
            if warp == 0:
                with elect():
                    arrive(free)


@skeleton
def buggy_parity_of_first(n: size):
    """The free barrier is waited for from the start, with the parity of a wait that skips the first trip."""
    ready = mbarrier(count=1)
    free = mbarrier(count=5)
    info = smem()
    with role("schedule", threads=1):
        for t in range(n):
            wait(free, parity=t)
            store(info)
            arrive(ready)
    with role("work", warps=5):
        for t in range(n):
            wait(ready, parity=t)
            load(info)
            warp_sync()
            with elect():
                arrive(free)


@skeleton
def fixed(n: size):
    ready = mbarrier(count=1)
    free = mbarrier(count=5)
    info = smem()
    with role("schedule", threads=1):
        for t in range(n):
            if t > 0:
                wait(free, parity=t - 1)
            store(info)
            arrive(ready)
    with role("work", warps=5):
        for t in range(n):
            wait(ready, parity=t)
            load(info)
            warp_sync()
            with elect():
                arrive(free)


@skeleton
def fixed_fresh_barrier(n: size):
    """The first wait passes on the fresh barrier."""
    ready = mbarrier(count=1)
    free = mbarrier(count=5)
    info = smem()
    with role("schedule", threads=1):
        for t in range(n):
            wait(free, parity=t + 1)
            store(info)
            arrive(ready)
    with role("work", warps=5):
        for t in range(n):
            wait(ready, parity=t)
            load(info)
            warp_sync()
            with elect():
                arrive(free)


@skeleton
def fixed_two_slots(n: size):
    ready = mbarrier(2, count=1)
    free = mbarrier(2, count=5)
    info = smem(2)
    with role("schedule", threads=1):
        for t in range(n):
            if t > 1:
                wait(free[t % 2], parity=t // 2 - 1)
            store(info[t % 2])
            arrive(ready[t % 2])
    with role("work", warps=5):
        for t in range(n):
            wait(ready[t % 2], parity=t // 2)
            load(info[t % 2])
            warp_sync()
            with elect():
                arrive(free[t % 2])


LAPPED = "race.war | deadlock.cycle | mbar.parity_alias | mbar.unobserved_phase"
EXPECT = {
    "buggy": LAPPED,
    "buggy_two_slots": LAPPED,
    "buggy_one_warp_reports": "race.war | deadlock.cycle | mbar.parity_alias | mbar.lane_release",
    "buggy_parity_of_first": "deadlock.cycle",
    "fixed": "proved",
    "fixed_fresh_barrier": "proved",
    "fixed_two_slots": "proved",
}
