"""A barrier of all warps is added where warps take part as long as they have work, each for itself.

Source: mlc-ai/TIRx-kernels pull request 42, first attempt (reverted).
"""

from exogpu.skeleton import *

CLASS = "negative control"


@skeleton
def buggy(n: size):
    """Each warp has its own work: it fetches a tile if there is one for it in this round."""
    full = mbarrier(4, count=1)
    tile = smem(4)
    with role("worker", warps=4):
        taken = 0
        for i in range(n):
            if pred("stolen", i, warp):
                with elect():
                    arrive(full[warp], tx=4096)
                    tma_load(tile[warp], full[warp], bytes=4096)
                wait(full[warp], parity=taken)
                bar_sync(1, 128)
                load(tile[warp])
                proxy_fence()
                warp_sync()
                taken += 1
        bar_sync(2, 128)


@skeleton
def fixed(n: size):
    full = mbarrier(4, count=1)
    tile = smem(4)
    with role("worker", warps=4):
        taken = 0
        for i in range(n):
            if pred("stolen", i, warp):
                with elect():
                    arrive(full[warp], tx=4096)
                    tma_load(tile[warp], full[warp], bytes=4096)
                wait(full[warp], parity=taken)
                load(tile[warp])
                proxy_fence()
                warp_sync()
                taken += 1
        bar_sync(2, 128)


@skeleton
def fixed_common(n: size):
    """The barrier is right if all warps steal together."""
    full = mbarrier(4, count=1)
    tile = smem(4)
    with role("worker", warps=4):
        taken = 0
        for i in range(n):
            if pred("stolen", i):
                with elect():
                    arrive(full[warp], tx=4096)
                    tma_load(tile[warp], full[warp], bytes=4096)
                wait(full[warp], parity=taken)
                bar_sync(1, 128)
                load(tile[warp])
                proxy_fence()
                warp_sync()
                taken += 1
        bar_sync(2, 128)


@skeleton
def fixed_outside(n: size):
    """Or if it stands where all warps come by, with or without work."""
    full = mbarrier(4, count=1)
    tile = smem(4)
    with role("worker", warps=4):
        taken = 0
        for i in range(n):
            if pred("stolen", i, warp):
                with elect():
                    arrive(full[warp], tx=4096)
                    tma_load(tile[warp], full[warp], bytes=4096)
                wait(full[warp], parity=taken)
                load(tile[warp])
                proxy_fence()
                warp_sync()
                taken += 1
            bar_sync(1, 128)


@skeleton
def buggy_parity(n: size):
    """The parity counts rounds, not the tiles that were taken."""
    full = mbarrier(4, count=1)
    tile = smem(4)
    with role("worker", warps=4):
        for i in range(n):
            if pred("stolen", i, warp):
                with elect():
                    arrive(full[warp], tx=4096)
                    tma_load(tile[warp], full[warp], bytes=4096)
                wait(full[warp], parity=i)
                load(tile[warp])
                proxy_fence()
                warp_sync()


EXPECT = {
    "buggy": "bar.divergence | bar.count | deadlock.cycle",
    "fixed": "proved",
    "fixed_common": "proved",
    "fixed_outside": "proved",
    "buggy_parity": "race.raw | race.async_inflight | mbar.parity_alias | deadlock.cycle",
}
