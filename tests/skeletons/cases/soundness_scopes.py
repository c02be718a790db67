"""Twins of which one synchronises too weakly: relaxed, or at the scope of a CTA."""

from exogpu.skeleton import *


def multicast(reads):
    """Slots of a multicast ring are freed at the scope of a CTA, which says that tensor cores have read them (L4)."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(count=1)
        empty = mbarrier(count=8)
        a = smem(2)
        acc = registers()
        with role("load", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                proxy_fence(everywhere=True)
                arrive(full, tx=128)
                tma_load(a[rank], full, bytes=64, multicast=(0, 1))
            cluster_sync()
        with role("math", warps=4):
            for i in range(n):
                wait(full, parity=i)
                if reads:
                    load(a[:])
                    warp_sync()
                else:
                    wgmma_fence()
                    wgmma(acc, a[:])
                    wgmma_commit()
                    wgmma_wait(0)
                with elect():
                    arrive(peer(empty, 0))
                    arrive(peer(empty, 1))
            cluster_sync()

    return kernel


def relaxes(ctas, relaxed):
    """A relaxed arrival does for asynchronous operations that overwrite what others have used, in a cluster (L4)."""

    @skeleton
    def kernel(n: size):
        cluster(ctas)
        full = mbarrier(count=1)
        empty = mbarrier(count=4)
        a = smem()
        acc = registers()
        with role("p", threads=1, ctas=0):
            for i in range(n):
                wait(empty, parity=i + 1)
                arrive(full, tx=64)
                tma_load(a, full, bytes=64)
        with role("c", warps=4, ctas=0):
            for i in range(n):
                wait(full, parity=i)
                wgmma_fence()
                wgmma(acc, a)
                wgmma_commit()
                wgmma_wait(0)
                with elect():
                    arrive(empty, relaxed=relaxed)

    return kernel


def releases(fenced):
    """Each slot is released to two CTAs by neighbouring arrives, or by ones with a fence between, which L13 does not
    speak of."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(count=1)
        empty = mbarrier(count=2)
        x = smem()
        with role("load", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1, scope="cluster")
                arrive(full, tx=64)
                tma_load(x, full, bytes=64)
            cluster_sync()
        with role("use", threads=1):
            for i in range(n):
                wait(full, parity=i, scope="cluster")
                arrive(peer(empty, 0), scope="cluster")
                if fenced:
                    fence("sys")
                arrive(peer(empty, 1), scope="cluster")
            cluster_sync()

    return kernel


TWINS = [
    ("mbar.scope", multicast(True), multicast(False)),
    ("race.waw | race.war", relaxes(1, True), relaxes(1, False)),
    ("race.waw | race.war", relaxes(1, True), relaxes(2, True)),
]

UNSEEN = [(releases(True), releases(False))]
