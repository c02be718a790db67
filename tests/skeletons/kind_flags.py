"""Publication through global memory: releases and acquires, values of flags, who spins for whom."""

from exogpu.skeleton import *

CLASS = "kind: flags"

# Two CTAs of a cluster stand for two of a grid.


@skeleton
def bad_one_spinner():
    """One thread has waited, the others have not heard of it."""
    cluster(2)
    ready = flags()
    g = gmem(64)
    with role("writer", threads=64, ctas=0):
        store(g[tid])
        cta_sync()
        if tid == 0:
            signal(ready, 1)
    with role("reader", threads=64, ctas=1):
        if tid == 0:
            spin(ready, 1)
        load(g[tid])


@skeleton
def ok_one_spinner():
    cluster(2)
    ready = flags()
    g = gmem(64)
    with role("writer", threads=64, ctas=0):
        store(g[tid])
        cta_sync()
        if tid == 0:
            signal(ready, 1)
    with role("reader", threads=64, ctas=1):
        if tid == 0:
            spin(ready, 1)
        cta_sync()
        load(g[tid])


@skeleton
def bad_same_value(n: size):
    """The value does not grow: from the second round on the spin returns at once."""
    cluster(2)
    ready = flags()
    g = gmem(n, 32)
    with role("writer", warps=1, ctas=0):
        for i in range(n):
            store(g[i, lane])
            warp_sync()
            with elect():
                signal(ready, 1)
    with role("reader", warps=1, ctas=1):
        for i in range(n):
            spin(ready, 1)
            load(g[i])


@skeleton
def ok_growing_value(n: size):
    cluster(2)
    ready = flags()
    g = gmem(n, 32)
    with role("writer", warps=1, ctas=0):
        for i in range(n):
            store(g[i, lane])
            warp_sync()
            with elect():
                signal(ready, i + 1)
    with role("reader", warps=1, ctas=1):
        for i in range(n):
            spin(ready, i + 1)
            load(g[i])


@skeleton
def ok_counted(n: size):
    """Four warps add one each; the reader waits for all of a round."""
    cluster(2)
    ready = flags()
    g = gmem(n, 128)
    with role("writer", warps=4, ctas=0):
        for i in range(n):
            store(g[i, tid])
            warp_sync()
            with elect():
                signal_add(ready, 1)
            bar_sync(1, 128)
    with role("reader", warps=1, ctas=1):
        for i in range(n):
            spin(ready, 4 * (i + 1))
            load(g[i])


@skeleton
def bad_counted(n: size):
    """Warps that are a round ahead count for those that are behind."""
    cluster(2)
    ready = flags()
    g = gmem(n, 128)
    with role("writer", warps=4, ctas=0):
        for i in range(n):
            store(g[i, tid])
            warp_sync()
            with elect():
                signal_add(ready, 1)
    with role("reader", warps=1, ctas=1):
        for i in range(n):
            spin(ready, 4 * (i + 1))
            load(g[i])


@skeleton
def bad_no_way_back(n: size):
    """One cell for all rounds, and nothing tells the writer that it has been read."""
    cluster(2)
    ready = flags()
    g = gmem()
    with role("writer", threads=1, ctas=0):
        for i in range(n):
            store(g)
            signal(ready, i + 1)
    with role("reader", threads=1, ctas=1):
        for i in range(n):
            spin(ready, i + 1)
            load(g)


@skeleton
def ok_way_back(n: size):
    cluster(2)
    ready = flags()
    taken = flags()
    g = gmem()
    with role("writer", threads=1, ctas=0):
        for i in range(n):
            spin(taken, i)
            store(g)
            signal(ready, i + 1)
    with role("reader", threads=1, ctas=1):
        for i in range(n):
            spin(ready, i + 1)
            load(g)
            signal(taken, i + 1)


@skeleton
def ok_tma_behind_flag(n: size):
    """What a flag announces is fetched by TMA: the writer's fence covers global memory."""
    cluster(2)
    ready = flags()
    full = mbarrier(count=1)
    x = smem()
    g = gmem(n)
    with role("writer", threads=1, ctas=0):
        for i in range(n):
            store(g[i])
            proxy_fence(everywhere=True)
            signal(ready, i + 1)
    with role("reader", threads=1, ctas=1):
        for i in range(n):
            spin(ready, i + 1)
            proxy_fence(everywhere=True)
            arrive(full, tx=512)
            tma_load(x, full, bytes=512, src=g[i])
            wait(full, parity=i)


@skeleton
def bad_tma_behind_flag(n: size):
    cluster(2)
    ready = flags()
    full = mbarrier(count=1)
    x = smem()
    g = gmem(n)
    with role("writer", threads=1, ctas=0):
        for i in range(n):
            store(g[i])
            signal(ready, i + 1)
    with role("reader", threads=1, ctas=1):
        for i in range(n):
            spin(ready, i + 1)
            arrive(full, tx=512)
            tma_load(x, full, bytes=512, src=g[i])
            wait(full, parity=i)


EXPECT = {
    "bad_one_spinner": "race.raw",
    "ok_one_spinner": "proved",
    "bad_same_value": "race.raw",
    "ok_growing_value": "proved",
    "ok_counted": "proved",
    "bad_counted": "race.raw",
    "bad_no_way_back": "race.war",
    "ok_way_back": "proved",
    "ok_tma_behind_flag": "proved",
    "bad_tma_behind_flag": "proxy.generic_to_async",
}
