"""Two consumer groups release a slot; the arrival count of the empty barrier was guessed.

Source: NVIDIA/cutlass issues 2404 and 2418 (questions about the CuTe DSL).
"""

from exogpu.skeleton import *

CLASS = "arrive-count"
BYTES = 16384


def two_warps(S, count):
    """Two consumers of one warp each, one arrival of each."""

    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=count)
        X = smem(S)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=BYTES)
                tma_load(X[i % S], full[i % S], bytes=BYTES)
        with role("c0", warps=1):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(X[i % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % S])
        with role("c1", warps=1):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(X[i % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % S])

    return ring


def two_warpgroups(S, count):
    """Two consumer warpgroups, one arrival of each warp."""

    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=count)
        X = smem(S)
        acc = registers()
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=BYTES)
                tma_load(X[i % S], full[i % S], bytes=BYTES)
        with role("multiply", warps=8):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                wgmma_fence()
                wgmma(acc, X[i % S])
                wgmma_commit()
                wgmma_wait(0)
                with elect():
                    arrive(empty[i % S])

    return ring


buggy_too_high = two_warps(2, 3)
buggy_too_low = two_warps(2, 1)
buggy_too_high_one_slot = two_warps(1, 3)
buggy_too_low_three_slots = two_warps(3, 1)
buggy_threads_counted = two_warpgroups(2, 256)
buggy_one_group_counted = two_warpgroups(2, 4)
fixed = two_warps(2, 2)
fixed_one_slot = two_warps(1, 2)
fixed_three_slots = two_warps(3, 2)
fixed_warpgroups = two_warpgroups(2, 8)

TOO_HIGH = "deadlock.cycle | mbar.count"
TOO_LOW = "race.war | deadlock.cycle | mbar.count | mbar.unobserved_phase | mbar.parity_alias"
EXPECT = {
    "buggy_too_high": TOO_HIGH,
    "buggy_too_high_one_slot": TOO_HIGH,
    "buggy_threads_counted": TOO_HIGH,
    "buggy_too_low": TOO_LOW,
    "buggy_too_low_three_slots": TOO_LOW,
    "buggy_one_group_counted": TOO_LOW,
    "fixed": "proved",
    "fixed_one_slot": "proved",
    "fixed_three_slots": "proved",
    "fixed_warpgroups": "proved",
}
