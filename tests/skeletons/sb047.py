"""One thread waits until its TMA store has read the staging tile; the others overwrite the tile before that.

Source: tile-ai/TileOPs pull request 1550.
"""

from exogpu.skeleton import *

CLASS = "smem-reuse"


@skeleton
def buggy(n: size):
    C = smem(128)
    with role("wg", threads=128):
        for w in range(n):
            store(C[tid])
            proxy_fence()
            bar_sync(4, 128)
            with elect():
                tma_store(C)
                bulk_commit()
                bulk_wait_read(0)


@skeleton
def buggy_late_wait(n: size):
    """There is a barrier before the refill, but the issuer passes it without having waited."""
    C = smem(128)
    with role("wg", threads=128):
        for w in range(n):
            bar_sync(4, 128)
            store(C[tid])
            proxy_fence()
            bar_sync(4, 128)
            with elect():
                tma_store(C)
                bulk_commit()
        with elect():
            bulk_wait_read(0)


@skeleton
def buggy_other_thread_waits(n: size):
    """Groups belong to the thread that committed them: another thread's wait waits for nothing."""
    C = smem(128)
    with role("wg", threads=128):
        for w in range(n):
            store(C[tid])
            proxy_fence()
            bar_sync(4, 128)
            if tid == 0:
                tma_store(C)
                bulk_commit()
            if tid == 32:
                bulk_wait_read(0)
            bar_sync(4, 128)
        if tid == 0:
            bulk_wait_read(0)


@skeleton
def buggy_two_tiles(n: size):
    """Two staging tiles and one store too many in flight."""
    C = smem(2, 128)
    with role("wg", threads=128):
        for w in range(n):
            with elect():
                bulk_wait_read(2)
            bar_sync(4, 128)
            store(C[w % 2, tid])
            proxy_fence()
            bar_sync(4, 128)
            with elect():
                tma_store(C[w % 2])
                bulk_commit()
        with elect():
            bulk_wait_read(0)


@skeleton
def fixed(n: size):
    C = smem(128)
    with role("wg", threads=128):
        for w in range(n):
            bar_sync(4, 128)
            store(C[tid])
            proxy_fence()
            bar_sync(4, 128)
            with elect():
                tma_store(C)
                bulk_commit()
                bulk_wait_read(0)


@skeleton
def fixed_wait_at_the_top(n: size):
    """The wait may come as late as the next trip, as long as the barrier comes after it."""
    C = smem(128)
    with role("wg", threads=128):
        for w in range(n):
            with elect():
                bulk_wait_read(0)
            bar_sync(4, 128)
            store(C[tid])
            proxy_fence()
            bar_sync(4, 128)
            with elect():
                tma_store(C)
                bulk_commit()
        with elect():
            bulk_wait_read(0)


@skeleton
def fixed_two_tiles(n: size):
    C = smem(2, 128)
    with role("wg", threads=128):
        for w in range(n):
            with elect():
                bulk_wait_read(1)
            bar_sync(4, 128)
            store(C[w % 2, tid])
            proxy_fence()
            bar_sync(4, 128)
            with elect():
                tma_store(C[w % 2])
                bulk_commit()
        with elect():
            bulk_wait_read(0)


@skeleton
def fixed_two_warpgroups(n: size):
    """Each warpgroup has a tile, a barrier and an issuing thread."""
    C = smem(2, 128)
    with role("wgs", threads=256):
        for w in range(n):
            bar_sync(4 + tid // 128, 128)
            store(C[tid // 128, tid % 128])
            proxy_fence()
            bar_sync(4 + tid // 128, 128)
            if tid % 128 == 0:
                tma_store(C[tid // 128])
                bulk_commit()
                bulk_wait_read(0)


WAR = "race.war | race.async_inflight"
EXPECT = {
    "buggy": WAR,
    "buggy_late_wait": WAR,
    "buggy_other_thread_waits": WAR + " | group.wrong_thread",
    "buggy_two_tiles": WAR + " | group.depth",
    "fixed": "proved",
    "fixed_wait_at_the_top": "proved",
    "fixed_two_tiles": "proved",
    "fixed_two_warpgroups": "proved",
}
