"""Protocols at full width for tests of what the explorer says about them."""

from exogpu.skeleton import *


def ring(S, warps_of_consumer, ahead=1):
    @skeleton
    def kernel(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=warps_of_consumer)
        tile = smem(S)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + ahead)
                arrive(full[i % S], tx=16384)
                tma_load(tile[i % S], full[i % S], bytes=16384)
        with role("compute", warps=warps_of_consumer):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(tile[i % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % S])

    return kernel


@skeleton
def leader_frees(n: size):
    ready = mbarrier(2, count=1)
    free = mbarrier(2, count=1)
    with role("make", threads=1):
        for i in range(n):
            wait(free[i % 2], parity=i // 2 + 1)
            arrive(ready[i % 2])
    with role("use", warps=2):
        for i in range(n):
            bar_sync(1, 64)
            wait(ready[i % 2], parity=i // 2)
            if warp == 0:
                with elect():
                    arrive(free[i % 2])


@skeleton
def either_way():
    """Both roles write; which comes first is left to the schedule."""
    x = smem()
    with role("a", threads=1):
        store(x)
    with role("b", threads=1):
        load(x)


@skeleton
def gate(n: size):
    """Whether the gate opens too early depends on which tiles are empty."""
    g = mbarrier(count=1)
    q = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        for t in range(n):
            wait(g, parity=t + 1)
            arrive(q, tx=64)
            tma_load(x, q, bytes=64)
    with role("store", threads=1):
        for t in range(n):
            if pred("work", t):
                wait(q, parity=t)
            arrive(g)


@skeleton
def semaphore():
    """Several threads add to a flag: which of them a waiter has heard of depends on the schedule."""
    f = flags()
    with role("a", threads=1):
        signal_add(f, 1)
    with role("b", threads=1):
        signal_add(f, 1)
    with role("c", threads=1):
        spin(f, 1)


@skeleton
def issuer_fences():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        cta_sync()
        if tid == 0:
            proxy_fence()
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def too_many_cells(n: size):
    y = gmem(n)
    with role("all", threads=64):
        store(y[0])


@skeleton
def blackwell():
    with role("all", threads=64):
        pass
    with role("mma", threads=32):
        tmem_wait_ld()


TWINS = []
ring_3 = ring(3, 4)
ring_wide = ring(4, 12)
ring_out_of_step = ring(3, 4, ahead=0)


@skeleton
def bounded(a: size, b: size):
    require(a >= 2)
    require(a <= 40)
    require(b % 2 == 0)
    require(b >= 1)
    with role("all", threads=32):
        pass


@skeleton
def never_meets():
    cluster(2)
    with role("a", threads=32):
        cluster_sync()
    with role("b", threads=32):
        pass
