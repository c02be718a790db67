"""A pipelined loop: one thread refills a slot after its own wait for wgmma, other warps' wgmmas still read it.

Source: NVIDIA/Fuser pull requests 3865 and 4151 (issue 4138).
"""

from exogpu.skeleton import *

CLASS = "ring-war"
BYTES = 16384


def barrier_before_wait(S, T):
    """S slots, T threads."""

    @skeleton
    def pipeline(n: size):
        full = mbarrier(S, count=1)
        X = smem(S)
        acc = registers()
        with role("all", threads=T):
            with elect():
                for j in range(min(n, S - 1)):
                    arrive(full[j], tx=BYTES)
                    tma_load(X[j], full[j], bytes=BYTES)
            for k in range(n):
                if k + S - 1 < n:
                    with elect():
                        arrive(full[(k + S - 1) % S], tx=BYTES)
                        tma_load(X[(k + S - 1) % S], full[(k + S - 1) % S], bytes=BYTES)
                wait(full[k % S], parity=k // S)
                wgmma_fence()
                wgmma(acc, X[k % S])
                wgmma_commit()
                cta_sync()
                wgmma_wait(0)
            load(acc)

    return pipeline


def wait_before_barrier(S, T):
    @skeleton
    def pipeline(n: size):
        full = mbarrier(S, count=1)
        X = smem(S)
        acc = registers()
        with role("all", threads=T):
            with elect():
                for j in range(min(n, S - 1)):
                    arrive(full[j], tx=BYTES)
                    tma_load(X[j], full[j], bytes=BYTES)
            for k in range(n):
                if k + S - 1 < n:
                    with elect():
                        arrive(full[(k + S - 1) % S], tx=BYTES)
                        tma_load(X[(k + S - 1) % S], full[(k + S - 1) % S], bytes=BYTES)
                wait(full[k % S], parity=k // S)
                wgmma_fence()
                wgmma(acc, X[k % S])
                wgmma_commit()
                wgmma_wait(0)
                cta_sync()
            load(acc)

    return pipeline


# One warpgroup: one warp's wait does not cover the others' wgmmas (axiom L12, not assumed by default).
buggy = barrier_before_wait(2, 128)
buggy_three_slots = barrier_before_wait(3, 128)
# Two warpgroups: a race whatever one reads into L12.
buggy_two_warpgroups = barrier_before_wait(2, 256)
fixed = wait_before_barrier(2, 128)
fixed_three_slots = wait_before_barrier(3, 128)
fixed_two_warpgroups = wait_before_barrier(4, 256)


@skeleton
def buggy_no_barrier(n: size):
    full = mbarrier(3, count=1)
    X = smem(3)
    acc = registers()
    with role("all", threads=256):
        with elect():
            for j in range(min(n, 2)):
                arrive(full[j], tx=BYTES)
                tma_load(X[j], full[j], bytes=BYTES)
        for k in range(n):
            if k + 2 < n:
                with elect():
                    arrive(full[(k + 2) % 3], tx=BYTES)
                    tma_load(X[(k + 2) % 3], full[(k + 2) % 3], bytes=BYTES)
            wait(full[k % 3], parity=k // 3)
            wgmma_fence()
            wgmma(acc, X[k % 3])
            wgmma_commit()
            wgmma_wait(0)
        load(acc)


@skeleton
def fixed_one_in_flight(n: size):
    """One group stays in flight; the slot that is refilled belongs to the group before it."""
    full = mbarrier(3, count=1)
    X = smem(3)
    acc = registers()
    with role("all", threads=128):
        if n > 0:
            with elect():
                arrive(full[0], tx=BYTES)
                tma_load(X[0], full[0], bytes=BYTES)
        for k in range(n):
            if k + 1 < n:
                with elect():
                    arrive(full[(k + 1) % 3], tx=BYTES)
                    tma_load(X[(k + 1) % 3], full[(k + 1) % 3], bytes=BYTES)
            wait(full[k % 3], parity=k // 3)
            wgmma_fence()
            wgmma(acc, X[k % 3])
            wgmma_commit()
            wgmma_wait(1)
            cta_sync()
        wgmma_wait(0)
        load(acc)


WAR = "race.war | race.async_inflight"
ALONE = WAR + " | mbar.lane_release"
EXPECT = {
    "buggy": ALONE,
    "buggy_three_slots": ALONE,
    "buggy_two_warpgroups": WAR,
    "buggy_no_barrier": WAR + " | deadlock.cycle | mbar.parity_alias | mbar.unobserved_phase",
    "fixed": "proved",
    "fixed_three_slots": "proved",
    "fixed_two_warpgroups": "proved",
    "fixed_one_in_flight": "proved",
}
