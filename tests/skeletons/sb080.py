"""A barrier is moved from a thread-dependent branch to before it, and no longer separates what it separated.

Source: tile-ai/tilelang issue 2612.
"""

from exogpu.skeleton import *

CLASS = "divergence"


@skeleton
def buggy(n: size):
    """Every fourth thread writes its cell and reads that of the next one."""
    s = smem(128)
    with role("all", threads=128):
        cta_sync()
        if tid % 4 == 0:
            for i in range(n):
                store(s[tid])
                load(s[(tid + 4) % 128])


@skeleton
def buggy_barrier_in_branch(n: size):
    """As it was written: three threads in four never come to the barrier."""
    s = smem(128)
    with role("all", threads=128):
        if tid % 4 == 0:
            for i in range(n):
                store(s[tid])
                cta_sync()
                load(s[(tid + 4) % 128])
                cta_sync()


@skeleton
def fixed(n: size):
    """The loop outside, the branches inside, the barriers between them."""
    s = smem(128)
    with role("all", threads=128):
        for i in range(n):
            if tid % 4 == 0:
                store(s[tid])
            cta_sync()
            if tid % 4 == 0:
                load(s[(tid + 4) % 128])
            cta_sync()


@skeleton
def buggy_one_barrier(n: size):
    """The reads of a trip meet the stores of the next one."""
    s = smem(128)
    with role("all", threads=128):
        for i in range(n):
            if tid % 4 == 0:
                store(s[tid])
            cta_sync()
            if tid % 4 == 0:
                load(s[(tid + 4) % 128])


@skeleton
def fixed_two_copies(n: size):
    s = smem(2, 128)
    with role("all", threads=128):
        for i in range(n):
            if tid % 4 == 0:
                store(s[i % 2, tid])
            cta_sync()
            if tid % 4 == 0:
                load(s[i % 2, (tid + 4) % 128])


@skeleton
def fixed_subset(n: size):
    """The participants are whole warps: a barrier of these is allowed in the branch."""
    s = smem(64)
    with role("all", threads=128):
        if tid < 64:
            for i in range(n):
                store(s[tid])
                bar_sync(1, 64)
                load(s[(tid + 4) % 64])
                bar_sync(1, 64)


@skeleton
def buggy_subset(n: size):
    """Not whole warps: the third one comes with half of its lanes."""
    s = smem(80)
    with role("all", threads=128):
        if tid < 80:
            for i in range(n):
                store(s[tid])
                bar_sync(1, 96)
                load(s[(tid + 4) % 80])
                bar_sync(1, 96)
        cta_sync()


EXPECT = {
    "buggy": "race.raw | race.war",
    "buggy_barrier_in_branch": "bar.divergence | bar.count | deadlock.cycle",
    "fixed": "proved",
    "buggy_one_barrier": "race.war",
    "fixed_two_copies": "proved",
    "fixed_subset": "proved",
    "buggy_subset": "bar.divergence | bar.count | deadlock.cycle",
}
