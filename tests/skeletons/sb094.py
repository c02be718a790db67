"""A signal that both CTAs of a pair wait for is sent with a mask of one.

Source: facebookexperimental/triton pull request 1425.
"""

from exogpu.skeleton import *

CLASS = "scope"


@skeleton
def buggy_commit():
    """As reported: the commit of the paired tensor core."""
    cluster(2)
    done = mbarrier(count=1)
    a = smem()
    acc = registers()
    with role("mma", threads=1, ctas=0):
        mma5(acc, a)
        mma5_commit(done)
    with role("load", threads=1, ctas=1):
        wait(done, parity=0, scope="cluster")


@skeleton
def buggy():
    """The math of CTA 0 tells only its own CTA."""
    cluster(2)
    done = mbarrier(count=1)
    with role("math", threads=1, ctas=0):
        arrive(done)
    with role("load", threads=1):
        wait(done, parity=0, scope="cluster")


@skeleton
def fixed():
    cluster(2)
    done = mbarrier(count=1)
    with role("math", threads=1, ctas=0):
        arrive(done)
        arrive(peer(done, 1), scope="cluster")
    with role("load", threads=1):
        wait(done, parity=0, scope="cluster")


@skeleton
def fixed_ring(n: size):
    """Each CTA loads half of a tile into the CTAs of the mask."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
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
                arrive(peer(empty[i % 2], 0), scope="cluster")
                arrive(peer(empty[i % 2], 1), scope="cluster")
        cluster_sync()


@skeleton
def buggy_ring(n: size):
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    a = smem(2, 2)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1, scope="cluster")
            arrive(full[i % 2], tx=16384)
            tma_load(a[i % 2, rank], full[i % 2], bytes=8192, multicast=(0,))
        cluster_sync()
    with role("math", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            wgmma_fence()
            wgmma(acc, a[i % 2], a[i % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[i % 2], 0), scope="cluster")
                arrive(peer(empty[i % 2], 1), scope="cluster")
        cluster_sync()


@skeleton
def buggy_release(n: size):
    """The other direction: CTA 1 releases its slots only to itself, and CTA 0 waits for ever."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
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
                arrive(empty[i % 2])
                if rank == 0:
                    arrive(peer(empty[i % 2], 1), scope="cluster")
        cluster_sync()


EXPECT = {
    "buggy_commit": "unsupported",
    "buggy": "deadlock.cycle | mbar.count",
    "fixed": "proved",
    "fixed_ring": "proved",
    "buggy_ring": "mbar.tx_bytes | deadlock.cycle",
    "buggy_release": "mbar.count | deadlock.cycle",
}
