"""A CTA arrives on a barrier of its peer, which may not have initialised it yet.

Source: facebookexperimental/triton pull request 652.
"""

from exogpu.skeleton import *

CLASS = "mbar-init"


@skeleton
def buggy():
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(b, 1)
        cta_sync()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")


@skeleton
def buggy_started():
    """The peer has certainly started, yet not certainly initialised."""
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        cluster_sync()
        if rank == 0:
            init(b, 1)
        cta_sync()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")
        cluster_sync()


@skeleton
def buggy_relaxed():
    """A relaxed cluster arrive publishes nothing, the initialisation included."""
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(b, 1)
        cluster_arrive(relaxed=True)
        cluster_wait()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")
        cluster_sync()


@skeleton
def buggy_second_barrier():
    """The rendezvous comes after the first of two initialisations."""
    cluster(2)
    a = mbarrier()
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(a, 1)
        cluster_sync()
        if rank == 0:
            init(b, 1)
            wait(a, parity=0, scope="cluster")
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(a, 0), scope="cluster")
            arrive(peer(b, 0), scope="cluster")
        cluster_sync()


@skeleton
def fixed():
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(b, 1)
            init_fence()
        cluster_sync()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")
        cluster_sync()


@skeleton
def fixed_relaxed():
    """The initialisation fence makes up for the relaxed arrive."""
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(b, 1)
            init_fence()
        cluster_arrive(relaxed=True)
        cluster_wait()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")
        cluster_sync()


@skeleton
def fixed_without_fence():
    """A cluster barrier with its default semantics needs no fence."""
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(b, 1)
        cluster_sync()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")
        cluster_sync()


@skeleton
def fixed_other_warps():
    """Warps that use no barrier only arrive at the first rendezvous, and wait for it before they join the second."""
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(b, 1)
            init_fence()
        cluster_sync()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")
        cluster_sync()
    with role("idle", warps=3):
        cluster_arrive()
        cluster_wait()
        cluster_sync()


@skeleton
def fixed_no_final_sync():
    """Rank 0 outlives the arrival that it waits for, and nobody touches rank 1: no rendezvous at the end is needed."""
    cluster(2)
    b = mbarrier()
    with role("t", threads=1):
        if rank == 0:
            init(b, 1)
            init_fence()
        cluster_sync()
        if rank == 0:
            wait(b, parity=0, scope="cluster")
        else:
            arrive(peer(b, 0), scope="cluster")


EXPECT = {
    "buggy": "mbar.init_unordered | mbar.uninit | cluster.entry",
    "buggy_started": "mbar.init_unordered | mbar.uninit",
    "buggy_relaxed": "mbar.init_unordered | mbar.uninit",
    "buggy_second_barrier": "mbar.init_unordered | mbar.uninit",
    "fixed": "proved",
    "fixed_relaxed": "proved",
    "fixed_without_fence": "proved",
    "fixed_other_warps": "proved",
    "fixed_no_final_sync": "proved",
}
