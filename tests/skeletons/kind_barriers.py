"""Barriers of threads, CTAs and clusters: who comes, in which order, and when a CTA starts and ends."""

from exogpu.skeleton import *

CLASS = "kind: barriers"


@skeleton
def bad_opposite_orders():
    with role("a", threads=128):
        bar_sync(1, 256)
        bar_sync(2, 256)
    with role("b", threads=128):
        bar_sync(2, 256)
        bar_sync(1, 256)


@skeleton
def ok_arrive_first():
    """Who only arrives does not block."""
    with role("a", threads=128):
        bar_arrive(1, 256)
        bar_sync(2, 256)
    with role("b", threads=128):
        bar_arrive(2, 256)
        bar_sync(1, 256)


@skeleton
def bad_unequal_trips(n: size):
    """One role leaves a trip out."""
    with role("a", threads=128):
        for i in range(n):
            bar_sync(1, 256)
    with role("b", threads=128):
        for i in range(1, n):
            bar_sync(1, 256)


@skeleton
def ok_unequal_trips(n: size):
    """It makes up for that before the loop."""
    require(n >= 1)
    with role("a", threads=128):
        for i in range(n):
            bar_sync(1, 256)
    with role("b", threads=128):
        bar_sync(1, 256)
        for i in range(1, n):
            bar_sync(1, 256)


@skeleton
def ok_early_exit(n: size):
    """Threads that have exited are not waited for."""
    x = smem(128)
    with role("all", threads=128):
        if tid >= 64:
            exit()
        for i in range(n):
            store(x[tid])
            cta_sync()
            load(x[0:64])
            cta_sync()


@skeleton
def bad_early_exit():
    """An mbarrier waits for them."""
    done = mbarrier(count=128)
    x = smem(128)
    with role("all", threads=128):
        if tid >= 96:
            exit()
        store(x[tid])
        arrive(done)
        wait(done, parity=0)
        load(x[0:96])


@skeleton
def bad_start():
    """A peer is written to before it has certainly started."""
    cluster(2)
    x = smem(32)
    with role("all", warps=1):
        store(peer(x[lane], 1 - rank))
        cluster_sync()
        load(x)


@skeleton
def ok_start():
    cluster(2)
    x = smem(32)
    with role("all", warps=1):
        cluster_sync()
        store(peer(x[lane], 1 - rank))
        cluster_sync()
        load(x)


@skeleton
def bad_own_work(n: size):
    """Each CTA meets the other as long as it has work itself."""
    cluster(2)
    x = smem(32)
    with role("all", warps=1):
        for i in range(n):
            if pred("work", i, rank):
                store(x[lane])
                cluster_sync()
                load(peer(x, 1 - rank))
                cluster_sync()


@skeleton
def ok_common_work(n: size):
    cluster(2)
    x = smem(32)
    with role("all", warps=1):
        for i in range(n):
            if pred("work", i):
                store(x[lane])
                cluster_sync()
                load(peer(x, 1 - rank))
                cluster_sync()


@skeleton
def bad_two_arrives():
    """A second arrive on the cluster barrier before the wait."""
    cluster(2)
    with role("all", warps=1):
        cluster_arrive()
        cluster_arrive()
        cluster_wait()


EXPECT = {
    "bad_opposite_orders": "deadlock.cycle",
    "ok_arrive_first": "proved",
    "bad_unequal_trips": "deadlock.cycle | bar.count",
    "ok_unequal_trips": "proved",
    "ok_early_exit": "proved",
    "bad_early_exit": "deadlock.cycle | mbar.count",
    "bad_start": "cluster.entry",
    "ok_start": "proved",
    "bad_own_work": "deadlock.cycle | bar.count | bar.divergence",
    "ok_common_work": "proved",
    "bad_two_arrives": "bar.recycle | deadlock.cycle | bar.count",
}
