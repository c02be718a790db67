"""Twins for named barriers that the variable of a loop with constant bounds tells apart."""

from exogpu.skeleton import *


def ring(given, slots=2):
    """A ring of named barriers, of which the consumer gives the producer the first `given` at the start."""

    @skeleton
    def kernel(n: size):
        tile = smem(slots, 32)
        with role("p", warps=1):
            for i in range(n):
                bar_sync(5 + i % slots, 64)
                store(tile[i % slots, lane])
                bar_arrive(1 + i % slots, 64)
        with role("c", warps=1):
            for s in range(given):
                bar_arrive(5 + s, 64)
            for i in range(n):
                bar_sync(1 + i % slots, 64)
                load(tile[i % slots])
                bar_arrive(5 + i % slots, 64)

    return kernel


def both(last):
    """The id depends on a loop that is unrolled and on one that goes round."""

    @skeleton
    def kernel(n: size):
        x = smem(2, 2, 32)
        with role("p", warps=1):
            for i in range(n):
                for s in range(2):
                    store(x[i % 2, s, lane])
                    bar_arrive(1 + 2 * s + i % 2, 64)
                bar_sync(5, 64)
        with role("c", warps=1):
            for i in range(n):
                for s in range(last):
                    bar_sync(1 + 2 * s + i % 2, 64)
                load(x[i % 2])
                bar_arrive(5, 64)

    return kernel


def far(id):
    """A loop that is too long to be unrolled need not be where its ids go round."""

    @skeleton
    def kernel():
        x = smem(32)
        with role("p", warps=1):
            for i in range(40):
                store(x[lane])
                bar_arrive(1 + i % 2, 64)
                bar_sync(3, 64)
        with role("c", warps=1):
            for i in range(40):
                bar_sync(1 + i % 2, 64)
                load(x)
                bar_sync(id, 64)

    return kernel


def several(last):
    """Flags that a loop with constant bounds goes through."""

    @skeleton
    def kernel():
        x = gmem(2)
        f = flags(2)
        with role("p", threads=1):
            for s in range(2):
                store(x[s])
                signal(f[s], 1)
        with role("c", threads=1):
            for s in range(last):
                spin(f[s], 1)
            load(x)

    return kernel


def look_back(early=False):
    """Each CTA but the first one waits for the flag of the one before. `early`: it tells the next before it is done."""

    @skeleton
    def kernel():
        cluster(4)
        ready = flags(4)
        prefix = gmem(4)
        with role("scan", threads=1):
            if rank > 0:
                spin(ready[rank - 1], 1)
                load(prefix[rank - 1])
            if early:
                signal(ready[rank], 1)
                store(prefix[rank])
            else:
                store(prefix[rank])
                signal(ready[rank], 1)

    return kernel


def warps(begins):
    """Three warps of a role take turns at ids that an expression gives; the last one begins, or nobody does."""

    @skeleton
    def kernel(n: size):
        x = smem(32)
        with role("math", warps=3):
            if tid >= begins:
                bar_arrive(1, 64)
            for i in range(n):
                bar_sync(1 + warp, 64)
                store(x[lane])
                warp_sync()
                load(x)
                bar_arrive(1 + (warp + 1) % 3, 64)

    return kernel


def counted(given):
    """The id goes round with a counter of two nested loops."""

    @skeleton
    def kernel(n: size):
        x = smem(2, 32)
        with role("p", warps=1):
            c = 0
            for i in range(n):
                for k in range(2):
                    bar_sync(3 + c % 2, 64)
                    store(x[c % 2, lane])
                    bar_arrive(1 + c % 2, 64)
                    c += 1
        with role("c", warps=1):
            for s in range(given):
                bar_arrive(3 + s, 64)
            for i in range(2 * n):
                bar_sync(1 + i % 2, 64)
                load(x[i % 2])
                bar_arrive(3 + i % 2, 64)

    return kernel


def values(least, readers):
    """Each warp spins for a value of its own."""

    @skeleton
    def kernel():
        f = flags()
        x = gmem(readers)
        with role("p", threads=1):
            for i in range(readers):
                store(x[i])
                signal(f, i + 1)
        with role("c", warps=readers):
            spin(f, least + tid // 32)
            load(x[tid // 32])

    return kernel


def tickets(published=True, skips=0, early=False):
    """The CTAs of a cluster add to each tile in turn: each waits for what those before it have added to the flag."""

    @skeleton
    def kernel():
        cluster(2)
        turn = flags(3)
        tile = gmem(3, 64)
        with role("all", threads=64):
            for m in range(3):
                if tid == 0:
                    spin(turn[m], rank + skips * rank)
                cta_sync()
                load(tile[m, tid])
                if early:
                    if tid == 0:
                        signal_add(turn[m], 1)
                store(tile[m, tid])
                cta_sync()
                if not early:
                    if tid == 0:
                        if published:
                            fence("gpu")
                        signal_add(turn[m], 1, relaxed=True)

    return kernel


def alternate(behind):
    """Two threads write a cell in turn: the second waits for what the first has added to the flag in this round."""

    @skeleton
    def kernel(n: size):
        turn = flags()
        cell = gmem()
        with role("one", threads=1):
            for i in range(n):
                spin(turn, 2 * i)
                store(cell)
                signal_add(turn, 1)
        with role("other", threads=1):
            for i in range(n):
                spin(turn, 2 * i + behind)
                store(cell)
                signal_add(turn, 1)

    return kernel


TWINS = [
    ("race.waw", alternate(0), alternate(1)),
    ("race.raw", tickets(published=False), tickets()),
    ("race.raw", tickets(early=True), tickets()),
    ("deadlock.cycle", tickets(skips=1), tickets()),
    ("race.raw", values(0, 4), values(1, 4)),
    ("race.raw", values(0, 1), values(1, 1)),
    ("deadlock.cycle", ring(1), ring(2)),
    ("deadlock.cycle", ring(2, 3), ring(3, 3)),
    ("race.raw", both(1), both(2)),
    ("bar.count", far(4), far(3)),
    ("deadlock.cycle", warps(96), warps(64)),
    ("deadlock.cycle", counted(1), counted(2)),
    ("race.raw", several(1), several(2)),
    ("race.war", look_back(early=True), look_back()),
]
