"""Empty tiles are skipped: one side arrives for them all the same, or flips its parity without a wait.

Source: Dao-AILab/flash-attention pull request 2258 (block-sparse attention), reduced to two roles.
"""

from exogpu.skeleton import *

CLASS = "phase"


@skeleton
def buggy_flip(n: size):
    """A: the correction role flips its parity for empty tiles, too. Work, empty, work is enough."""
    out = mbarrier(count=128)
    free = mbarrier(count=128)
    T = smem(128)
    with role("multiply", threads=128):
        ph = 1
        for t in range(n):
            if pred("work", t):
                wait(free, parity=ph)
                ph ^= 1
                store(T[tid])
                arrive(out)
    with role("correct", threads=128):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(out, parity=ph)
                load(T)
                arrive(free)
            ph ^= 1


@skeleton
def fixed_flip(n: size):
    out = mbarrier(count=128)
    free = mbarrier(count=128)
    T = smem(128)
    with role("multiply", threads=128):
        ph = 1
        for t in range(n):
            if pred("work", t):
                wait(free, parity=ph)
                ph ^= 1
                store(T[tid])
                arrive(out)
    with role("correct", threads=128):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(out, parity=ph)
                load(T)
                arrive(free)
                ph ^= 1


@skeleton
def buggy_arrival(n: size):
    """B: the softmax role arrives for empty tiles, too. A stale arrival satisfies a later wait."""
    ready = mbarrier(count=128)
    free = mbarrier(count=128)
    P = smem(128)
    acc = registers()
    with role("softmax", threads=128):
        ph = 1
        for t in range(n):
            if pred("work", t):
                wait(free, parity=ph)
                ph ^= 1
                store(P[tid])
                proxy_fence()
            arrive(ready)
    with role("multiply", threads=128):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(ready, parity=ph)
                ph ^= 1
                wgmma_fence()
                wgmma(acc, P)
                wgmma_commit()
                wgmma_wait(0)
                arrive(free)


@skeleton
def fixed_arrival(n: size):
    ready = mbarrier(count=128)
    free = mbarrier(count=128)
    P = smem(128)
    acc = registers()
    with role("softmax", threads=128):
        ph = 1
        for t in range(n):
            if pred("work", t):
                wait(free, parity=ph)
                ph ^= 1
                store(P[tid])
                proxy_fence()
                arrive(ready)
    with role("multiply", threads=128):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(ready, parity=ph)
                ph ^= 1
                wgmma_fence()
                wgmma(acc, P)
                wgmma_commit()
                wgmma_wait(0)
                arrive(free)


@skeleton
def fixed_empty_too(n: size):
    """The other consistent choice: both sides keep up the protocol for empty tiles, which then needs no counter."""
    ready = mbarrier(count=128)
    free = mbarrier(count=128)
    P = smem(128)
    with role("softmax", threads=128):
        for t in range(n):
            wait(free, parity=t + 1)
            if pred("work", t):
                store(P[tid])
            arrive(ready)
    with role("correct", threads=128):
        for t in range(n):
            wait(ready, parity=t)
            if pred("work", t):
                load(P)
            arrive(free)


@skeleton
def buggy_other_predicate(n: size):
    """The two sides skip by two conditions that need not agree."""
    ready = mbarrier(count=128)
    free = mbarrier(count=128)
    P = smem(128)
    with role("softmax", threads=128):
        c = 0
        for t in range(n):
            if pred("work", t):
                wait(free, parity=c + 1)
                store(P[tid])
                arrive(ready)
                c += 1
    with role("correct", threads=128):
        c = 0
        for t in range(n):
            if pred("visible", t):
                wait(ready, parity=c)
                load(P)
                arrive(free)
                c += 1


@skeleton
def buggy_shifted_predicate(n: size):
    """The reader asks for the next tile's predicate."""
    ready = mbarrier(count=128)
    free = mbarrier(count=128)
    P = smem(128)
    with role("softmax", threads=128):
        c = 0
        for t in range(n):
            if pred("work", t):
                wait(free, parity=c + 1)
                store(P[tid])
                arrive(ready)
                c += 1
    with role("correct", threads=128):
        c = 0
        for t in range(n):
            if pred("work", t + 1):
                wait(ready, parity=c)
                load(P)
                arrive(free)
                c += 1


@skeleton
def fixed_ring(n: size):
    """Three slots, whose counters count tiles with work on both sides."""
    ready = mbarrier(3, count=128)
    free = mbarrier(3, count=128)
    P = smem(3, 128)
    with role("softmax", threads=128):
        c = 0
        for t in range(n):
            if pred("work", t):
                wait(free[c % 3], parity=c // 3 + 1)
                store(P[c % 3, tid])
                arrive(ready[c % 3])
                c += 1
    with role("correct", threads=128):
        c = 0
        for t in range(n):
            if pred("work", t):
                wait(ready[c % 3], parity=c // 3)
                load(P[c % 3])
                arrive(free[c % 3])
                c += 1


@skeleton
def tcgen05_buggy(n: size):
    out = mbarrier(count=1)
    with role("multiply", threads=1):
        for t in range(n):
            if pred("work", t):
                mma5()
                mma5_commit(out)
    with role("correct", threads=128):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(out, parity=ph)
                tmem_ld()
            ph ^= 1


@skeleton
def tcgen05_fixed(n: size):
    out = mbarrier(count=1)
    with role("multiply", threads=1):
        for t in range(n):
            if pred("work", t):
                mma5()
                mma5_commit(out)
    with role("correct", threads=128):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(out, parity=ph)
                tmem_ld()
                ph ^= 1


OUT_OF_STEP = "deadlock.cycle | race.raw | race.war | mbar.parity_alias | mbar.unobserved_phase"
EXPECT = {
    "buggy_flip": OUT_OF_STEP,
    "buggy_arrival": OUT_OF_STEP,
    "buggy_other_predicate": "deadlock.cycle",
    "buggy_shifted_predicate": "deadlock.cycle",
    "fixed_flip": "proved",
    "fixed_arrival": "proved",
    "fixed_empty_too": "proved",
    "fixed_ring": "proved",
    "tcgen05_buggy": "unsupported",
    "tcgen05_fixed": "unsupported",
}
