"""Skeletons that stand on an axiom, each beside a twin that does without."""

from exogpu.skeleton import *


def releases(coupled, own=False):
    """Each slot is released to two CTAs, one arrive after the other. `coupled`: a consumer waits for something of both
    CTAs before it releases the slot again. `own`: the arrive at home is an ordinary one."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(count=1 + coupled)
        empty = mbarrier(count=2)
        x = smem()
        with role("load", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1, scope="cluster")
                arrive(full, tx=64)
                if coupled > 0:
                    arrive(peer(full, 1 - rank), scope="cluster")
                tma_load(x, full, bytes=64)
            cluster_sync()
        with role("use", threads=1):
            for i in range(n):
                wait(full, parity=i, scope="cluster")
                if own:
                    arrive(peer(empty, 1 - rank), scope="cluster")
                    arrive(empty)
                else:
                    arrive(peer(empty, 0), scope="cluster")
                    arrive(peer(empty, 1), scope="cluster")
            cluster_sync()

    return kernel


def turns(behind):
    """The next CTA is told by a relaxed store. Every thread fences before the barrier, or one behind it."""

    @skeleton
    def kernel():
        cluster(2)
        turn = flags()
        d = gmem(64)
        with role("all", threads=64):
            spin(turn, rank)
            store(d[tid])
            if behind:
                cta_sync()
                if tid == 0:
                    fence("gpu")
                    signal(turn, rank + 1, relaxed=True)
            else:
                fence("gpu")
                cta_sync()
                if tid == 0:
                    signal(turn, rank + 1, relaxed=True)

    return kernel


def shapes(waits):
    """Two products of different shapes into one accumulator, the first of them in flight or done."""

    @skeleton
    def kernel():
        b = smem()
        acc = registers()
        with role("math", threads=128):
            wgmma_fence()
            wgmma(acc, b, b, shape="n128")
            wgmma_commit()
            if waits:
                wgmma_wait(0)
            wgmma_fence()
            wgmma(acc, b, b, shape="n64")
            wgmma_commit()
            wgmma_wait(0)
            load(acc)

    return kernel


def overwritten(waits):
    """The operand of a wgmma is loaded again when the group is done (L5), or at any time."""

    @skeleton
    def kernel(n: size):
        x = smem()
        acc = registers()
        full = mbarrier(count=1)
        empty = mbarrier(count=128)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                arrive(full, tx=64)
                tma_load(x, full, bytes=64)
        with role("c", threads=128):
            for i in range(n):
                wait(full, parity=i)
                wgmma_fence()
                wgmma(acc, x)
                wgmma_commit()
                if waits:
                    wgmma_wait(0)
                arrive(empty)

    return kernel


TWINS = [
    ("F1", shapes(False), shapes(True)),
    ("L13", releases(0), releases(1)),
    ("L13", releases(0, own=True), releases(1, own=True)),
    ("L14", turns(False), turns(True)),
]

OVERWRITTEN = (overwritten(True), overwritten(False))
