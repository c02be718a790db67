"""Each warp stores its rows of a tile; the warpgroup's wgmma then reads all rows, and another warpgroup's, too.

Source: pengcuo/FlashMLA-ETAP pull request 3, item 1.
"""

from exogpu.skeleton import *

CLASS = "proxy-raw"
S_READY, P_READY, DONE = 1, 2, 3


@skeleton
def buggy():
    P = smem(128)
    o = registers()
    with role("wg0", threads=128):
        store(P[tid])
        bar_arrive(S_READY, 256)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)
    with role("wg1", threads=128):
        bar_sync(S_READY, 256)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def buggy_no_barrier():
    """Every writer fences, but nothing orders the stores of the other three warps before the wgmma."""
    P = smem(128)
    o = registers()
    with role("wg0", threads=128):
        store(P[tid])
        proxy_fence()
        bar_arrive(S_READY, 256)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)
    with role("wg1", threads=128):
        bar_sync(S_READY, 256)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def buggy_no_fence():
    """Both warpgroups wait for all stores, which are ordinary ones."""
    P = smem(128)
    o = registers()
    with role("wg0", threads=128):
        store(P[tid])
        bar_arrive(S_READY, 256)
        bar_sync(P_READY, 128)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)
    with role("wg1", threads=128):
        bar_sync(S_READY, 256)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def buggy_fence_after_signal():
    """The own warpgroup is served; the other one was told before the fence."""
    P = smem(128)
    o = registers()
    with role("wg0", threads=128):
        store(P[tid])
        bar_arrive(S_READY, 256)
        proxy_fence()
        bar_sync(P_READY, 128)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)
    with role("wg1", threads=128):
        bar_sync(S_READY, 256)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def fixed():
    P = smem(128)
    o = registers()
    with role("wg0", threads=128):
        store(P[tid])
        proxy_fence()
        bar_arrive(S_READY, 256)
        bar_sync(P_READY, 128)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)
    with role("wg1", threads=128):
        bar_sync(S_READY, 256)
        wgmma_fence()
        wgmma(o, P)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def fixed_every_trip(n: size):
    """In a loop the tile is rewritten, so both warpgroups say when they have read it."""
    P = smem(128)
    o = registers()
    with role("wg0", threads=128):
        for i in range(n):
            store(P[tid])
            proxy_fence()
            bar_sync(S_READY, 256)
            wgmma_fence()
            wgmma(o, P)
            wgmma_commit()
            wgmma_wait(0)
            bar_sync(DONE, 256)
    with role("wg1", threads=128):
        for i in range(n):
            bar_sync(S_READY, 256)
            wgmma_fence()
            wgmma(o, P)
            wgmma_commit()
            wgmma_wait(0)
            bar_arrive(DONE, 256)


EXPECT = {
    "buggy": "race.raw | proxy.generic_to_async",
    "buggy_no_barrier": "race.raw",
    "buggy_no_fence": "proxy.generic_to_async",
    "buggy_fence_after_signal": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_every_trip": "proved",
}
