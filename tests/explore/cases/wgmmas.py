"""Twins about wgmma: the first of each pair breaks the rule, the second does not."""

from exogpu.skeleton import *


@skeleton
def no_register_fence():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        store(acc)
        wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def register_fence():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        store(acc)
        wgmma_fence()
        wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def other_shape():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        wgmma_fence()
        wgmma(acc, x, shape="n64")
        wgmma(acc, x, shape="n128")
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def same_shape():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        wgmma_fence()
        wgmma(acc, x, shape="n64")
        wgmma(acc, x, shape="n64")
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def accumulator_in_flight():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        wgmma_fence()
        wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(1)
        load(acc)


@skeleton
def accumulator_done():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        wgmma_fence()
        wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)
        load(acc)


@skeleton
def operand_rewritten(n: size):
    x = smem()
    a = registers()
    acc = registers()
    with role("wg", warps=4):
        for k in range(n):
            store(a)
            wgmma_fence()
            wgmma(acc, a, x)
            wgmma_commit()
        wgmma_wait(0)


@skeleton
def two_operands(n: size):
    x = smem()
    a = registers(2)
    acc = registers()
    with role("wg", warps=4):
        for k in range(n):
            store(a[k % 2])
            wgmma_fence()
            wgmma(acc, a[k % 2], x)
            wgmma_commit()
            wgmma_wait(1)
        wgmma_wait(0)


@skeleton
def one_warp_skips():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        wgmma_fence()
        if warp < 3:
            wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def one_lane_skips():
    x = smem()
    acc = registers()
    with role("wg", warps=4):
        wgmma_fence()
        if tid > 0:
            wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def rows_of_others():
    """Each warp's wgmma reads what the other warps store."""
    x = smem(128)
    acc = registers()
    with role("wg", warps=4):
        store(x[tid])
        proxy_fence()
        wgmma_fence()
        wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def rows_after_barrier():
    x = smem(128)
    acc = registers()
    with role("wg", warps=4):
        store(x[tid])
        proxy_fence()
        bar_sync(1, 128)
        wgmma_fence()
        wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def stored_without_fence():
    x = smem(128)
    acc = registers()
    with role("wg", warps=4):
        store(x[tid])
        bar_sync(1, 128)
        wgmma_fence()
        wgmma(acc, x)
        wgmma_commit()
        wgmma_wait(0)


def ring(warps, barrier):
    releases = 4 if warps else 1

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=releases)
        x = smem(2)
        acc = registers()
        with role("load", threads=1):
            for k in range(n):
                wait(empty[k % 2], parity=k // 2 + 1)
                arrive(full[k % 2], tx=64)
                tma_load(x[k % 2], full[k % 2], bytes=64)
        with role("wg", warps=4):
            for k in range(n):
                wait(full[k % 2], parity=k // 2)
                wgmma_fence()
                wgmma(acc, x[k % 2])
                wgmma_commit()
                wgmma_wait(0)
                if barrier:
                    bar_sync(1, 128)
                if warps:
                    with elect():
                        arrive(empty[k % 2])
                else:
                    if tid == 0:
                        arrive(empty[k % 2])

    return kernel


def pending(groups):
    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=4)
        x = smem(2)
        acc = registers()
        with role("load", threads=1):
            for k in range(n):
                wait(empty[k % 2], parity=k // 2 + 1)
                arrive(full[k % 2], tx=64)
                tma_load(x[k % 2], full[k % 2], bytes=64)
        with role("wg", warps=4):
            for k in range(n):
                wait(full[k % 2], parity=k // 2)
                wgmma_fence()
                wgmma(acc, x[k % 2])
                wgmma_commit()
                wgmma_wait(groups)
                with elect():
                    arrive(empty[k % 2])

    return kernel


one_thread = ring(False, False)
each_warp = ring(True, False)
after_barrier = ring(False, True)
one_pending = pending(1)
none_pending = pending(0)

TWINS = [
    ("wgmma.reg_fence", no_register_fence, register_fence),
    ("wgmma.reg_fence", other_shape, same_shape),
    ("wgmma.reg_inflight", accumulator_in_flight, accumulator_done),
    ("wgmma.reg_inflight", operand_rewritten, two_operands),
    ("wgmma.convergence", one_warp_skips, register_fence),
    ("wgmma.convergence", one_lane_skips, register_fence),
    ("race.raw", rows_of_others, rows_after_barrier),
    ("proxy.generic_to_async", stored_without_fence, rows_after_barrier),
    ("mbar.lane_release", one_thread, each_warp),
    ("mbar.lane_release", one_thread, after_barrier),
    ("group.depth", one_pending, none_pending),
]
