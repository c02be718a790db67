"""Twins for named barriers that two teams use at different times."""

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


TWINS = [
    ("shared/barrier 5", turns(2), turns(1)),
    ("shared/barrier 5", early(1), early(0)),
]
