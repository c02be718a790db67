"""A CTA exits while its peer still sends to it: arrivals, bytes or stores into the shared memory of a CTA that is gone.

Source: sgl-project/sglang pull request 32954, issues 32907 and 32855; triton-lang/triton 10656 and 11731;
facebookexperimental/triton 1105 and 652.
"""

from exogpu.skeleton import *

CLASS = "dsmem-life"


@skeleton
def buggy_commit():
    """As reported, with the tensor core of the next generation."""
    cluster(2)
    done = mbarrier(count=1)
    a = smem()
    b = smem()
    acc = registers()
    with role("mma", threads=1, ctas=0):
        mma5(acc, a, b)
        mma5_commit(done)
    with role("load", threads=1, ctas=1):
        exit()


@skeleton
def buggy():
    """The last signal goes to a CTA that does not wait for it."""
    cluster(2)
    done = mbarrier(count=1)
    with role("math", threads=1, ctas=0):
        arrive(peer(done, 1), scope="cluster")
        exit()
    with role("load", threads=1, ctas=1):
        exit()


@skeleton
def fixed():
    cluster(2)
    done = mbarrier(count=1)
    with role("math", threads=1, ctas=0):
        arrive(peer(done, 1), scope="cluster")
        cluster_sync()
        exit()
    with role("load", threads=1, ctas=1):
        cluster_sync()
        exit()


@skeleton
def fixed_waits():
    """Who waits for every signal needs no barrier at the end."""
    cluster(2)
    done = mbarrier(count=1)
    with role("math", threads=1, ctas=0):
        arrive(peer(done, 1), scope="cluster")
        exit()
    with role("load", threads=1, ctas=1):
        wait(done, parity=0, scope="cluster")
        exit()


@skeleton
def buggy_read():
    """A remote read: the owner waits until it has begun to be wanted, not until it is over."""
    cluster(2)
    ready = mbarrier(count=32)
    x = smem(32)
    with role("reader", warps=1, ctas=0):
        wait(ready, parity=0, scope="cluster")
        load(peer(x, 1))
        exit()
    with role("owner", warps=1, ctas=1):
        store(x[lane])
        arrive(peer(ready, 0), scope="cluster")
        exit()


@skeleton
def fixed_read():
    cluster(2)
    ready = mbarrier(count=32)
    x = smem(32)
    with role("reader", warps=1, ctas=0):
        wait(ready, parity=0, scope="cluster")
        load(peer(x, 1))
        cluster_sync()
        exit()
    with role("owner", warps=1, ctas=1):
        store(x[lane])
        arrive(peer(ready, 0), scope="cluster")
        cluster_sync()
        exit()


@skeleton
def buggy_bytes_in_flight():
    """A barrier of the cluster does not wait for bytes that are on their way."""
    cluster(2)
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(full, tx=4096)
        cluster_sync()
        if rank == 0:
            tma_load(x, full, bytes=4096, multicast=(0, 1))
            wait(full, parity=0)
        cluster_sync()
        exit()


@skeleton
def fixed_bytes_in_flight():
    cluster(2)
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(full, tx=4096)
        cluster_sync()
        if rank == 0:
            tma_load(x, full, bytes=4096, multicast=(0, 1))
        wait(full, parity=0)
        exit()


@skeleton
def buggy_ring(n: size):
    """A multicast ring, half of each tile from each CTA: nobody waits for the last releases, which go to both."""
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
        exit()
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
        exit()


@skeleton
def fixed_ring(n: size):
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
        exit()
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
        exit()


@skeleton
def fixed_ring_drained(n: size):
    """The producer waits until every slot has been released: all signals to its CTA have come."""
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
        for i in range(n, n + 2):
            wait(empty[i % 2], parity=i // 2 + 1, scope="cluster")
        exit()
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
        exit()


EXPECT = {
    "buggy_commit": "unsupported",
    "buggy": "cluster.exit",
    "fixed": "proved",
    "fixed_waits": "proved",
    "buggy_read": "cluster.exit",
    "fixed_read": "proved",
    "buggy_bytes_in_flight": "cluster.exit | race.async_inflight",
    "fixed_bytes_in_flight": "proved",
    "buggy_ring": "cluster.exit",
    "fixed_ring": "proved",
    "fixed_ring_drained": "proved",
}
