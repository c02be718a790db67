"""Where a proxy fence is needed between ordinary and asynchronous accesses, and where none is."""

from exogpu.skeleton import *

CLASS = "kind: proxies"


@skeleton
def ok_write_after_load(n: size):
    """A tile that TMA has written is changed without a fence; before the next load there is one."""
    full = mbarrier(count=1)
    x = smem(128)
    with role("all", threads=128):
        for i in range(n):
            with elect():
                arrive(full, tx=512)
                tma_load(x, full, bytes=512)
            wait(full, parity=i)
            store(x[tid])
            proxy_fence()
            cta_sync()


@skeleton
def bad_write_after_load(n: size):
    full = mbarrier(count=1)
    x = smem(128)
    with role("all", threads=128):
        for i in range(n):
            with elect():
                arrive(full, tx=512)
                tma_load(x, full, bytes=512)
            wait(full, parity=i)
            store(x[tid])
            cta_sync()


@skeleton
def ok_in_place():
    """Loaded by TMA, changed in place, stored by TMA: a fence only before the store."""
    full = mbarrier(count=1)
    x = smem(128)
    with role("all", threads=128):
        with elect():
            arrive(full, tx=512)
            tma_load(x, full, bytes=512)
        wait(full, parity=0)
        load(x[tid])
        store(x[tid])
        proxy_fence()
        cta_sync()
        with elect():
            tma_store(x)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def ok_asynchronous_only():
    """Loaded by TMA and stored by TMA: no fence at all."""
    full = mbarrier(count=1)
    x = smem()
    with role("copy", threads=1):
        arrive(full, tx=512)
        tma_load(x, full, bytes=512)
        wait(full, parity=0)
        tma_store(x)
        bulk_commit()
        bulk_wait_read(0)


@skeleton
def bad_store_before_loaded():
    full = mbarrier(count=1)
    x = smem()
    with role("copy", threads=1):
        arrive(full, tx=512)
        tma_load(x, full, bytes=512)
        tma_store(x)
        wait(full, parity=0)
        bulk_commit()
        bulk_wait_read(0)


@skeleton
def ok_each_warp_its_part():
    """Each warp stores its part by TMA: it fences and meets by itself."""
    x = smem(4, 32)
    with role("all", warps=4):
        store(x[warp, lane])
        proxy_fence()
        warp_sync()
        with elect():
            tma_store(x[warp])
            bulk_commit()
            bulk_wait_read(0)
        warp_sync()
        store(x[warp, lane])


@skeleton
def bad_each_warp_its_part():
    """The lanes have fenced, but not met."""
    x = smem(4, 32)
    with role("all", warps=4):
        store(x[warp, lane])
        proxy_fence()
        with elect():
            tma_store(x[warp])
            bulk_commit()
            bulk_wait_read(0)
        warp_sync()
        store(x[warp, lane])


@skeleton
def ok_copies_for_wgmma(n: size):
    """cp.async writes like an ordinary store: wgmma needs the fence after the wait."""
    x = smem(2, 128)
    acc = registers()
    with role("all", threads=128):
        for i in range(n):
            cp_async(x[i % 2, tid])
            cp_commit()
            cp_wait(0)
            proxy_fence()
            bar_sync(1, 128)
            wgmma_fence()
            wgmma(acc, x[i % 2], x[i % 2])
            wgmma_commit()
            wgmma_wait(0)
        load(acc)


@skeleton
def bad_copies_for_wgmma(n: size):
    x = smem(2, 128)
    acc = registers()
    with role("all", threads=128):
        for i in range(n):
            cp_async(x[i % 2, tid])
            cp_commit()
            cp_wait(0)
            bar_sync(1, 128)
            wgmma_fence()
            wgmma(acc, x[i % 2], x[i % 2])
            wgmma_commit()
            wgmma_wait(0)
        load(acc)


@skeleton
def ok_reductions(n: size):
    """TMA reductions of two CTAs add to one tile."""
    cluster(2)
    x = smem(128)
    y = gmem(n, 128)
    with role("all", threads=128):
        for i in range(n):
            store(x[tid])
            proxy_fence()
            cta_sync()
            with elect():
                tma_reduce(x, y[i])
                bulk_commit()
                bulk_wait_read(0)
            cta_sync()


@skeleton
def bad_reductions(n: size):
    """One CTA adds by TMA, the other by ordinary atomics: two proxies."""
    cluster(2)
    x = smem(128)
    y = gmem(n, 128)
    with role("all", threads=128):
        for i in range(n):
            store(x[tid])
            proxy_fence()
            cta_sync()
            if rank == 0:
                with elect():
                    tma_reduce(x, y[i])
                    bulk_commit()
                    bulk_wait_read(0)
            else:
                update(y[i, tid])
            cta_sync()


@skeleton
def ok_read_back():
    """The stored tile is read back when the writes are done."""
    x = smem()
    y = gmem()
    with role("copy", threads=1):
        store(x)
        proxy_fence()
        tma_store(x, y)
        bulk_commit()
        bulk_wait(0)
        load(y)


@skeleton
def bad_read_back():
    """When the source has been read, the destination need not be written."""
    x = smem()
    y = gmem()
    with role("copy", threads=1):
        store(x)
        proxy_fence()
        tma_store(x, y)
        bulk_commit()
        bulk_wait_read(0)
        load(y)


EXPECT = {
    "ok_write_after_load": "proved",
    "bad_write_after_load": "proxy.generic_to_async",
    "ok_in_place": "proved",
    "ok_asynchronous_only": "proved",
    "bad_store_before_loaded": "race.raw | race.async_inflight",
    "ok_each_warp_its_part": "proved",
    "bad_each_warp_its_part": "race.raw | mbar.lane_release",
    "ok_copies_for_wgmma": "proved",
    "bad_copies_for_wgmma": "proxy.generic_to_async",
    "ok_reductions": "proved",
    "bad_reductions": "race.waw",
    "ok_read_back": "proved",
    "bad_read_back": "race.raw | race.async_inflight | group.depth",
}
