"""A pair of CTAs that shares a tile by multicast gets blocks of two groups, with loops of different length.

Source: deepseek-ai/DeepGEMM 415 and 429.
"""

from exogpu.skeleton import *

CLASS = "cluster-flow"


@skeleton
def buggy(k0: size, k1: size):
    """CTA r runs its own number of trips; CTA 0 loads B for both."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    a = smem(2)
    b = smem(2)
    acc = registers()
    with role("load_0", threads=1, ctas=0):
        for k in range(k0):
            wait(empty[k % 2], parity=k // 2 + 1, scope="cluster")
            arrive(full[k % 2], tx=32768)
            tma_load(a[k % 2], full[k % 2], bytes=16384)
            tma_load(b[k % 2], full[k % 2], bytes=16384, multicast=(0, 1))
        cluster_sync()
    with role("load_1", threads=1, ctas=1):
        for k in range(k1):
            wait(empty[k % 2], parity=k // 2 + 1, scope="cluster")
            arrive(full[k % 2], tx=32768)
            tma_load(a[k % 2], full[k % 2], bytes=16384)
        cluster_sync()
    with role("math_0", warps=4, ctas=0):
        for k in range(k0):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, a[k % 2], b[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[k % 2], 0), scope="cluster")
                arrive(peer(empty[k % 2], 1), scope="cluster")
        cluster_sync()
    with role("math_1", warps=4, ctas=1):
        for k in range(k1):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, a[k % 2], b[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[k % 2], 0), scope="cluster")
                arrive(peer(empty[k % 2], 1), scope="cluster")
        cluster_sync()


@skeleton
def fixed(k0: size, k1: size):
    """Multicast only if the pair lies in one group."""
    cluster(2)
    require(k0 == k1)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    a = smem(2)
    b = smem(2)
    acc = registers()
    with role("load_0", threads=1, ctas=0):
        for k in range(k0):
            wait(empty[k % 2], parity=k // 2 + 1, scope="cluster")
            arrive(full[k % 2], tx=32768)
            tma_load(a[k % 2], full[k % 2], bytes=16384)
            tma_load(b[k % 2], full[k % 2], bytes=16384, multicast=(0, 1))
        cluster_sync()
    with role("load_1", threads=1, ctas=1):
        for k in range(k1):
            wait(empty[k % 2], parity=k // 2 + 1, scope="cluster")
            arrive(full[k % 2], tx=32768)
            tma_load(a[k % 2], full[k % 2], bytes=16384)
        cluster_sync()
    with role("math_0", warps=4, ctas=0):
        for k in range(k0):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, a[k % 2], b[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[k % 2], 0), scope="cluster")
                arrive(peer(empty[k % 2], 1), scope="cluster")
        cluster_sync()
    with role("math_1", warps=4, ctas=1):
        for k in range(k1):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, a[k % 2], b[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[k % 2], 0), scope="cluster")
                arrive(peer(empty[k % 2], 1), scope="cluster")
        cluster_sync()


@skeleton
def buggy_own_opinion(n: size):
    """Equal lengths, but each CTA decides by its own group whether B comes by multicast."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    a = smem(2)
    b = smem(2)
    acc = registers()
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1, scope="cluster")
            arrive(full[k % 2], tx=32768)
            tma_load(a[k % 2], full[k % 2], bytes=16384)
            if pred("multicast", rank):
                if rank == 0:
                    tma_load(b[k % 2], full[k % 2], bytes=16384, multicast=(0, 1))
            else:
                tma_load(b[k % 2], full[k % 2], bytes=16384)
        cluster_sync()
    with role("math", warps=4):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, a[k % 2], b[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[k % 2], 0), scope="cluster")
                arrive(peer(empty[k % 2], 1), scope="cluster")
        cluster_sync()


@skeleton
def fixed_one_opinion(n: size):
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    a = smem(2)
    b = smem(2)
    acc = registers()
    with role("load", threads=1):
        for k in range(n):
            wait(empty[k % 2], parity=k // 2 + 1, scope="cluster")
            arrive(full[k % 2], tx=32768)
            tma_load(a[k % 2], full[k % 2], bytes=16384)
            if pred("multicast", 0):
                if rank == 0:
                    tma_load(b[k % 2], full[k % 2], bytes=16384, multicast=(0, 1))
            else:
                tma_load(b[k % 2], full[k % 2], bytes=16384)
        cluster_sync()
    with role("math", warps=4):
        for k in range(n):
            wait(full[k % 2], parity=k // 2)
            wgmma_fence()
            wgmma(acc, a[k % 2], b[k % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[k % 2], 0), scope="cluster")
                arrive(peer(empty[k % 2], 1), scope="cluster")
        cluster_sync()


def other_tile(offset):
    """Shifted pairs: both believe in the multicast, but CTA 1 needs the tile of another group."""

    @skeleton
    def pair(n: size):
        cluster(2)
        full = mbarrier(count=1)
        b = smem()
        with role("load", threads=1):
            for t in range(n):
                arrive(full, tx=16384)
                cluster_sync()
                if rank == 0:
                    tma_load(b, full, bytes=16384, multicast=(0, 1))
                check((2 * t + offset + rank) // 4 == (2 * t + offset) // 4, "the tile is that of the block's group")
                wait(full, parity=t)
                cluster_sync()

    return pair


fixed_aligned = other_tile(0)
buggy_shifted = other_tile(1)

EXPECT = {
    "buggy": "deadlock.cycle | mbar.count | mbar.tx_bytes | cluster.exit",
    "fixed": "proved",
    "buggy_own_opinion": "mbar.tx_bytes | deadlock.cycle | race.waw",
    "fixed_one_opinion": "proved",
    "fixed_aligned": "proved",
    "buggy_shifted": "seq.mismatch",
}
