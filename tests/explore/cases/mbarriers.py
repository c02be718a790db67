"""Twins about phases of mbarriers: the first of each pair breaks the rule, the second does not."""

from exogpu.skeleton import *


@skeleton
def count_high():
    done = mbarrier(count=33)
    with role("a", warps=1):
        arrive(done)
    with role("b", threads=1):
        wait(done, parity=0)


@skeleton
def count_right():
    done = mbarrier(count=32)
    with role("a", warps=1):
        arrive(done)
    with role("b", threads=1):
        wait(done, parity=0)


@skeleton
def more_than_pending():
    full = mbarrier(count=1)
    x = smem()
    with role("a", threads=1):
        arrive(full, tx=64)
        arrive(full)
        tma_load(x, full, bytes=64)


@skeleton
def as_pending():
    full = mbarrier(count=2)
    x = smem()
    with role("a", threads=1):
        arrive(full, tx=64)
        arrive(full)
        tma_load(x, full, bytes=64)


@skeleton
def bytes_short():
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(full, tx=128)
        tma_load(x, full, bytes=64)
    with role("use", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def bytes_right():
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(full, tx=64)
        tma_load(x, full, bytes=64)
    with role("use", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def bytes_of_two():
    """Two copies on one barrier, one announcement of their sum."""
    full = mbarrier(count=1)
    x = smem(2)
    with role("load", threads=1):
        arrive(full, tx=128)
        tma_load(x[0], full, bytes=64)
        tma_load(x[1], full, bytes=64)
    with role("use", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def overtaken(n: size):
    """The leader frees the slot; nothing keeps the other warp from sleeping through two phases."""
    ready = mbarrier(2, count=1)
    free = mbarrier(2, count=1)
    x = smem(2)
    with role("make", threads=1):
        for i in range(n):
            wait(free[i % 2], parity=i // 2 + 1)
            store(x[i % 2])
            arrive(ready[i % 2])
    with role("use", warps=2):
        for i in range(n):
            bar_sync(1, 64)
            wait(ready[i % 2], parity=i // 2)
            if warp == 0:
                with elect():
                    arrive(free[i % 2])


@skeleton
def not_overtaken(n: size):
    ready = mbarrier(2, count=1)
    free = mbarrier(2, count=1)
    x = smem(2)
    with role("make", threads=1):
        for i in range(n):
            wait(free[i % 2], parity=i // 2 + 1)
            store(x[i % 2])
            arrive(ready[i % 2])
    with role("use", warps=2):
        for i in range(n):
            wait(ready[i % 2], parity=i // 2)
            load(x[i % 2])
            bar_sync(1, 64)
            if warp == 0:
                with elect():
                    arrive(free[i % 2])


@skeleton
def unobserved(n: size):
    """Nothing but the rule is broken: the phases are never waited for, but the last."""
    b = mbarrier(count=1)
    with role("a", threads=1):
        for i in range(n):
            arrive(b)


@skeleton
def observed(n: size):
    b = mbarrier(count=1)
    with role("a", threads=1):
        for i in range(n):
            arrive(b)
            wait(b, parity=i)


@skeleton
def one_lane_releases():
    full = mbarrier(count=1)
    x = smem(32)
    with role("make", warps=1):
        store(x[lane])
        with elect():
            arrive(full)
    with role("use", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def one_lane_after_all():
    full = mbarrier(count=1)
    x = smem(32)
    with role("make", warps=1):
        store(x[lane])
        warp_sync()
        with elect():
            arrive(full)
    with role("use", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def cycle(n: size):
    """Each waits for what the other does only then."""
    a = mbarrier(count=1)
    b = mbarrier(count=1)
    with role("p", threads=1):
        for i in range(n):
            wait(a, parity=i)
            arrive(b)
    with role("q", threads=1):
        for i in range(n):
            wait(b, parity=i)
            arrive(a)


@skeleton
def no_cycle(n: size):
    a = mbarrier(count=1)
    b = mbarrier(count=1)
    with role("p", threads=1):
        for i in range(n):
            wait(a, parity=i)
            arrive(b)
    with role("q", threads=1):
        for i in range(n):
            arrive(a)
            wait(b, parity=i)


@skeleton
def announced_too_late():
    """The arrival can come before the bytes are announced, and then completes the phase."""
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        expect(full, 64)
        tma_load(x, full, bytes=64)
    with role("start", threads=1):
        arrive(full)
    with role("use", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def announced_before():
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        expect(full, 64)
        tma_load(x, full, bytes=64)
        arrive(full)
    with role("use", threads=1):
        wait(full, parity=0)
        load(x)


TWINS = [
    ("deadlock.cycle", count_high, count_right),
    ("mbar.count", more_than_pending, as_pending),
    ("mbar.tx_bytes", bytes_short, bytes_right),
    ("mbar.tx_bytes", bytes_short, bytes_of_two),
    ("deadlock.cycle", overtaken, not_overtaken),
    ("mbar.unobserved_phase", unobserved, observed),
    ("mbar.lane_release", one_lane_releases, one_lane_after_all),
    ("deadlock.cycle", cycle, no_cycle),
    ("race.raw", announced_too_late, announced_before),
]
