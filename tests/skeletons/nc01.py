"""A proxy fence that seems to be missing before a release stands elsewhere on the way, and that is enough.

Source: Dao-AILab/flash-attention pull request 2462.
"""

from exogpu.skeleton import *

CLASS = "negative control"


@skeleton
def fixed():
    full = mbarrier(count=1)
    empty = mbarrier(count=128)
    lse = smem(128)
    ds = smem(128)
    acc = registers()
    with role("load", threads=1):
        arrive(full, tx=512)
        tma_load(lse, full, bytes=512)
        wait(empty, parity=0)
        arrive(full, tx=512)
        tma_load(lse, full, bytes=512)
    with role("compute", threads=128):
        wait(full, parity=0)
        load(lse)
        store(ds[tid])
        proxy_fence()
        bar_sync(1, 128)
        wgmma_fence()
        wgmma(acc, ds, ds)
        wgmma_commit()
        wgmma_wait(0)
        arrive(empty)
        wait(full, parity=1)
        load(lse)


@skeleton
def fixed_ring(n: size):
    """The fence is between the read of a slot and its release; `ds` is free again when all warps have met."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=128)
    lse = smem(2, 128)
    ds = smem(128)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            tma_load(lse[i % 2], full[i % 2], bytes=512)
    with role("compute", threads=128):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(lse[i % 2])
            store(ds[tid])
            proxy_fence()
            bar_sync(1, 128)
            wgmma_fence()
            wgmma(acc, ds, ds)
            wgmma_commit()
            wgmma_wait(0)
            arrive(empty[i % 2])
            bar_sync(1, 128)
        load(acc)


@skeleton
def fixed_one_arrival(n: size):
    """One thread may release for all: they have met after their fences."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    lse = smem(2, 128)
    ds = smem(128)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            tma_load(lse[i % 2], full[i % 2], bytes=512)
    with role("compute", threads=128):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(lse[i % 2])
            store(ds[tid])
            proxy_fence()
            bar_sync(1, 128)
            with elect():
                arrive(empty[i % 2])
            wgmma_fence()
            wgmma(acc, ds, ds)
            wgmma_commit()
            wgmma_wait(0)
            bar_sync(1, 128)
        load(acc)


@skeleton
def buggy_without(n: size):
    """No fence at all: a slot that loads have read is refilled, and wgmma reads what ordinary stores wrote."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=128)
    lse = smem(2, 128)
    ds = smem(128)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            tma_load(lse[i % 2], full[i % 2], bytes=512)
    with role("compute", threads=128):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(lse[i % 2])
            store(ds[tid])
            bar_sync(1, 128)
            wgmma_fence()
            wgmma(acc, ds, ds)
            wgmma_commit()
            wgmma_wait(0)
            arrive(empty[i % 2])
            bar_sync(1, 128)
        load(acc)


@skeleton
def buggy_fence_first(n: size):
    """The fence stands before the reads of the slot."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=128)
    lse = smem(2, 128)
    ds = smem(128)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            tma_load(lse[i % 2], full[i % 2], bytes=512)
    with role("compute", threads=128):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            store(ds[tid])
            proxy_fence()
            load(lse[i % 2])
            bar_sync(1, 128)
            wgmma_fence()
            wgmma(acc, ds, ds)
            wgmma_commit()
            wgmma_wait(0)
            arrive(empty[i % 2])
            bar_sync(1, 128)
        load(acc)


EXPECT = {
    "fixed": "proved",
    "fixed_ring": "proved",
    "fixed_one_arrival": "proved",
    "buggy_without": "proxy.generic_to_async",
    "buggy_fence_first": "proxy.generic_to_async",
}
