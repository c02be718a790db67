"""Twins for loops that are written in parts."""

from exogpu.skeleton import *


def last_apart(least=1, slot=1):
    """The last tile is written by itself; barriers go by turns, and so does what is said back."""

    @skeleton
    def kernel(n: size):
        y = smem(2, 64)
        with role("math", threads=64):
            for t in range(n - 1):
                if t >= 2:
                    bar_sync(2 + 4 * (t % 2), 96)
                store(y[t % 2, tid])
                bar_arrive(1 + 4 * (t % 2), 96)
            if n >= least:
                if n - 1 >= 2:
                    bar_sync(2 + 4 * ((n - 1) % 2), 96)
                store(y[(n - slot) % 2, tid])
                bar_arrive(1 + 4 * ((n - 1) % 2), 96)
        with role("io", threads=32):
            for t in range(n):
                bar_sync(1 + 4 * (t % 2), 96)
                load(y[t % 2])
                if t + 2 < n:
                    bar_arrive(2 + 4 * (t % 2), 96)

    return kernel


def in_pieces(first=1, then=0, tested=0):
    """The first iteration by itself, then two, then the others; who waits has mbarriers for each slot."""

    @skeleton
    def kernel(n: size):
        require(n >= 3)
        full = mbarrier(2, count=1)
        even = mbarrier(count=1)
        odd = mbarrier(count=1)
        x = smem(2)
        with role("p", threads=1):
            for i in range(n):
                if i % 2 == 0:
                    wait(even, parity=i // 2 + 1)
                else:
                    wait(odd, parity=i // 2 + 1)
                store(x[i % 2])
                arrive(full[i % 2])
        with role("c", threads=1):
            if n > 0:
                wait(full[0], parity=0)
                load(x[0])
                if tested == 0:
                    arrive(even)
            for i in range(first, 3):
                wait(full[i % 2], parity=i // 2)
                load(x[i % 2])
                if i % 2 == 0:
                    arrive(even)
                else:
                    arrive(odd)
            for k in range(3 + then, n):
                wait(full[k % 2], parity=k // 2)
                load(x[k % 2])
                if k % 2 == 0:
                    arrive(even)
                else:
                    arrive(odd)

    return kernel


def by_blocks(trips, lag=3, stride=3):
    """One role counts blocks of three steps, and gives slots back later; the other counts steps."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(4, count=1)
        empty = mbarrier(4, count=1)
        x = smem(4)
        with role("p", threads=1):
            for i in range(3 * n):
                wait(empty[i % 4], parity=i // 4 + 1)
                store(x[i % 4])
                arrive(full[i % 4])
        with role("c", threads=1):
            for t in range(n):
                for i in range(trips):
                    wait(full[(stride * t + i) % 4], parity=(stride * t + i) // 4)
                    load(x[(3 * t + i) % 4])
                    if 3 * t + i >= lag:
                        arrive(empty[(3 * t + i - 3) % 4])

    return kernel


TWINS = [
    ("progress", last_apart(least=2), last_apart()),
    ("y/", last_apart(slot=0), last_apart()),
    ("observed/full", in_pieces(first=2), in_pieces()),
    ("progress", in_pieces(then=1), in_pieces()),
    ("progress", in_pieces(tested=1), in_pieces()),
    ("progress", by_blocks(2), by_blocks(3)),
    ("progress", by_blocks(3, lag=4), by_blocks(3)),
    ("progress", by_blocks(3, stride=4), by_blocks(3)),
]
