"""Twins for named barriers that two teams use at different times, and for waits by some threads and by all."""

from exogpu.skeleton import *


def turns(times):
    """Two warpgroups take turns, and each meets by itself at one id; one of them once or, out of turn, `times` two."""

    @skeleton
    def kernel(n: size):
        x = smem(128)
        with role("a", threads=128):
            for i in range(n):
                bar_sync(1, 256)
                bar_sync(5, 128)
                bar_arrive(2, 256)
                if times == 2:
                    store(x[tid])
                    bar_sync(5, 128)
                    load(x)
        with role("b", threads=128):
            bar_arrive(1, 256)
            for i in range(n):
                bar_sync(2, 256)
                bar_sync(5, 128)
                bar_arrive(1, 256)

    return kernel


def early(which):
    """One warp hands the barrier over when `which` of the other warps may not have come to it yet."""

    @skeleton
    def kernel():
        x = smem(128)
        with role("a", threads=128):
            store(x[tid])
            if which == 0:
                bar_sync(5, 128)
            if warp == 0:
                bar_arrive(6, 160)
            if which == 1:
                bar_sync(5, 128)
            load(x)
        with role("b", threads=128):
            bar_sync(6, 160)
            bar_sync(5, 128)

    return kernel


def by_one_or_all(meets):
    """Of every other phase one lane waits for all, who then meet, or not."""

    @skeleton
    def kernel(n: size):
        x = smem(1)
        full = mbarrier(count=1)
        empty = mbarrier(count=32)
        with role("p", threads=32), elect():
            for i in range(n):
                wait(empty, parity=1)
                arrive(full, tx=128)
                tma_load(x, full, bytes=128)
                wait(empty, parity=0)
                arrive(full, tx=128)
                tma_load(x, full, bytes=128)
        with role("c", threads=32):
            c = 0
            for i in range(n):
                with elect():
                    wait(full, parity=c)
                c += 1
                if meets:
                    bar_sync(1, 32)
                load(x)
                proxy_fence()
                arrive(empty)
                wait(full, parity=c)
                c += 1
                load(x)
                proxy_fence()
                arrive(empty)

    return kernel


def relay(told, times=1):
    """One id for two pairs of roles, one after the other: the third one is told when its turn comes, or not."""

    @skeleton
    def kernel(n: size):
        x = smem(32)
        y = smem(32)
        with role("a", warps=1):
            for i in range(n * times + 1):
                bar_sync(3, 64)
                store(x[tid])
                bar_sync(1, 64)
        with role("b", warps=1):
            for i in range(n * times + 1):
                bar_sync(1, 64)
                load(x)
                store(y[tid])
                if told:
                    bar_arrive(2, 64)
                bar_sync(1, 64)
        with role("c", warps=1):
            bar_arrive(3, 64)
            for i in range(n * times + 1):
                if told:
                    bar_sync(2, 64)
                bar_sync(1, 64)
                load(y)
                bar_arrive(3, 64)

    return kernel


def both_ways(behind):
    """Two roles meet at an id at which one only arrives the next time; who goes on is told by another."""

    @skeleton
    def kernel(n: size):
        x = smem(32)
        with role("a", warps=1):
            for i in range(n):
                bar_sync(1, 64)
                store(x[tid])
                bar_arrive(1, 64)
                if behind:
                    bar_sync(2, 64)
        with role("b", warps=1):
            for i in range(n):
                bar_sync(1, 64)
                bar_sync(1, 64)
                load(x)
                if behind:
                    bar_arrive(2, 64)

    return kernel


TWINS = [
    ("shared/barrier 5", turns(2), turns(1)),
    ("shared/barrier 5", early(1), early(0)),
    ("shared/barrier 1", relay(False, 0), relay(True, 0)),
    ("shared/barrier 1", relay(False), relay(True)),
    ("bar.recycle", both_ways(False), both_ways(True)),
    ("race.raw", by_one_or_all(False), by_one_or_all(True)),
]
