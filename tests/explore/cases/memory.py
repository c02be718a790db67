"""Twins about shared and global memory: the first of each pair breaks the rule, the second does not."""

from exogpu.skeleton import *


@skeleton
def raw():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        load(x)


@skeleton
def raw_ordered():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        cta_sync()
        load(x)


@skeleton
def raw_own():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        load(x[tid])


@skeleton
def lanes():
    """Two lanes of one warp are as unordered as any threads."""
    x = smem(32)
    with role("all", threads=32):
        store(x[tid])
        load(x[(tid + 1) % 32])


@skeleton
def lanes_synced():
    x = smem(32)
    with role("all", threads=32):
        store(x[tid])
        warp_sync()
        load(x[(tid + 1) % 32])


@skeleton
def war(n: size):
    x = smem(64)
    with role("all", threads=64):
        for i in range(n):
            store(x[tid])
            cta_sync()
            load(x)


@skeleton
def war_ordered(n: size):
    x = smem(64)
    with role("all", threads=64):
        for i in range(n):
            store(x[tid])
            cta_sync()
            load(x)
            cta_sync()


@skeleton
def waw():
    x = smem()
    with role("all", threads=64):
        store(x)


@skeleton
def atomic():
    x = smem()
    with role("all", threads=64):
        update(x)


@skeleton
def one_writer():
    x = smem()
    with role("all", threads=64):
        if tid == 40:
            store(x)


@skeleton
def overlay():
    x = smem(64)
    y = smem(64, at=x[0])
    with role("all", threads=64):
        store(x[tid])
        load(x[tid])
        store(y[(tid + 1) % 64])


@skeleton
def overlay_ordered():
    x = smem(64)
    y = smem(64, at=x[0])
    with role("all", threads=64):
        store(x[tid])
        load(x[tid])
        cta_sync()
        store(y[(tid + 1) % 64])


@skeleton
def no_fence():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        cta_sync()
        with elect():
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def writers_fence():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        proxy_fence()
        cta_sync()
        with elect():
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def issuers_fence():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        cta_sync()
        with elect():
            proxy_fence()
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def fence_too_late():
    x = smem(64)
    with role("all", threads=64):
        store(x[tid])
        cta_sync()
        if tid >= 32:
            proxy_fence()
        with elect():
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def reads_without_fence(n: size):
    full = mbarrier(count=1)
    x = smem()
    with role("all", threads=64):
        for i in range(n):
            with elect():
                arrive(full, tx=64)
                tma_load(x, full, bytes=64)
            wait(full, parity=i)
            load(x)
            cta_sync()


@skeleton
def reads_with_fence(n: size):
    full = mbarrier(count=1)
    x = smem()
    with role("all", threads=64):
        for i in range(n):
            with elect():
                arrive(full, tx=64)
                tma_load(x, full, bytes=64)
            wait(full, parity=i)
            load(x)
            proxy_fence()
            cta_sync()


@skeleton
def fence_of_shared(n: size):
    """The fence of shared memory does not cover what is in global memory."""
    full = mbarrier(count=1)
    x = smem()
    y = gmem(64)
    with role("all", threads=64):
        store(y[tid])
        proxy_fence()
        cta_sync()
        with elect():
            arrive(full, tx=64)
            tma_load(x, full, bytes=64, src=y)
            wait(full, parity=0)


@skeleton
def fence_of_all(n: size):
    full = mbarrier(count=1)
    x = smem()
    y = gmem(64)
    with role("all", threads=64):
        store(y[tid])
        proxy_fence(everywhere=True)
        cta_sync()
        with elect():
            arrive(full, tx=64)
            tma_load(x, full, bytes=64, src=y)
            wait(full, parity=0)


TWINS = [
    ("race.raw", raw, raw_ordered),
    ("race.raw", raw, raw_own),
    ("race.raw", lanes, lanes_synced),
    ("race.war", war, war_ordered),
    ("race.waw", waw, atomic),
    ("race.waw", waw, one_writer),
    ("smem.reuse", overlay, overlay_ordered),
    ("proxy.generic_to_async", no_fence, writers_fence),
    ("proxy.generic_to_async", fence_too_late, issuers_fence),
    ("proxy.generic_to_async", reads_without_fence, reads_with_fence),
    ("fence.state_space", fence_of_shared, fence_of_all),
]
