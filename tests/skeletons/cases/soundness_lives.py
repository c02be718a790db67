"""Twins for lives of mbarriers that the text tells apart."""

from exogpu.skeleton import *


def succession(over=1, begun=1, parity=0):
    """A ring, and in its place another one, of the same roles the other way round and with other counts."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2)
        x = smem(2, 32)
        y = smem(2, 32)
        with role("a", warps=1):
            with elect():
                init(full[0], 32)
                init(full[1], 32)
            bar_sync(1, 64)
            for i in range(2):
                store(x[i, lane])
                arrive(full[i])
            if over == 1:
                bar_sync(2, 64)
            with elect():
                inval(full[0])
                inval(full[1])
                init(full[0], 1)
                init(full[1], 1)
            if begun == 1:
                bar_sync(3, 64)
            for i in range(n):
                wait(full[i % 2], parity=i // 2 + parity)
                load(y)
                bar_sync(4, 64)
        with role("b", warps=1):
            bar_sync(1, 64)
            for i in range(2):
                wait(full[i], parity=0)
            load(x)
            if over == 1:
                bar_sync(2, 64)
            if begun == 1:
                bar_sync(3, 64)
            for i in range(n):
                store(y[i % 2, lane])
                warp_sync()
                with elect():
                    arrive(full[i % 2])
                bar_sync(4, 64)

    return kernel


TWINS = [
    ("deadlock.cycle | mbar.reinit", succession(over=0), succession()),
    ("mbar.reinit | mbar.init_unordered", succession(begun=0), succession()),
    ("deadlock.cycle | race.raw", succession(parity=1), succession()),
]
