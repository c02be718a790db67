"""Two warpgroups take turns by named barriers: the first arrive is in a prologue, and the last has no partner.

Source: Dao-AILab/flash-attention issues 1371 and 1315.
"""

from exogpu.skeleton import *

CLASS = "negative control"


@skeleton
def fixed(n: size):
    """What both overwrite shows that they exclude each other."""
    x = smem(128)
    with role("even", threads=128):
        for i in range(n):
            bar_sync(1, 256)
            store(x[tid])
            bar_arrive(2, 256)
    with role("odd", threads=128):
        bar_arrive(1, 256)
        for i in range(n):
            bar_sync(2, 256)
            store(x[tid])
            bar_arrive(1, 256)


@skeleton
def fixed_last_guarded(n: size):
    """Without the arrivals that nobody waits for."""
    x = smem(128)
    with role("even", threads=128):
        for i in range(n):
            bar_sync(1, 256)
            store(x[tid])
            bar_arrive(2, 256)
    with role("odd", threads=128):
        if n >= 1:
            bar_arrive(1, 256)
        for i in range(n):
            bar_sync(2, 256)
            store(x[tid])
            if i + 1 < n:
                bar_arrive(1, 256)


@skeleton
def fixed_wgmma(n: size):
    """With the products in the turns and the rest of the work outside."""
    q = smem()
    ready = mbarrier(count=1)
    acc = registers()
    with role("load", threads=1):
        arrive(ready, tx=16384)
        tma_load(q, ready, bytes=16384)
    with role("even", threads=128):
        wait(ready, parity=0)
        for i in range(n):
            bar_sync(1, 256)
            wgmma_fence()
            wgmma(acc, q, q)
            wgmma_commit()
            bar_arrive(2, 256)
            wgmma_wait(0)
            load(acc)
    with role("odd", threads=128):
        bar_arrive(1, 256)
        wait(ready, parity=0)
        for i in range(n):
            bar_sync(2, 256)
            wgmma_fence()
            wgmma(acc, q, q)
            wgmma_commit()
            bar_arrive(1, 256)
            wgmma_wait(0)
            load(acc)


@skeleton
def fixed_three(n: size):
    """Three warpgroups in a circle."""
    x = smem(128)
    with role("first", threads=128):
        for i in range(n):
            bar_sync(1, 256)
            store(x[tid])
            bar_arrive(2, 256)
    with role("second", threads=128):
        for i in range(n):
            bar_sync(2, 256)
            store(x[tid])
            bar_arrive(3, 256)
    with role("third", threads=128):
        bar_arrive(1, 256)
        for i in range(n):
            bar_sync(3, 256)
            store(x[tid])
            bar_arrive(1, 256)


@skeleton
def buggy_no_start(n: size):
    """Nobody gives the first turn."""
    x = smem(128)
    with role("even", threads=128):
        for i in range(n):
            bar_sync(1, 256)
            store(x[tid])
            bar_arrive(2, 256)
    with role("odd", threads=128):
        for i in range(n):
            bar_sync(2, 256)
            store(x[tid])
            bar_arrive(1, 256)


@skeleton
def buggy_two_starts(n: size):
    """Each gives the other its first turn: both are in."""
    x = smem(128)
    with role("even", threads=128):
        bar_arrive(2, 256)
        for i in range(n):
            bar_sync(1, 256)
            store(x[tid])
            bar_arrive(2, 256)
    with role("odd", threads=128):
        bar_arrive(1, 256)
        for i in range(n):
            bar_sync(2, 256)
            store(x[tid])
            bar_arrive(1, 256)


def released_to(count):
    """The consumers of both CTAs arrive in a loop over the CTAs, once for each: `count` arrivals are expected."""

    @skeleton
    def ring(n: size):
        cluster(2)
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=count)
        a = smem(2, 2)
        acc = registers()
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1, scope="cluster")
                arrive(full[i % 2], tx=16384)
                tma_load(a[i % 2, rank], full[i % 2], bytes=8192, multicast=(0, 1))
            cluster_sync()
        with role("math", warps=4):
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                wgmma_fence()
                wgmma(acc, a[i % 2], a[i % 2])
                wgmma_commit()
                wgmma_wait(0)
                with elect():
                    for c in range(2):
                        arrive(peer(empty[i % 2], c), scope="cluster")
            cluster_sync()

    return ring


fixed_multicast = released_to(8)
buggy_multicast = released_to(4)

EXPECT = {
    "fixed": "proved",
    "fixed_last_guarded": "proved",
    "fixed_wgmma": "proved",
    "fixed_three": "proved",
    "buggy_no_start": "deadlock.cycle | bar.count",
    "buggy_two_starts": "race.waw | bar.recycle | bar.count",
    "fixed_multicast": "proved",
    "buggy_multicast": "mbar.count | race.war | mbar.unobserved_phase | mbar.parity_alias | deadlock.cycle",
}
