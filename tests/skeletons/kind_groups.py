"""Groups of asynchronous operations: who waits, for how many, and for what of them."""

from exogpu.skeleton import *

CLASS = "kind: groups"


@skeleton
def bad_other_warp():
    """Stored by a thread of warp 0, waited for by one of warp 1, which has no groups."""
    x = smem(128)
    with role("all", warps=4):
        store(x[tid])
        proxy_fence()
        cta_sync()
        if warp == 0:
            with elect():
                tma_store(x)
                bulk_commit()
        if warp == 1:
            with elect():
                bulk_wait_read(0)
        cta_sync()
        store(x[tid])


@skeleton
def ok_same_warp():
    x = smem(128)
    with role("all", warps=4):
        store(x[tid])
        proxy_fence()
        cta_sync()
        if warp == 0:
            with elect():
                tma_store(x)
                bulk_commit()
        if warp == 0:
            with elect():
                bulk_wait_read(0)
        cta_sync()
        store(x[tid])


@skeleton
def bad_guarded_commit(n: size):
    """No copy, no group: at the last tiles the wait leaves a group that is needed."""
    x = smem(3, 128)
    with role("all", threads=128):
        for s in range(2):
            if s < n:
                cp_async(x[s, tid])
                cp_commit()
        for k in range(n):
            cp_wait(1)
            cta_sync()
            if k + 2 < n:
                cp_async(x[(k + 2) % 3, tid])
                cp_commit()
            load(x[k % 3])


@skeleton
def ok_guarded_commit(n: size):
    """With another wait for the last tile."""
    x = smem(3, 128)
    with role("all", threads=128):
        for s in range(2):
            if s < n:
                cp_async(x[s, tid])
                cp_commit()
        for k in range(n):
            if k + 1 < n:
                cp_wait(1)
            else:
                cp_wait(0)
            cta_sync()
            if k + 2 < n:
                cp_async(x[(k + 2) % 3, tid])
                cp_commit()
            load(x[k % 3])


