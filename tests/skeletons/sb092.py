"""A relaxed arrive on the cluster barrier is taken for one that publishes.

Source: sgl-project/sglang pull request 38829; triton-lang/triton issue 11404, pull request 11462.
"""

from exogpu.skeleton import *

CLASS = "scope"


@skeleton
def buggy():
    cluster(2)
    v = smem(64)
    with role("all", threads=64):
        if rank == 0:
            store(v[tid])
            cta_sync()
        cluster_arrive(relaxed=True)
        cluster_wait()
        if rank == 1:
            load(peer(v, 0))
        cluster_sync()


@skeleton
def fixed():
    """The readers have nothing to publish: their arrive may be relaxed."""
    cluster(2)
    v = smem(64)
    with role("all", threads=64):
        if rank == 0:
            store(v[tid])
            cluster_arrive()
        else:
            cluster_arrive(relaxed=True)
        cluster_wait()
        if rank == 1:
            load(peer(v, 0))
        cluster_sync()


@skeleton
def buggy_wrong_side():
    """The readers publish, the writers do not."""
    cluster(2)
    v = smem(64)
    with role("all", threads=64):
        if rank == 0:
            store(v[tid])
            cluster_arrive(relaxed=True)
        else:
            cluster_arrive()
        cluster_wait()
        if rank == 1:
            load(peer(v, 0))
        cluster_sync()


@skeleton
def fixed_fence():
    """A fence makes the relaxed arrive publish."""
    cluster(2)
    v = smem(64)
    with role("all", threads=64):
        if rank == 0:
            store(v[tid])
            fence("cluster")
        cluster_arrive(relaxed=True)
        cluster_wait()
        if rank == 1:
            load(peer(v, 0))
        cluster_sync()


@skeleton
def buggy_narrow_fence():
    cluster(2)
    v = smem(64)
    with role("all", threads=64):
        if rank == 0:
            store(v[tid])
            fence("cta")
        cluster_arrive(relaxed=True)
        cluster_wait()
        if rank == 1:
            load(peer(v, 0))
        cluster_sync()


@skeleton
def fixed_four_ctas():
    cluster(4)
    v = smem(64)
    with role("all", threads=64):
        if rank == 0:
            store(v[tid])
        cluster_sync()
        load(peer(v, 0))
        cluster_sync()


@skeleton
def buggy_rounds(n: size):
    """Each CTA reads its neighbour's part in every round; the readers' arrive is relaxed, so the next store races."""
    cluster(2)
    v = smem(64)
    with role("all", threads=64):
        for i in range(n):
            store(v[tid])
            cluster_sync()
            load(peer(v, 1 - rank))
            cluster_arrive(relaxed=True)
            cluster_wait()
        cluster_sync()


@skeleton
def fixed_rounds(n: size):
    cluster(2)
    v = smem(64)
    with role("all", threads=64):
        for i in range(n):
            store(v[tid])
            cluster_sync()
            load(peer(v, 1 - rank))
            cluster_sync()


@skeleton
def fixed_split(n: size):
    """Work on the CTA's own part between arrive and wait."""
    cluster(2)
    v = smem(64)
    own = smem(64)
    with role("all", threads=64):
        for i in range(n):
            store(v[tid])
            cluster_arrive()
            store(own[tid])
            cluster_wait()
            load(peer(v, 1 - rank))
            cluster_arrive()
            load(own[tid])
            cluster_wait()


EXPECT = {
    "buggy": "race.raw",
    "fixed": "proved",
    "buggy_wrong_side": "race.raw",
    "fixed_fence": "proved",
    "buggy_narrow_fence": "race.raw",
    "fixed_four_ctas": "proved",
    "buggy_rounds": "race.war",
    "fixed_rounds": "proved",
    "fixed_split": "proved",
}
