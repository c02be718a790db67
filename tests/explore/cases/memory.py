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


@skeleton
def store_in_flight(n: size):
    x = smem()
    with role("one", threads=1):
        for i in range(n):
            store(x)
            proxy_fence()
            tma_store(x)
            bulk_commit()


@skeleton
def store_waited(n: size):
    x = smem()
    with role("one", threads=1):
        for i in range(n):
            store(x)
            proxy_fence()
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def only_read(n: size):
    """That the source has been read says nothing about the destination."""
    x = smem()
    y = gmem(1)
    with role("one", threads=1):
        tma_store(x, y[0])
        bulk_commit()
        bulk_wait_read(0)
        load(y[0])


@skeleton
def written(n: size):
    x = smem()
    y = gmem(1)
    with role("one", threads=1):
        tma_store(x, y[0])
        bulk_commit()
        bulk_wait(0)
        load(y[0])


@skeleton
def too_deep(n: size):
    x = smem(2)
    with role("one", threads=1):
        for i in range(n):
            store(x[i % 2])
            proxy_fence()
            tma_store(x[i % 2])
            bulk_commit()
            bulk_wait_read(2)


@skeleton
def deep_enough(n: size):
    x = smem(2)
    with role("one", threads=1):
        for i in range(n):
            store(x[i % 2])
            proxy_fence()
            tma_store(x[i % 2])
            bulk_commit()
            bulk_wait_read(1)


@skeleton
def other_thread_waits():
    x = smem()
    with role("all", threads=64):
        if tid == 0:
            tma_store(x)
            bulk_commit()
        if tid == 1:
            bulk_wait_read(0)
        cta_sync()
        if tid == 1:
            store(x)


@skeleton
def own_thread_waits():
    x = smem()
    with role("all", threads=64):
        if tid == 0:
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)
        cta_sync()
        if tid == 1:
            store(x)


@skeleton
def ends_in_flight():
    x = smem()
    with role("one", threads=1):
        tma_store(x)
        bulk_commit()
        exit()


@skeleton
def ends_after_read():
    x = smem()
    with role("one", threads=1):
        tma_store(x)
        bulk_commit()
        bulk_wait_read(0)
        exit()


@skeleton
def copies_not_waited():
    x = smem(64)
    with role("all", threads=64):
        cp_async(x[tid])
        cp_commit()
        cta_sync()
        load(x)


@skeleton
def waited_after_barrier():
    x = smem(64)
    with role("all", threads=64):
        cp_async(x[tid])
        cp_commit()
        cta_sync()
        cp_wait(0)
        load(x)


@skeleton
def copies_waited():
    x = smem(64)
    with role("all", threads=64):
        cp_async(x[tid])
        cp_commit()
        cp_wait(0)
        cta_sync()
        load(x)


@skeleton
def copies_arrive():
    landed = mbarrier(count=64)
    x = smem(64)
    with role("copy", threads=64):
        cp_async(x[tid])
        cp_arrive(landed, noinc=True)
    with role("use", threads=32):
        wait(landed, parity=0)
        load(x)


@skeleton
def copied_after_arrive():
    landed = mbarrier(count=64)
    x = smem(64)
    with role("copy", threads=64):
        cp_arrive(landed, noinc=True)
        cp_async(x[tid])
    with role("use", threads=32):
        wait(landed, parity=0)
        load(x)


@skeleton
def outside(n: size):
    x = gmem(n)
    with role("one", threads=1):
        for i in range(n):
            load(x[i + 1])


@skeleton
def inside(n: size):
    x = gmem(n)
    with role("one", threads=1):
        for i in range(n):
            load(x[i])


@skeleton
def result_left_out(n: size):
    y = gmem(n, result=True)
    with role("one", threads=1):
        for i in range(n - 1):
            store(y[i])


@skeleton
def result_complete(n: size):
    y = gmem(n, result=True)
    with role("one", threads=1):
        for i in range(n):
            store(y[i])


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
    ("race.war", store_in_flight, store_waited),
    ("race.raw", only_read, written),
    ("group.depth", too_deep, deep_enough),
    ("group.wrong_thread", other_thread_waits, own_thread_waits),
    ("race.async_inflight", ends_in_flight, ends_after_read),
    ("race.raw", copies_not_waited, copies_waited),
    ("race.raw", waited_after_barrier, copies_waited),
    ("race.raw", copied_after_arrive, copies_arrive),
    ("bounds", outside, inside),
    ("seq.mismatch", result_left_out, result_complete),
]
