"""A tile is stored by TMA and another device is told of it when its source has been read, not when it has arrived.

Source: HazyResearch/ThunderKittens issue 194 (a question there).
"""

from exogpu.skeleton import *

CLASS = "gmem-pub"

# Two CTAs stand for the two devices: they share nothing but global memory.


@skeleton
def buggy(n: size):
    cluster(2)
    filled = mbarrier(count=128)
    free = mbarrier(count=1)
    c = smem(128)
    g = gmem(n, 128)
    arrived = flags()
    with role("math", threads=128, ctas=0):
        for i in range(n):
            wait(free, parity=i + 1)
            store(c[tid])
            proxy_fence()
            arrive(filled)
    with role("store", threads=1, ctas=0):
        for i in range(n):
            wait(filled, parity=i)
            tma_store(c, g[i])
            bulk_commit()
            bulk_wait_read(0)
            arrive(free)
            signal_add(arrived, 1, scope="sys")
        bulk_wait(0)
    with role("reduce", warps=1, ctas=1):
        for i in range(n):
            spin(arrived, i + 1, scope="sys")
            load(g[i])


@skeleton
def fixed(n: size):
    cluster(2)
    filled = mbarrier(count=128)
    free = mbarrier(count=1)
    c = smem(128)
    g = gmem(n, 128)
    arrived = flags()
    with role("math", threads=128, ctas=0):
        for i in range(n):
            wait(free, parity=i + 1)
            store(c[tid])
            proxy_fence()
            arrive(filled)
    with role("store", threads=1, ctas=0):
        for i in range(n):
            wait(filled, parity=i)
            tma_store(c, g[i])
            bulk_commit()
            bulk_wait_read(0)
            arrive(free)
            bulk_wait(0)
            fence("sys")
            signal_add(arrived, 1, scope="sys")
    with role("reduce", warps=1, ctas=1):
        for i in range(n):
            spin(arrived, i + 1, scope="sys")
            load(g[i])


@skeleton
def fixed_release():
    """The signal alone is a release."""
    cluster(2)
    c = smem()
    g = gmem()
    arrived = flags()
    with role("store", threads=1, ctas=0):
        store(c)
        proxy_fence()
        tma_store(c, g)
        bulk_commit()
        bulk_wait(0)
        signal_add(arrived, 1, scope="sys")
    with role("reduce", warps=1, ctas=1):
        spin(arrived, 1, scope="sys")
        load(g)


@skeleton
def fixed_fence():
    """A relaxed one needs the fence."""
    cluster(2)
    c = smem()
    g = gmem()
    arrived = flags()
    with role("store", threads=1, ctas=0):
        store(c)
        proxy_fence()
        tma_store(c, g)
        bulk_commit()
        bulk_wait(0)
        fence("sys")
        signal_add(arrived, 1, scope="sys", relaxed=True)
    with role("reduce", warps=1, ctas=1):
        spin(arrived, 1, scope="sys")
        load(g)


@skeleton
def buggy_relaxed():
    cluster(2)
    c = smem()
    g = gmem()
    arrived = flags()
    with role("store", threads=1, ctas=0):
        store(c)
        proxy_fence()
        tma_store(c, g)
        bulk_commit()
        bulk_wait(0)
        signal_add(arrived, 1, scope="sys", relaxed=True)
    with role("reduce", warps=1, ctas=1):
        spin(arrived, 1, scope="sys")
        load(g)


@skeleton
def buggy_pending(n: size):
    """Two stores on their way: the wait covers all but the last, the signal counts it."""
    cluster(2)
    c = smem(2)
    g = gmem(n)
    arrived = flags()
    with role("store", threads=1, ctas=0):
        for i in range(n):
            store(c[i % 2])
            proxy_fence()
            tma_store(c[i % 2], g[i])
            bulk_commit()
            bulk_wait(1)
            signal_add(arrived, 1, scope="sys")
        bulk_wait(0)
    with role("reduce", warps=1, ctas=1):
        for i in range(n):
            spin(arrived, i + 1, scope="sys")
            load(g[i])


@skeleton
def fixed_pending(n: size):
    """Each trip signals the store of the trip before."""
    cluster(2)
    c = smem(2)
    g = gmem(n)
    arrived = flags()
    with role("store", threads=1, ctas=0):
        for i in range(n):
            store(c[i % 2])
            proxy_fence()
            tma_store(c[i % 2], g[i])
            bulk_commit()
            bulk_wait(1)
            if i >= 1:
                signal_add(arrived, 1, scope="sys")
        bulk_wait(0)
        if n >= 1:
            signal_add(arrived, 1, scope="sys")
    with role("reduce", warps=1, ctas=1):
        for i in range(n):
            spin(arrived, i + 1, scope="sys")
            load(g[i])


EXPECT = {
    "buggy": "race.raw | race.async_inflight | group.depth",
    "fixed": "proved",
    "fixed_release": "proved",
    "fixed_fence": "proved",
    "buggy_relaxed": "race.raw",
    "buggy_pending": "race.raw | race.async_inflight | group.depth",
    "fixed_pending": "proved",
}
