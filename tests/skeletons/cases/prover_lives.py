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


def many_phases(behind):
    """As many phases in each life as a size says; parities that go on behind the end of a life."""

    @skeleton
    def kernel(tiles: size, n: size):
        require(tiles >= 2 and n >= 1)
        full = mbarrier()
        x = smem()
        with role("all", threads=128):
            c = 0
            for t in range(tiles):
                if tid == 0:
                    init(full, 1)
                cta_sync()
                for i in range(n):
                    if tid == 0:
                        arrive(full, tx=512)
                        tma_load(x, full, bytes=512)
                    if behind == 1:
                        wait(full, parity=c)
                    else:
                        wait(full, parity=i)
                    load(x)
                    proxy_fence()
                    cta_sync()
                    c += 1
                if tid == 0:
                    inval(full)

    return kernel


def ring_of_tiles(lag):
    """A ring that starts anew for each tile, with all that belongs to it; the consumer ends it."""

    @skeleton
    def kernel(tiles: size):
        full = mbarrier(2)
        empty = mbarrier(2)
        x = smem(2)
        with role("p", threads=32):
            for t in range(tiles):
                bar_sync(1, 64)
                for i in range(4):
                    if tid == 0:
                        wait(empty[i % 2], parity=i // 2 + lag)
                        arrive(full[i % 2], tx=512)
                        tma_load(x[i % 2], full[i % 2], bytes=512)
                bar_sync(2, 64)
        with role("c", threads=32):
            for t in range(tiles):
                if tid == 0:
                    for s in range(2):
                        init(full[s], 1)
                        init(empty[s], 32)
                bar_sync(1, 64)
                for i in range(4):
                    wait(full[i % 2], parity=i // 2)
                    load(x[i % 2])
                    proxy_fence()
                    arrive(empty[i % 2])
                bar_sync(2, 64)
                if tid == 0:
                    for s in range(2):
                        inval(full[s])
                        inval(empty[s])

    return kernel


def scratch(meets, first=0, declared=0):
    """The place of a barrier serves as scratch memory between its lives."""

    @skeleton
    def kernel(tiles: size):
        x = smem(64)
        if declared == 1:  # noqa: SIM108 - declarations are no expressions
            f = mbarrier(count=64, at=x[0])
        else:
            f = mbarrier(at=x[0])
        with role("all", threads=64):
            for t in range(tiles):
                if first == 1:
                    store(x[63 - tid])
                    cta_sync()
                if declared == 0:
                    if tid == 0:
                        init(f, 64)
                    cta_sync()
                arrive(f)
                wait(f, parity=0)
                cta_sync()
                if tid == 0:
                    inval(f)
                if meets == 1:
                    cta_sync()
                if first == 0:
                    store(x[63 - tid])
                    cta_sync()
                if declared == 1:
                    if tid == 0:
                        init(f, 64)
                    cta_sync()

    return kernel


def stored(waits):
    """A copy has read the cells of the life before when the next life begins."""

    @skeleton
    def kernel(tiles: size):
        x = smem()
        f = mbarrier(at=x)
        with role("all", threads=1):
            for t in range(tiles):
                init(f, 1)
                arrive(f)
                wait(f, parity=0)
                inval(f)
                proxy_fence()
                tma_store(x)
                bulk_commit()
                bulk_wait_read(1 - waits)

    return kernel


TWINS = [
    ("cells", stored(0), stored(1)),
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
    ("stated", many_phases(1), many_phases(0)),
    ("progress", ring_of_tiles(0), ring_of_tiles(1)),
    ("cells", scratch(0), scratch(1)),
    ("cells", scratch(1, first=1, declared=1), scratch(1, first=1)),
    ("cells", scratch(1, first=1, declared=1), scratch(1, declared=1)),
]
