"""An epilogue copies a staged tile out with ordinary accesses, without a barrier after the stores that stage it.

Source: Dao-AILab/flash-attention issue 1344.
"""

from exogpu.skeleton import *

CLASS = "raw-sync"


@skeleton
def buggy():
    o = smem(256)
    out = gmem(256, result=True)
    with role("math", threads=256):
        store(o[tid])
        load(o[255 - tid])
        store(out[tid])


@skeleton
def fixed():
    o = smem(256)
    out = gmem(256, result=True)
    with role("math", threads=256):
        store(o[tid])
        bar_sync(1, 256)
        load(o[255 - tid])
        store(out[tid])


@skeleton
def buggy_halves():
    """Each warpgroup has its barrier, but reads what the other one staged."""
    o = smem(2, 128)
    with role("math", threads=256):
        store(o[tid // 128, tid % 128])
        bar_sync(1 + tid // 128, 128)
        load(o[1 - tid // 128])


@skeleton
def fixed_halves():
    o = smem(2, 128)
    with role("math", threads=256):
        store(o[tid // 128, tid % 128])
        bar_sync(1 + tid // 128, 128)
        load(o[tid // 128])


@skeleton
def fixed_own():
    """Every thread copies out what it staged itself."""
    o = smem(256)
    with role("math", threads=256):
        store(o[tid])
        load(o[tid])


@skeleton
def fixed_warps():
    """The copy stays inside the warp: a warp barrier is enough."""
    o = smem(8, 32)
    with role("math", warps=8):
        store(o[warp, lane])
        warp_sync()
        load(o[warp])


@skeleton
def buggy_warps():
    """Lanes are not ordered by themselves."""
    o = smem(8, 32)
    with role("math", warps=8):
        store(o[warp, lane])
        load(o[warp])


@skeleton
def buggy_tiles(tiles: size):
    """One barrier in each tile: the copy of a tile meets the stores of the next one."""
    o = smem(256)
    with role("math", threads=256):
        for t in range(tiles):
            store(o[tid])
            bar_sync(1, 256)
            load(o)


@skeleton
def fixed_tiles(tiles: size):
    o = smem(256)
    with role("math", threads=256):
        for t in range(tiles):
            store(o[tid])
            bar_sync(1, 256)
            load(o)
            bar_sync(1, 256)


EXPECT = {
    "buggy": "race.raw",
    "fixed": "proved",
    "buggy_halves": "race.raw",
    "fixed_halves": "proved",
    "fixed_own": "proved",
    "fixed_warps": "proved",
    "buggy_warps": "race.raw",
    "buggy_tiles": "race.war",
    "fixed_tiles": "proved",
}
