"""Twins for mbarrier arrays in one place: one is over before the other begins."""

from exogpu.skeleton import *


def in_one_place(over=1, ended=2):
    """Two arrays in one place, with roles and counts of their own, one after the other."""

    @skeleton
    def kernel(n: size):
        place = smem(2)
        f = mbarrier(2, at=place[0])
        g = mbarrier(2, at=place[0])
        x = smem(2, 32)
        y = smem(2, 32)
        with role("a", warps=1):
            with elect():
                init(f[0], 32)
                init(f[1], 32)
            bar_sync(1, 64)
            for i in range(2):
                store(x[i, lane])
                arrive(f[i])
            if over == 1:
                bar_sync(2, 64)
            with elect():
                init(g[0], 1)
                init(g[1], 1)
            bar_sync(3, 64)
            for i in range(n):
                wait(g[i % 2], parity=i // 2)
                load(y)
                bar_sync(4, 64)
        with role("b", warps=1):
            bar_sync(1, 64)
            for i in range(2):
                wait(f[i], parity=0)
            load(x)
            warp_sync()
            with elect():
                for i in range(ended):
                    inval(f[i])
            if over == 1:
                bar_sync(2, 64)
            bar_sync(3, 64)
            for i in range(n):
                store(y[i % 2, lane])
                warp_sync()
                with elect():
                    arrive(g[i % 2])
                bar_sync(4, 64)

    return kernel


TWINS = [
    ("cells/f/g", in_one_place(over=0), in_one_place()),
    ("cells/f/g", in_one_place(ended=1), in_one_place()),
]
