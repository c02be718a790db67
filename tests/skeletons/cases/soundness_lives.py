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


def heard(by_flag, relaxed):
    """A wait of each life passes at once. What was stored in the life before is known since the end of that life came
    after it, by a flag or by a wait, or is not known, since that was relaxed."""

    @skeleton
    def kernel(n: size):
        b = mbarrier()
        x = smem()
        begun = flags()
        read = flags()
        told = flags()
        with role("m", threads=1):
            for i in range(n):
                init(b, 1)
                signal(begun, i + 1)
                spin(read, i + 1)
                if by_flag > 0:
                    spin(told, i + 1, relaxed=relaxed)
                else:
                    wait(b, 0, relaxed=relaxed)
                inval(b)
        with role("b", threads=1):
            for i in range(n):
                spin(begun, i + 1)
                wait(b, 1)
                load(x)
                signal(read, i + 1)
        with role("a", threads=1):
            for i in range(n):
                spin(read, i + 1)
                store(x)
                arrive(b)
                if by_flag > 0:
                    signal(told, i + 1)

    return kernel


def fenced(relaxed):
    """Later lives begin with a fence for mbarriers, which tells of them but not of what was before."""

    @skeleton
    def kernel(n: size):
        b = mbarrier()
        x = smem()
        read = flags()
        told = flags()
        with role("m", threads=32):
            for i in range(n):
                with elect():
                    init(b, 1)
                    init_fence()
                cluster_arrive(relaxed=relaxed)
                cluster_wait()
                with elect():
                    spin(read, i + 1)
                    spin(told, i + 1)
                    inval(b)
        with role("b", threads=32):
            for i in range(n):
                cluster_arrive(relaxed=True)
                cluster_wait()
                with elect():
                    wait(b, 1)
                    load(x)
                    signal(read, i + 1)
        with role("a", threads=32):
            for i in range(n):
                cluster_arrive(relaxed=True)
                cluster_wait()
                with elect():
                    spin(read, i + 1)
                    store(x)
                    arrive(b)
                    signal(told, i + 1)

    return kernel


def again(once_more):
    """The other one of two mbarriers ends that are initialised before the roles start; this one begins again, or goes
    on."""

    @skeleton
    def kernel():
        b = mbarrier(2, count=1)
        with role("a", threads=1):
            if once_more > 0:
                init(b[1], 1)
            arrive(b[1])
            wait(b[1], 0)
            inval(b[0])

    return kernel


TWINS = [
    ("deadlock.cycle | mbar.reinit", succession(over=0), succession()),
    ("mbar.reinit | mbar.init_unordered", succession(begun=0), succession()),
    ("deadlock.cycle | race.raw", succession(parity=1), succession()),
    ("race.raw", heard(1, True), heard(1, False)),
    ("race.raw", heard(0, True), heard(0, False)),
    ("race.raw", fenced(True), fenced(False)),
    ("mbar.reinit", again(1), again(0)),
]