@skeleton
def bad_plain_arrive(n: size):
    """An ordinary arrive does not wait for the copies of its thread."""
    full = mbarrier(2, count=32)
    empty = mbarrier(2, count=32)
    x = smem(2, 32)
    with role("copy", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            cp_async(x[i % 2, lane])
            arrive(full[i % 2])
        cp_wait_all()
    with role("reader", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            arrive(empty[i % 2])


@skeleton
def ok_lagged_arrive(n: size):
    """Each trip announces the copies of the trip before, which have landed."""
    full = mbarrier(3, count=32)
    empty = mbarrier(3, count=32)
    x = smem(3, 32)
    with role("copy", warps=1):
        for i in range(n):
            wait(empty[i % 3], parity=i // 3 + 1)
            cp_async(x[i % 3, lane])
            cp_commit()
            if i >= 1:
                cp_wait(1)
                arrive(full[(i - 1) % 3])
        if n >= 1:
            cp_wait(0)
            arrive(full[(n - 1) % 3])
    with role("reader", warps=1):
        for i in range(n):
            wait(full[i % 3], parity=i // 3)
            load(x[i % 3])
            arrive(empty[i % 3])


@skeleton
def bad_lagged_arrive(n: size):
    """The wait leaves two groups, the one that is announced among them."""
    full = mbarrier(3, count=32)
    empty = mbarrier(3, count=32)
    x = smem(3, 32)
    with role("copy", warps=1):
        for i in range(n):
            wait(empty[i % 3], parity=i // 3 + 1)
            cp_async(x[i % 3, lane])
            cp_commit()
            if i >= 1:
                cp_wait(2)
                arrive(full[(i - 1) % 3])
        if n >= 1:
            cp_wait(0)
            arrive(full[(n - 1) % 3])
    with role("reader", warps=1):
        for i in range(n):
            wait(full[i % 3], parity=i // 3)
            load(x[i % 3])
            arrive(empty[i % 3])


def products(pending, lag):
    """Each trip releases the slot of the trip `lag` before, with `pending` products in flight."""

    @skeleton
    def ring(n: size):
        full = mbarrier(4, count=1)
        empty = mbarrier(4, count=4)
        x = smem(4)
        acc = registers()
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % 4], parity=i // 4 + 1)
                arrive(full[i % 4], tx=16384)
                tma_load(x[i % 4], full[i % 4], bytes=16384)
        with role("math", warps=4):
            for i in range(n):
                wait(full[i % 4], parity=i // 4)
                wgmma_fence()
                wgmma(acc, x[i % 4], x[i % 4])
                wgmma_commit()
                wgmma_wait(pending)
                if i >= lag:
                    with elect():
                        arrive(empty[(i - lag) % 4])
            wgmma_wait(0)
            load(acc)

    return ring


ok_one_in_flight = products(1, 1)
ok_two_in_flight = products(2, 2)
ok_late_release = products(0, 3)
bad_one_in_flight = products(1, 0)
bad_two_in_flight = products(2, 1)
bad_never_released = products(0, 4)


@skeleton
def bad_cleared(n: size):
    """The accumulator is cleared for the next tile while a product is in flight."""
    full = mbarrier(count=1)
    b = smem()
    acc = registers()
    with role("load", threads=1):
        arrive(full, tx=16384)
        tma_load(b, full, bytes=16384)
    with role("math", threads=128):
        wait(full, parity=0)
        for t in range(n):
            store(acc)
            wgmma_fence()
            wgmma(acc, b, b)
            wgmma_commit()
        wgmma_wait(0)


@skeleton
def bad_first_fence():
    """Cleared by ordinary instructions, and then no fence."""
    full = mbarrier(count=1)
    b = smem()
    acc = registers()
    with role("load", threads=1):
        arrive(full, tx=16384)
        tma_load(b, full, bytes=16384)
    with role("math", threads=128):
        wait(full, parity=0)
        store(acc)
        wgmma(acc, b, b)
        wgmma_commit()
        wgmma_wait(0)


def two_shapes(first, second):
    """Products of one shape run in order on one accumulator."""

    @skeleton
    def math():
        full = mbarrier(count=1)
        b = smem()
        acc = registers()
        with role("load", threads=1):
            arrive(full, tx=16384)
            tma_load(b, full, bytes=16384)
        with role("math", threads=128):
            wait(full, parity=0)
            wgmma_fence()
            wgmma(acc, b, b, shape=first)
            wgmma(acc, b, b, shape=second)
            wgmma_commit()
            wgmma_wait(0)
            load(acc)

    return math


ok_one_shape = two_shapes("n128", "n128")
bad_shapes = two_shapes("n128", "n64")


@skeleton
def ok_shapes():
    full = mbarrier(count=1)
    b = smem()
    acc = registers()
    with role("load", threads=1):
        arrive(full, tx=16384)
        tma_load(b, full, bytes=16384)
    with role("math", threads=128):
        wait(full, parity=0)
        wgmma_fence()
        wgmma(acc, b, b, shape="n128")
        wgmma_fence()
        wgmma(acc, b, b, shape="n64")
        wgmma_commit()
        wgmma_wait(0)
        load(acc)


EXPECT = {
    "bad_other_warp": "race.war | group.wrong_thread | race.async_inflight",
    "ok_same_warp": "proved",
    "bad_guarded_commit": "race.raw | race.async_inflight | group.depth",
    "ok_guarded_commit": "proved",
    "bad_plain_arrive": "race.raw | race.async_inflight",
    "ok_lagged_arrive": "proved",
    "bad_lagged_arrive": "race.raw | race.async_inflight | group.depth",
    "ok_one_in_flight": "proved",
    "ok_two_in_flight": "proved",
    "ok_late_release": "proved",
    "bad_one_in_flight": "race.war | race.async_inflight | group.depth",
    "bad_two_in_flight": "race.war | race.async_inflight | group.depth",
    "bad_never_released": "deadlock.cycle",
    "bad_cleared": "wgmma.reg_inflight",
    "bad_first_fence": "wgmma.reg_fence",
    "ok_one_shape": "proved",
    "bad_shapes": "wgmma.reg_fence",
    "ok_shapes": "proved",
}
