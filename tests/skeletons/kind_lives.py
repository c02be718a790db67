"""When an mbarrier exists: initialised for whom, again only after its end."""

from exogpu.skeleton import *

CLASS = "kind: lives"


@skeleton
def bad_no_barrier():
    """Threads arrive before they know of the initialisation."""
    b = mbarrier()
    x = smem(128)
    with role("all", threads=128):
        if tid == 0:
            init(b, 128)
        store(x[tid])
        arrive(b)
        wait(b, parity=0)
        load(x)


@skeleton
def ok_barrier():
    b = mbarrier()
    x = smem(128)
    with role("all", threads=128):
        if tid == 0:
            init(b, 128)
            init_fence()
        cta_sync()
        store(x[tid])
        arrive(b)
        wait(b, parity=0)
        load(x)


@skeleton
def ok_barrier_without_fence():
    """Inside one CTA the barrier is enough (axiom L2)."""
    b = mbarrier()
    x = smem(128)
    with role("all", threads=128):
        if tid == 0:
            init(b, 128)
        cta_sync()
        store(x[tid])
        arrive(b)
        wait(b, parity=0)
        load(x)


@skeleton
def bad_never():
    b = mbarrier()
    with role("all", threads=128):
        arrive(b)
        wait(b, parity=0)


@skeleton
def ok_cluster():
    """For a peer: the fence of initialisations, then a barrier of the cluster, of which the arrive may be relaxed."""
    cluster(2)
    b = mbarrier()
    with role("all", warps=1):
        with elect():
            init(b, 2)
            init_fence()
        cluster_arrive(relaxed=True)
        cluster_wait()
        with elect():
            arrive(peer(b, 0), scope="cluster")
            arrive(peer(b, 1), scope="cluster")
        wait(b, parity=0, scope="cluster")
        cluster_sync()


@skeleton
def ok_cluster_release():
    """An arrive that is not relaxed needs no fence."""
    cluster(2)
    b = mbarrier()
    with role("all", warps=1):
        with elect():
            init(b, 2)
        warp_sync()
        cluster_sync()
        with elect():
            arrive(peer(b, 0), scope="cluster")
            arrive(peer(b, 1), scope="cluster")
        wait(b, parity=0, scope="cluster")
        cluster_sync()


@skeleton
def bad_cluster():
    """A relaxed arrive without the fence."""
    cluster(2)
    b = mbarrier()
    with role("all", warps=1):
        with elect():
            init(b, 2)
        cluster_arrive(relaxed=True)
        cluster_wait()
        with elect():
            arrive(peer(b, 0), scope="cluster")
            arrive(peer(b, 1), scope="cluster")
        wait(b, parity=0, scope="cluster")
        cluster_sync()


@skeleton
def bad_each_tile(n: size):
    """Initialised for each tile, never ended."""
    b = mbarrier()
    x = smem()
    with role("all", threads=128):
        for t in range(n):
            cta_sync()
            if tid == 0:
                init(b, 1)
            cta_sync()
            if tid == 0:
                arrive(b, tx=512)
                tma_load(x, b, bytes=512)
            wait(b, parity=0)


@skeleton
def ok_each_tile(n: size):
    b = mbarrier()
    x = smem()
    with role("all", threads=128):
        for t in range(n):
            if tid == 0:
                init(b, 1)
            cta_sync()
            if tid == 0:
                arrive(b, tx=512)
                tma_load(x, b, bytes=512)
            wait(b, parity=0)
            cta_sync()
            if tid == 0:
                inval(b)


@skeleton
def ok_two_tenants():
    """A buffer and, when it is done with, another one in its place."""
    full = mbarrier(count=1)
    a = smem(128)
    b = smem(128, at=a[0])
    with role("all", threads=128):
        with elect():
            arrive(full, tx=512)
            tma_load(a, full, bytes=512)
        wait(full, parity=0)
        load(a)
        cta_sync()
        store(b[tid])
        cta_sync()
        load(b)


@skeleton
def bad_two_tenants():
    full = mbarrier(count=1)
    a = smem(128)
    b = smem(128, at=a[0])
    with role("all", threads=128):
        with elect():
            arrive(full, tx=512)
            tma_load(a, full, bytes=512)
        wait(full, parity=0)
        load(a)
        store(b[tid])
        cta_sync()
        load(b)


EXPECT = {
    "bad_no_barrier": "mbar.init_unordered | mbar.uninit",
    "ok_barrier": "proved",
    "ok_barrier_without_fence": "proved",
    "bad_never": "mbar.uninit",
    "ok_cluster": "proved",
    "ok_cluster_release": "proved",
    "bad_cluster": "mbar.init_unordered | mbar.uninit",
    "bad_each_tile": "mbar.reinit",
    "ok_each_tile": "proved",
    "ok_two_tenants": "proved",
    "bad_two_tenants": "race.war | smem.reuse",
}
