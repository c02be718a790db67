"""A block reduction reuses its scratch memory in the next call without a barrier after the reads.

Source: NVIDIA/cutlass pull request 3600, issue 3597.
"""

from exogpu.skeleton import *

CLASS = "smem-reuse"


@skeleton
def buggy():
    r = smem(4)
    with role("all", warps=4):
        for call in range(2):
            with elect():
                store(r[warp])
            bar_sync(2, 128)
            load(r)


@skeleton
def fixed():
    r = smem(4)
    with role("all", warps=4):
        for call in range(2):
            with elect():
                store(r[warp])
            bar_sync(2, 128)
            load(r)
            bar_sync(2, 128)


@skeleton
def buggy_calls(calls: size):
    r = smem(4)
    with role("all", warps=4):
        for call in range(calls):
            with elect():
                store(r[warp])
            bar_sync(2, 128)
            load(r)


@skeleton
def fixed_calls(calls: size):
    r = smem(4)
    with role("all", warps=4):
        for call in range(calls):
            with elect():
                store(r[warp])
            bar_sync(2, 128)
            load(r)
            bar_sync(2, 128)


def alternating(copies):
    """With two copies of the scratch memory in turns one barrier in each call is enough: who writes a copy again has
    met all threads since they read it."""

    @skeleton
    def reductions(calls: size):
        r = smem(copies, 4)
        with role("all", warps=4):
            for call in range(calls):
                with elect():
                    store(r[call % copies, warp])
                bar_sync(2, 128)
                load(r[call % copies])

    return reductions


fixed_two_copies = alternating(2)
fixed_three_copies = alternating(3)
buggy_one_copy = alternating(1)


@skeleton
def buggy_barrier_of_warp(calls: size):
    """The second barrier joins only the lanes of a warp."""
    r = smem(4)
    with role("all", warps=4):
        for call in range(calls):
            with elect():
                store(r[warp])
            bar_sync(2, 128)
            load(r)
            warp_sync()


EXPECT = {
    "buggy": "race.war",
    "fixed": "proved",
    "buggy_calls": "race.war",
    "fixed_calls": "proved",
    "fixed_two_copies": "proved",
    "fixed_three_copies": "proved",
    "buggy_one_copy": "race.war",
    "buggy_barrier_of_warp": "race.war",
}
