"""Twins for mbarriers that end: when a life ends, for whom, and of which life a phase is."""

from exogpu.skeleton import *


def tiles(parity=0, met=128, begun=128, arrives=1, waits=1, once=0):
    """A life for each tile of all threads, ended by thread 0 when `met` threads have come by."""

    @skeleton
    def kernel(n: size):
        f = mbarrier()
        x = smem()
        with role("all", threads=128):
            for i in range(n):
                if tid == 0:
                    init(f, arrives)
                if tid < begun:
                    bar_sync(1, begun)
                if tid == 0:
                    arrive(f, tx=4096)
                    tma_load(x, f, bytes=4096)
                if waits == 1:
                    wait(f, parity=i * parity)
                load(x)
                proxy_fence()
                if tid < met:
                    bar_sync(2, met)
                if tid == 0:
                    if i >= once:
                        inval(f)

    return kernel


def rings(ended, parity=0):
    """Two barriers for each tile; `ended` of them end."""

    @skeleton
    def kernel(n: size):
        f = mbarrier(2)
        x = smem(2)
        with role("copy", threads=1):
            for i in range(n):
                for s in range(2):
                    init(f[s], 1)
                for s in range(2):
                    arrive(f[s], tx=4096)
                    tma_load(x[s], f[s], bytes=4096)
                for s in range(2):
                    wait(f[s], parity=parity * i)
                for s in range(ended):
                    inval(f[s])

    return kernel


def handed(before, after):
    """A producer and a consumer, which tells it that a life is over; `before` and `after`: where they meet."""

    @skeleton
    def kernel(n: size):
        full = mbarrier()
        x = smem(32)
        with role("p", warps=1):
            for i in range(n):
                with elect():
                    init(full, 32)
                if before == 1:
                    bar_sync(1, 64)
                store(x[lane])
                if before == 1:
                    arrive(full)
                if before == 0:
                    arrive(full)
                    bar_sync(1, 64)
                if after == 1:
                    bar_sync(2, 64)
                with elect():
                    inval(full)
                warp_sync()
                if after == 0:
                    bar_sync(2, 64)
        with role("c", warps=1):
            for i in range(n):
                bar_sync(1, 64)
                wait(full, parity=0)
                load(x)
                bar_sync(2, 64)

    return kernel


def two_phases(second, each=2):
    """Two phases in each life: the parity of the second wait is 1."""

    @skeleton
    def kernel(n: size):
        f = mbarrier()
        x = smem()
        with role("copy", threads=1):
            for i in range(n):
                init(f, 1)
                arrive(f, tx=4096)
                tma_load(x, f, bytes=4096)
                wait(f, parity=0)
                if each == 2 or i % 2 == 0:
                    arrive(f, tx=4096)
                    tma_load(x, f, bytes=4096)
                    wait(f, parity=second)
                inval(f)

    return kernel


def reborn(declared_ends):
    """Declared with a count, ended, and initialised with another one's place in the text."""

    @skeleton
    def kernel():
        f = mbarrier(count=1)
        x = smem()
        with role("copy", threads=1):
            arrive(f, tx=4096)
            tma_load(x, f, bytes=4096)
            wait(f, parity=0)
            if declared_ends == 1:
                inval(f)
            init(f, 1)
            arrive(f, tx=4096)
            tma_load(x, f, bytes=4096)
            wait(f, parity=0)
            inval(f)

    return kernel


def used_after(last):
    """Ended in the trip before `last`."""

    @skeleton
    def kernel(n: size):
        require(n >= 1)
        f = mbarrier(count=1)
        with role("t", threads=1):
            for i in range(n):
                arrive(f)
                wait(f, parity=i)
                if i == n - 1 - last:
                    inval(f)

    return kernel


def memory(place, fence):
    """TMA overwrites the place of a barrier that has ended."""

    @skeleton
    def kernel():
        x = smem(64)
        f = mbarrier(count=1, at=x[32])
        g = mbarrier(count=1)
        with role("t", threads=1):
            arrive(f)
            wait(f, parity=0)
            if place == 1:
                inval(f)
            if fence == 1:
                proxy_fence()
            arrive(g, tx=512)
            tma_load(x, g, bytes=512)
            wait(g, parity=0)
            if place == 0:
                inval(f)

    return kernel


def early_store(ordered):
    """Memory that is written and read before a barrier begins in it."""

    @skeleton
    def kernel():
        x = smem(64)
        f = mbarrier(at=x[32])
        with role("t", threads=64):
            store(x[tid])
            cta_sync()
            load(x)
            if ordered == 1:
                cta_sync()
            if tid == 0:
                init(f, 64)
            cta_sync()
            arrive(f)
            wait(f, parity=0)
            cta_sync()
            if tid == 0:
                inval(f)

    return kernel


def remote(meets):
    """A peer arrives, and has done so when the barrier ends."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        f = mbarrier()
        with role("t", threads=32):
            for i in range(n):
                with elect():
                    init(f, 32)
                warp_sync()
                cluster_sync()
                arrive(peer(f, 1 - rank), scope="cluster")
                wait(f, parity=0, scope="cluster")
                if meets == 1:
                    warp_sync()
                if lane == 0:
                    inval(f)
                warp_sync()
            cluster_sync()

    return kernel


TWINS = [
    ("stated", tiles(parity=1), tiles()),
    ("alive", tiles(met=64), tiles()),
    ("alive", tiles(begun=64), tiles()),
    ("lives", tiles(once=1), tiles()),
    ("alive", tiles(waits=0), tiles()),
    ("init", rings(1), rings(2)),
    ("stated", rings(2, 1), rings(2)),
    ("alive", handed(0, 0), handed(1, 1)),
    ("alive", handed(1, 0), handed(1, 1)),
    ("stated", two_phases(0), two_phases(1)),
    ("lives", reborn(0), reborn(1)),
    ("alive", used_after(1), used_after(0)),
    ("mbar.alias", memory(0, 1), memory(1, 1)),
    ("cells", memory(1, 0), memory(1, 1)),
    ("cells", early_store(0), early_store(1)),
    ("alive", remote(0), remote(1)),
]
