"""The parity of an S-deep ring is used for a barrier that flips at every trip.

Source: tile-ai/tilelang pull request 3087.
"""

from exogpu.skeleton import *

CLASS = "phase"
BYTES = 16384


def in_step(S, trips_per_flip):
    """Slot k % S is filled, used and counted as free within trip k. The right parity flips at every trip."""

    @skeleton
    def loop(n: size):
        full = mbarrier(S, count=1)
        done = mbarrier(count=128)
        X = smem(S)
        acc = registers()
        with role("issue", threads=1):
            for k in range(n):
                arrive(full[k % S], tx=BYTES)
                tma_load(X[k % S], full[k % S], bytes=BYTES)
                wait(done, parity=k // trips_per_flip)
        with role("multiply", threads=128):
            for k in range(n):
                wait(full[k % S], parity=k // S)
                wgmma_fence()
                wgmma(acc, X[k % S])
                wgmma_commit()
                wgmma_wait(0)
                arrive(done)

    return loop


def ahead(S):
    """S tiles are loaded in advance, and a slot is refilled as soon as `done` tells that it has been used."""

    @skeleton
    def loop(n: size):
        full = mbarrier(S, count=1)
        done = mbarrier(count=1)
        X = smem(S)
        with role("issue", threads=1):
            for j in range(min(n, S)):
                arrive(full[j], tx=BYTES)
                tma_load(X[j], full[j], bytes=BYTES)
            for k in range(n):
                wait(done, parity=k)
                if k + S < n:
                    arrive(full[k % S], tx=BYTES)
                    tma_load(X[k % S], full[k % S], bytes=BYTES)
        with role("use", threads=1):
            for k in range(n):
                wait(full[k % S], parity=k // S)
                load(X[k % S])
                proxy_fence()
                arrive(done)

    return loop


@skeleton
def tcgen05_buggy(n: size):
    done = mbarrier(count=1)
    X = smem(3)
    with role("issue", threads=1):
        for k in range(n):
            mma5(X[k % 3])
            mma5_commit(done)
            wait(done, parity=k // 3)


@skeleton
def tcgen05_fixed(n: size):
    done = mbarrier(count=1)
    X = smem(3)
    with role("issue", threads=1):
        for k in range(n):
            mma5(X[k % 3])
            mma5_commit(done)
            wait(done, parity=k)


buggy = in_step(3, 3)
buggy_two_slots = in_step(2, 2)
buggy_four_slots = in_step(4, 4)
buggy_half_rate = in_step(3, 2)
fixed = in_step(3, 1)
fixed_two_slots = in_step(2, 1)
fixed_one_slot = in_step(1, 1)

# The parity is right, but the reader may flip `done` twice before the issuer looks at it once.
buggy_ahead = ahead(2)
buggy_ahead_three_slots = ahead(3)
fixed_ahead = ahead(1)

LAPPED = "deadlock.cycle | mbar.parity_alias | mbar.unobserved_phase"
# A wait that returns too early lets the issuer overwrite what is being read, or even its own load in flight. With two
# slots that takes five trips, a hang only two.
EARLY = "race.war | race.waw | mbar.count | " + LAPPED
EXPECT = {
    "buggy": EARLY,
    "buggy_four_slots": EARLY,
    "buggy_two_slots": EARLY,
    "buggy_half_rate": EARLY,
    "buggy_ahead": LAPPED,
    "buggy_ahead_three_slots": LAPPED,
    "fixed": "proved",
    "fixed_two_slots": "proved",
    "fixed_one_slot": "proved",
    "fixed_ahead": "proved",
    "tcgen05_buggy": "unsupported",
    "tcgen05_fixed": "unsupported",
}
