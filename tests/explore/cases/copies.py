"""Twins about asynchronous copies, bounds and results: the first of each pair breaks the rule, the second does not."""

from exogpu.skeleton import *


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
