"""Small vectors are rewritten at the top of a trip while a slow warp still reads those of the last trip.

Source: sgl-project/sglang pull request 37288; sibling Luce-Org/lucebox pull request 739.
"""

from exogpu.skeleton import *

CLASS = "ring-war"


@skeleton
def buggy(n: size):
    g = smem(128)
    with role("wg", threads=128):
        for i in range(n):
            store(g[tid])
            bar_sync(1, 128)
            load(g)


@skeleton
def buggy_two_vectors(n: size):
    """One of the two is protected by the barrier that follows the read of the other."""
    gate = smem(128)
    beta = smem(128)
    with role("wg", threads=128):
        for i in range(n):
            store(gate[tid])
            store(beta[tid])
            bar_sync(1, 128)
            load(gate)
            bar_sync(1, 128)
            load(beta)


@skeleton
def buggy_warp_sync(n: size):
    g = smem(128)
    with role("wg", threads=128):
        for i in range(n):
            store(g[tid])
            bar_sync(1, 128)
            load(g)
            warp_sync()


@skeleton
def buggy_scalar(n: size):
    """One thread writes for all."""
    g = smem()
    with role("wg", threads=128):
        for i in range(n):
            if tid == 0:
                store(g)
            bar_sync(1, 128)
            load(g)


@skeleton
def fixed(n: size):
    g = smem(128)
    with role("wg", threads=128):
        for i in range(n):
            store(g[tid])
            bar_sync(1, 128)
            load(g)
            bar_sync(1, 128)


@skeleton
def fixed_two_vectors(n: size):
    gate = smem(128)
    beta = smem(128)
    with role("wg", threads=128):
        for i in range(n):
            store(gate[tid])
            store(beta[tid])
            bar_sync(1, 128)
            load(gate)
            load(beta)
            bar_sync(1, 128)


@skeleton
def fixed_alternating(n: size):
    """Two copies: the barrier of the next trip separates a read from its overwrite."""
    g = smem(2, 128)
    with role("wg", threads=128):
        for i in range(n):
            store(g[i % 2, tid])
            bar_sync(1, 128)
            load(g[i % 2])


@skeleton
def fixed_own_part(n: size):
    """Every thread reads what it has written: no barrier is needed."""
    g = smem(128)
    with role("wg", threads=128):
        for i in range(n):
            store(g[tid])
            load(g[tid])


@skeleton
def fixed_own_warp(n: size):
    """Every warp reads its own part."""
    g = smem(4, 32)
    with role("wg", threads=128):
        for i in range(n):
            store(g[warp, lane])
            warp_sync()
            load(g[warp])
            warp_sync()


EXPECT = {
    "buggy": "race.war",
    "buggy_two_vectors": "race.war",
    "buggy_warp_sync": "race.war",
    "buggy_scalar": "race.war",
    "fixed": "proved",
    "fixed_two_vectors": "proved",
    "fixed_alternating": "proved",
    "fixed_own_part": "proved",
    "fixed_own_warp": "proved",
}
