"""A tile is published to the warps of two CTAs again and again; nothing tells the publisher that they have read it.

Source: mlc-ai/TIRx-kernels pull request 42, item 2.
"""

from exogpu.skeleton import *

CLASS = "lap"
BYTES = 4096


@skeleton
def buggy(n: size):
    cluster(2)
    ready = mbarrier(count=1)
    Q = smem()
    with role("publish", threads=1, ctas=0):
        cluster_sync()
        for i in range(n):
            store(Q)
            store(peer(Q, 1))
            arrive(ready)
            arrive(peer(ready, 1), scope="cluster")
        cluster_sync()
    with role("work", warps=4):
        cluster_sync()
        for i in range(n):
            wait(ready, parity=i, scope="cluster")
            load(Q)
        cluster_sync()


@skeleton
def buggy_own_cta_only(n: size):
    """Only the warps of the publisher's own CTA report back."""
    cluster(2)
    ready = mbarrier(count=1)
    consumed = mbarrier(count=4)
    Q = smem()
    with role("publish", threads=1, ctas=0):
        cluster_sync()
        for i in range(n):
            wait(consumed, parity=i + 1)
            store(Q)
            store(peer(Q, 1))
            arrive(ready)
            arrive(peer(ready, 1), scope="cluster")
        cluster_sync()
    with role("work", warps=4):
        cluster_sync()
        for i in range(n):
            wait(ready, parity=i, scope="cluster")
            load(Q)
            warp_sync()
            if rank == 0:
                with elect():
                    arrive(consumed)
        cluster_sync()


@skeleton
def buggy_before_reading(n: size):
    """They report that the tile has come, not that they have read it."""
    cluster(2)
    ready = mbarrier(count=1)
    consumed = mbarrier(count=8)
    Q = smem()
    with role("publish", threads=1, ctas=0):
        cluster_sync()
        for i in range(n):
            wait(consumed, parity=i + 1, scope="cluster")
            store(Q)
            store(peer(Q, 1))
            arrive(ready)
            arrive(peer(ready, 1), scope="cluster")
        cluster_sync()
    with role("work", warps=4):
        cluster_sync()
        for i in range(n):
            wait(ready, parity=i, scope="cluster")
            warp_sync()
            with elect():
                arrive(peer(consumed, 0), scope="cluster")
            load(Q)
        cluster_sync()


@skeleton
def fixed(n: size):
    cluster(2)
    ready = mbarrier(count=1)
    consumed = mbarrier(count=8)
    Q = smem()
    with role("publish", threads=1, ctas=0):
        cluster_sync()
        for i in range(n):
            wait(consumed, parity=i + 1, scope="cluster")
            store(Q)
            store(peer(Q, 1))
            arrive(ready)
            arrive(peer(ready, 1), scope="cluster")
        cluster_sync()
    with role("work", warps=4):
        cluster_sync()
        for i in range(n):
            wait(ready, parity=i, scope="cluster")
            load(Q)
            warp_sync()
            with elect():
                arrive(peer(consumed, 0), scope="cluster")
        cluster_sync()


@skeleton
def fixed_multicast(n: size):
    """Published by one multicast copy. Readers and issuer fence, since ordinary reads of a peer precede the copy."""
    cluster(2)
    ready = mbarrier(count=1)
    consumed = mbarrier(count=8)
    Q = smem()
    with role("publish", threads=1, ctas=0):
        cluster_sync()
        for i in range(n):
            wait(consumed, parity=i + 1, scope="cluster")
            proxy_fence(everywhere=True)
            arrive(ready, tx=BYTES)
            arrive(peer(ready, 1), tx=BYTES, scope="cluster")
            tma_load(Q, ready, bytes=BYTES, multicast=(0, 1))
        cluster_sync()
    with role("work", warps=4):
        cluster_sync()
        for i in range(n):
            wait(ready, parity=i, scope="cluster")
            load(Q)
            proxy_fence(everywhere=True)
            warp_sync()
            with elect():
                arrive(peer(consumed, 0), scope="cluster")
        cluster_sync()


@skeleton
def fixed_issuer_fence(n: size):
    """The issuer alone fences: enough by either reading of axiom L1."""
    cluster(2)
    ready = mbarrier(count=1)
    consumed = mbarrier(count=8)
    Q = smem()
    with role("publish", threads=1, ctas=0):
        cluster_sync()
        for i in range(n):
            wait(consumed, parity=i + 1, scope="cluster")
            proxy_fence(everywhere=True)
            arrive(ready, tx=BYTES)
            arrive(peer(ready, 1), tx=BYTES, scope="cluster")
            tma_load(Q, ready, bytes=BYTES, multicast=(0, 1))
        cluster_sync()
    with role("work", warps=4):
        cluster_sync()
        for i in range(n):
            wait(ready, parity=i, scope="cluster")
            load(Q)
            warp_sync()
            with elect():
                arrive(peer(consumed, 0), scope="cluster")
        cluster_sync()


@skeleton
def buggy_reader_fence(n: size):
    """The readers alone fence: not enough across CTAs by axiom L1, since the copy is issued in another CTA."""
    cluster(2)
    ready = mbarrier(count=1)
    consumed = mbarrier(count=8)
    Q = smem()
    with role("publish", threads=1, ctas=0):
        cluster_sync()
        for i in range(n):
            wait(consumed, parity=i + 1, scope="cluster")
            arrive(ready, tx=BYTES)
            arrive(peer(ready, 1), tx=BYTES, scope="cluster")
            tma_load(Q, ready, bytes=BYTES, multicast=(0, 1))
        cluster_sync()
    with role("work", warps=4):
        cluster_sync()
        for i in range(n):
            wait(ready, parity=i, scope="cluster")
            load(Q)
            proxy_fence(everywhere=True)
            warp_sync()
            with elect():
                arrive(peer(consumed, 0), scope="cluster")
        cluster_sync()


LAPPED = "race.war | deadlock.cycle | mbar.parity_alias | mbar.unobserved_phase"
EXPECT = {
    "buggy": LAPPED,
    "buggy_own_cta_only": LAPPED,
    "buggy_before_reading": "race.war",
    "buggy_reader_fence": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_multicast": "proved",
    "fixed_issuer_fence": "proved",
}
