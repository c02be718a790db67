"""A signal to a peer CTA has CTA scope on one side or both: it counts, but publishes nothing.

Source: NVIDIA/cutlass issue 3324; Dao-AILab/quack 63.
"""

from exogpu.skeleton import *

CLASS = "scope"

# The verdicts follow axiom L3: an arrive on a peer's barrier and its wait need cluster scope.


@skeleton
def buggy_tensor_core():
    """As reported: the data is for a tensor core that reads both CTAs' memory."""
    cluster(2)
    full = mbarrier(count=1)
    b = smem(32)
    acc = registers()
    with role("load", warps=1, ctas=1):
        cp_async(b[lane])
        cp_wait_all()
        proxy_fence()
        warp_sync()
        with elect():
            arrive(peer(full, 0))
    with role("mma", warps=1, ctas=0):
        wait(full, parity=0)
        mma5(acc, b)


def relay(arrives, waits):
    """The same with an ordinary read of the peer's memory."""

    @skeleton
    def kernel():
        cluster(2)
        full = mbarrier(count=1)
        b = smem(32)
        with role("load", warps=1, ctas=1):
            cp_async(b[lane])
            cp_wait_all()
            warp_sync()
            with elect():
                arrive(peer(full, 0), scope=arrives)
            cluster_sync()
        with role("reader", warps=1, ctas=0):
            wait(full, parity=0, scope=waits)
            load(peer(b, 1))
            cluster_sync()

    return kernel


buggy = relay("cta", "cta")
buggy_arrive = relay("cta", "cluster")
buggy_wait = relay("cluster", "cta")
fixed = relay("cluster", "cluster")


def relay_ring(releases):
    """A ring of slots in the sender's CTA, with a signal each way."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        b = smem(2, 32)
        with role("load", warps=1, ctas=1):
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1, scope="cluster")
                cp_async(b[i % 2, lane])
                cp_wait_all()
                warp_sync()
                with elect():
                    arrive(peer(full[i % 2], 0), scope="cluster")
            cluster_sync()
        with role("reader", warps=1, ctas=0):
            for i in range(n):
                wait(full[i % 2], parity=i // 2, scope="cluster")
                load(peer(b[i % 2], 1))
                warp_sync()
                with elect():
                    arrive(peer(empty[i % 2], 1), scope=releases)
            cluster_sync()

    return kernel


fixed_ring = relay_ring("cluster")
buggy_ring = relay_ring("cta")


@skeleton
def fixed_inside():
    """Inside one CTA the narrow scope is right."""
    cluster(2)
    full = mbarrier(count=1)
    b = smem(32)
    with role("load", warps=1):
        cp_async(b[lane])
        cp_wait_all()
        warp_sync()
        with elect():
            arrive(full)
    with role("reader", warps=1):
        wait(full, parity=0)
        load(b)


EXPECT = {
    "buggy_tensor_core": "unsupported",
    "buggy": "mbar.scope | race.raw",
    "buggy_arrive": "mbar.scope | race.raw",
    "buggy_wait": "mbar.scope | race.raw",
    "fixed": "proved",
    "fixed_ring": "proved",
    "buggy_ring": "mbar.scope | race.war",
    "fixed_inside": "proved",
}
