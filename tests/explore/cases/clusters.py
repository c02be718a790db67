"""Twins about clusters and flags in global memory: the first of each pair breaks the rule, the second does not."""

from exogpu.skeleton import *


def relay(arrive_scope, wait_scope, relaxed=False, fence_before=False):
    @skeleton
    def kernel():
        cluster(2)
        full = mbarrier(count=1)
        x = smem()
        with role("make", threads=1, ctas=1):
            store(peer(x, 0))
            if fence_before:
                fence("cluster")
            arrive(peer(full, 0), scope=arrive_scope, relaxed=relaxed)
            cluster_sync()
        with role("use", threads=1, ctas=0):
            wait(full, parity=0, scope=wait_scope)
            load(x)
            cluster_sync()

    return kernel


narrow_arrive = relay("cta", "cluster")
narrow_wait = relay("cluster", "cta")
wide = relay("cluster", "cluster")
relaxed_arrive = relay("cluster", "cluster", relaxed=True)
relaxed_after_fence = relay("cluster", "cluster", relaxed=True, fence_before=True)


@skeleton
def relaxed_barrier():
    cluster(2)
    x = smem()
    with role("one", threads=1):
        if rank == 0:
            store(x)
        cluster_arrive(relaxed=True)
        cluster_wait()
        if rank == 1:
            load(peer(x, 0))
        cluster_sync()


@skeleton
def release_barrier():
    cluster(2)
    x = smem()
    with role("one", threads=1):
        if rank == 0:
            store(x)
        cluster_arrive()
        cluster_wait()
        if rank == 1:
            load(peer(x, 0))
        cluster_sync()


@skeleton
def not_started():
    cluster(2)
    x = smem()
    with role("one", threads=1):
        if rank == 1:
            store(peer(x, 0))
        cluster_sync()


@skeleton
def started():
    cluster(2)
    x = smem()
    with role("one", threads=1):
        cluster_sync()
        if rank == 1:
            store(peer(x, 0))
        cluster_sync()


@skeleton
def exited():
    cluster(2)
    x = smem()
    with role("one", threads=1):
        cluster_sync()
        if rank == 1:
            store(peer(x, 0))
        exit()


@skeleton
def exits_together():
    cluster(2)
    x = smem()
    with role("one", threads=1):
        cluster_sync()
        if rank == 1:
            store(peer(x, 0))
        cluster_sync()
        exit()


@skeleton
def bytes_to_exited():
    """The issuer waits for its own bytes; those of the peer are still on their way."""
    cluster(2)
    full = mbarrier(count=1)
    x = smem()
    with role("one", threads=1):
        arrive(full, tx=64)
        cluster_sync()
        if rank == 0:
            tma_load(x, full, bytes=64, multicast=(0, 1))
            wait(full, parity=0)
        cluster_sync()
        exit()


@skeleton
def bytes_awaited():
    cluster(2)
    full = mbarrier(count=1)
    x = smem()
    with role("one", threads=1):
        arrive(full, tx=64)
        cluster_sync()
        if rank == 0:
            tma_load(x, full, bytes=64, multicast=(0, 1))
        wait(full, parity=0)
        cluster_sync()
        exit()


@skeleton
def init_not_told():
    """A relaxed arrive does not tell of the initialisation."""
    cluster(2)
    b = mbarrier()
    with role("one", threads=1):
        init(b, 1)
        cluster_arrive(relaxed=True)
        cluster_wait()
        arrive(peer(b, 1 - rank), scope="cluster")
        wait(b, parity=0, scope="cluster")


@skeleton
def init_fenced():
    cluster(2)
    b = mbarrier()
    with role("one", threads=1):
        init(b, 1)
        init_fence()
        cluster_arrive(relaxed=True)
        cluster_wait()
        arrive(peer(b, 1 - rank), scope="cluster")
        wait(b, parity=0, scope="cluster")


@skeleton
def overwrites_received():
    """The mailbox is cleared after a contribution can have come."""
    cluster(2)
    m = mbarrier(count=1)
    box = smem()
    with role("one", threads=1):
        if rank == 0:
            arrive(m, tx=16)
        cluster_sync()
        if rank == 1:
            st_async(peer(box, 0), peer(m, 0), bytes=16)
        else:
            store(box)
            wait(m, parity=0)
            load(box)
        cluster_sync()


@skeleton
def clears_first():
    cluster(2)
    m = mbarrier(count=1)
    box = smem()
    with role("one", threads=1):
        if rank == 0:
            arrive(m, tx=16)
            store(box)
        cluster_sync()
        if rank == 1:
            st_async(peer(box, 0), peer(m, 0), bytes=16)
        else:
            wait(m, parity=0)
            load(box)
        cluster_sync()


@skeleton
def tile():
    """One thread spins for all."""
    cluster(2)
    y = gmem(64)
    turns = flags()
    with role("all", threads=64):
        if rank == 1:
            if tid == 0:
                spin(turns, 1)
            cta_sync()
        store(y[tid])
        if rank == 0:
            cta_sync()
            if tid == 0:
                signal(turns, 1)


@skeleton
def tile_relaxed():
    cluster(2)
    y = gmem(64)
    turns = flags()
    with role("all", threads=64):
        if rank == 1:
            if tid == 0:
                spin(turns, 1, relaxed=True)
            cta_sync()
        store(y[tid])
        if rank == 0:
            cta_sync()
            if tid == 0:
                signal(turns, 1)


@skeleton
def tile_relaxed_fenced():
    cluster(2)
    y = gmem(64)
    turns = flags()
    with role("all", threads=64):
        if rank == 1:
            if tid == 0:
                spin(turns, 1, relaxed=True)
                fence("gpu")
            cta_sync()
        store(y[tid])
        if rank == 0:
            cta_sync()
            if tid == 0:
                signal(turns, 1)


@skeleton
def taken_back():
    """Who looks late never sees the flag."""
    f = flags()
    with role("a", threads=1):
        signal(f, 1)
        signal(f, 0)
    with role("b", threads=1):
        spin(f, 1)


@skeleton
def kept():
    f = flags()
    with role("a", threads=1):
        signal(f, 1)
        signal(f, 2)
    with role("b", threads=1):
        spin(f, 1)


def named_twice(expected):
    """A CTA that a multicast names twice is one bit of its mask: it gets one copy."""

    @skeleton
    def kernel():
        cluster(2)
        x = smem()
        full = mbarrier(count=1)
        with role("one", threads=1, ctas=0):
            expect(full, expected)
            tma_load(x, full, bytes=128, multicast=(rank, 0))
            arrive(full)
            wait(full, parity=0)
            load(x)

    return kernel


twice_expected = named_twice(256)
once_expected = named_twice(128)


TWINS = [
    ("mbar.tx_bytes", twice_expected, once_expected),
    ("mbar.scope", narrow_arrive, wide),
    ("mbar.scope", narrow_wait, wide),
    ("race.raw", relaxed_arrive, relaxed_after_fence),
    ("race.raw", relaxed_barrier, release_barrier),
    ("cluster.entry", not_started, started),
    ("cluster.exit", exited, exits_together),
    ("cluster.exit", bytes_to_exited, bytes_awaited),
    ("mbar.init_unordered", init_not_told, init_fenced),
    ("race.waw", overwrites_received, clears_first),
    ("race.waw", tile_relaxed, tile),
    ("race.waw", tile_relaxed, tile_relaxed_fenced),
    ("deadlock.cycle", taken_back, kept),
]
