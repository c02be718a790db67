"""Twins about the lives of mbarriers: the first of each pair breaks the rule, the second does not."""

from exogpu.skeleton import *


@skeleton
def never_initialised():
    b = mbarrier()
    with role("a", threads=1):
        arrive(b)


@skeleton
def initialised():
    b = mbarrier()
    with role("a", threads=1):
        init(b, 1)
        arrive(b)


@skeleton
def init_unordered():
    b = mbarrier()
    with role("all", threads=64):
        if tid == 0:
            init(b, 64)
        arrive(b)
        wait(b, parity=0)


@skeleton
def init_ordered():
    b = mbarrier()
    with role("all", threads=64):
        if tid == 0:
            init(b, 64)
        cta_sync()
        arrive(b)
        wait(b, parity=0)


@skeleton
def initialised_twice(n: size):
    b = mbarrier()
    with role("a", threads=1):
        for i in range(n):
            init(b, 1)
            arrive(b)
            wait(b, parity=0)


@skeleton
def invalidated(n: size):
    b = mbarrier()
    with role("a", threads=1):
        for i in range(n):
            init(b, 1)
            arrive(b)
            wait(b, parity=0)
            inval(b)


@skeleton
def scratch_over_barrier():
    x = smem(4)
    b = mbarrier(1, count=1, at=x[3])
    with role("a", threads=1):
        store(x)
        arrive(b[0])
        wait(b[0], parity=0)


@skeleton
def scratch_beside_barrier():
    x = smem(4)
    b = mbarrier(1, count=1, at=x[3])
    with role("a", threads=1):
        store(x[0:3])
        arrive(b[0])
        wait(b[0], parity=0)


@skeleton
def invalidated_too_soon():
    """One thread invalidates while another may still wait."""
    b = mbarrier()
    with role("all", threads=64):
        if tid == 0:
            init(b, 64)
        cta_sync()
        arrive(b)
        wait(b, parity=0)
        if tid == 0:
            inval(b)


@skeleton
def invalidated_after_all():
    b = mbarrier()
    with role("all", threads=64):
        if tid == 0:
            init(b, 64)
        cta_sync()
        arrive(b)
        wait(b, parity=0)
        cta_sync()
        if tid == 0:
            inval(b)


@skeleton
def reused_too_soon():
    """The memory of an invalidated barrier is used without order."""
    x = smem(1)
    b = mbarrier(1, at=x[0])
    with role("all", threads=64):
        if tid == 0:
            init(b[0], 1)
            arrive(b[0])
            wait(b[0], parity=0)
            inval(b[0])
        if tid == 40:
            store(x[0])


@skeleton
def reused_in_order():
    x = smem(1)
    b = mbarrier(1, at=x[0])
    with role("all", threads=64):
        if tid == 0:
            init(b[0], 1)
            arrive(b[0])
            wait(b[0], parity=0)
            inval(b[0])
        cta_sync()
        if tid == 40:
            store(x[0])


@skeleton
def invalidated_after_bytes():
    """Who waits for the bytes knows that the copy's use of the barrier is over."""
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(full, tx=64)
        tma_load(x, full, bytes=64)
    with role("use", threads=1):
        wait(full, parity=0)
        inval(full)


TWINS = [
    ("mbar.uninit", never_initialised, initialised),
    ("mbar.init_unordered", init_unordered, init_ordered),
    ("mbar.reinit", initialised_twice, invalidated),
    ("mbar.alias", scratch_over_barrier, scratch_beside_barrier),
    ("mbar.reinit", invalidated_too_soon, invalidated_after_all),
    ("mbar.alias", reused_too_soon, reused_in_order),
    ("mbar.reinit", invalidated_too_soon, invalidated_after_bytes),
]
