"""Twins for loops that are cut differently in two roles: peeled trips, trips before and behind a loop, nested loops."""

from exogpu.skeleton import *

S = 4


def nests(length, flat_load, flat_math, ahead=0):
    """One side walks the ring in a flat loop, the other tile by tile."""

    @skeleton
    def kernel(tiles: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=1)
        x = smem(S)
        with role("load", threads=1):
            if flat_load:
                for i in range(tiles * length):
                    wait(empty[i % S], parity=i // S + 1)
                    store(x[i % S])
                    arrive(full[i % S])
            else:
                for t in range(tiles):
                    for k in range(length):
                        wait(empty[(t * length + k) % S], parity=(t * length + k) // S + 1)
                        store(x[(t * length + k) % S])
                        arrive(full[(t * length + k) % S])
        with role("math", threads=1):
            if flat_math:
                for i in range(tiles * length):
                    wait(full[i % S], parity=i // S)
                    load(x[(i + ahead) % S])
                    arrive(empty[i % S])
            else:
                for t in range(tiles):
                    for k in range(length):
                        wait(full[(t * length + k) % S], parity=(t * length + k) // S)
                        load(x[(t * length + k + ahead) % S])
                        arrive(empty[(t * length + k) % S])

    return kernel


def staged(length, late):
    """A tile's result is staged in a slot of the ring that a flat loop fills."""

    @skeleton
    def kernel(tiles: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=1)
        stored = mbarrier(count=1)
        x = smem(S)
        with role("load", threads=1):
            for i in range(tiles * length):
                if i >= length and i % length == late:
                    wait(stored, parity=i // length - 1)
                wait(empty[i % S], parity=i // S + 1)
                store(x[i % S])
                arrive(full[i % S])
        with role("math", threads=1):
            for t in range(tiles):
                for k in range(length):
                    wait(full[(t * length + k) % S], parity=(t * length + k) // S)
                    load(x[(t * length + k) % S])
                    arrive(empty[(t * length + k) % S])
                store(x[S - 1])
                arrive(stored)

    return kernel


def peeled(first, rest):
    """The first trip of one role stands before its loop."""

    @skeleton
    def kernel(n: size):
        require(n >= 1)
        full = mbarrier(count=1)
        with role("a", threads=32):
            for i in range(n):
                bar_sync(1, 64)
        with role("b", threads=32):
            if first:
                bar_sync(1, 64)
            for i in range(rest, n):
                bar_sync(1, 64)
        with role("c", threads=1):
            arrive(full)

    return kernel


def announced_later(drained, lag=1):
    """Each trip announces the trip before, and the last one is announced behind the loop."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(3, count=1)
        empty = mbarrier(3, count=1)
        x = smem(3)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % 3], parity=i // 3 + 1)
                store(x[i % 3])
                if i >= lag:
                    arrive(full[(i - lag) % 3])
            if drained:
                for i in range(max(n - lag, 0), n):
                    arrive(full[i % 3])
        with role("math", threads=1):
            for i in range(n):
                wait(full[i % 3], parity=i // 3)
                load(x[i % 3])
                arrive(empty[i % 3])

    return kernel


def ahead(lag, more=0):
    """A prologue fills slots ahead of the loop."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(3, count=1)
        empty = mbarrier(3, count=1)
        x = smem(3)
        with role("load", threads=1):
            for i in range(min(n, lag)):
                store(x[i % 3])
                arrive(full[i % 3])
            for i in range(lag, n):
                wait(empty[i % 3], parity=(i - 3) // 3 + more)
                store(x[i % 3])
                arrive(full[i % 3])
        with role("math", threads=1):
            for i in range(n):
                wait(full[i % 3], parity=i // 3)
                load(x[i % 3])
                arrive(empty[i % 3])

    return kernel


def two_halves(second):
    """One role has two loops, the other one loop over all of it."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        x = smem(2)
        with role("load", threads=1):
            c = 0
            for i in range(n):
                wait(empty[c % 2], parity=c // 2 + 1)
                store(x[c % 2])
                arrive(full[c % 2])
                c += 1
            for i in range(second * n):
                wait(empty[c % 2], parity=c // 2 + 1)
                store(x[c % 2])
                arrive(full[c % 2])
                c += 1
        with role("math", threads=1):
            for i in range(2 * n):
                wait(full[i % 2], parity=i // 2)
                load(x[i % 2])
                arrive(empty[i % 2])

    return kernel


def answered(first, most=5):
    """From a size on, a role waits in a loop for what another does when it has heard of the time behind this loop, or
    before it; an inner loop with other statements has iterations at smaller sizes only."""

    @skeleton
    def kernel(m: size):
        asked = mbarrier(count=32)
        answer = mbarrier(count=32)
        with role("a", warps=1):
            if first:
                arrive(asked)
            for i in range(1):
                for j in range(2):
                    if m >= most:
                        if j == 0:
                            wait(answer, parity=0)
                    for k in range(most - m):
                        warp_sync()
            if not first:
                arrive(asked)
        with role("b", warps=1):
            wait(asked, parity=0)
            if m >= most:
                arrive(answer)

    return kernel


def handed_back(abroad):
    """A slot is read by ordinary loads and handed back to the producers of both CTAs. The other one's copies into it
    (`abroad`), or the own one's: for this an arrival of any scope will do."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(count=1)
        empty = mbarrier(count=8)
        x = smem(2)
        y = smem()
        acc = registers()
        with role("load", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1, scope="cluster")
                arrive(full, tx=128)
                tma_load(x[rank], full, bytes=32, multicast=(0, 1))
                if abroad:
                    tma_load(y, full, bytes=64, multicast=(1 - rank,))
                else:
                    tma_load(y, full, bytes=64)
            wait(empty, parity=n + 1, scope="cluster")
            exit()
        with role("math", warps=4):
            for i in range(n):
                wait(full, parity=i)
                load(y)
                wgmma_fence()
                wgmma(acc, x)
                wgmma_commit()
                wgmma_wait(0)
                proxy_fence()
                warp_sync()
                if lane < 2:
                    arrive(peer(empty, lane))
            exit()

    return kernel


TWINS = [
    ("y", handed_back(abroad=True), handed_back(abroad=False)),
    ("race.raw", nests(6, True, False, ahead=1), nests(6, True, False)),
    ("race.raw", nests(7, False, True, ahead=1), nests(7, False, True)),
    ("race.raw", nests(5, False, False, ahead=1), nests(5, False, False)),
    ("race.waw", staged(6, S - 1), staged(6, 0)),
    ("race.waw", staged(5, S - 1), staged(5, 0)),
    ("progress", peeled(True, 2), peeled(True, 1)),
    ("progress", peeled(False, 1), peeled(False, 0)),
    ("progress", announced_later(False), announced_later(True)),
    ("progress", announced_later(True, 3), announced_later(True, 2)),
    ("parity/empty", ahead(3, more=1), ahead(3)),
    ("progress", two_halves(0), two_halves(1)),
    ("progress", answered(False), answered(True)),
]
