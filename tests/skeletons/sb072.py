"""A tile is stored by "warp 0" of the CTA, which is not among the warps that reach the statement.

Source: facebookexperimental/triton pull request 26.
"""

from exogpu.skeleton import *

CLASS = "elect"

FIRST = 4
"""The epilogue's first warp: four warps of the main loop come before it in the CTA."""


def stored_by(chosen):
    """The warp of the CTA that the epilogue's condition names."""

    @skeleton
    def epilogue():
        ready = mbarrier(count=4)
        acc = smem(4, 32)
        y = smem(4, 32)
        out = gmem(4, 32, result=True)
        with role("math", warps=4):
            store(acc[warp, lane])
            warp_sync()
            with elect():
                arrive(ready)
        with role("epilogue", warps=4):
            wait(ready, parity=0)
            load(acc[warp, lane])
            store(y[warp, lane])
            proxy_fence()
            bar_sync(1, 128)
            if warp + FIRST == chosen:
                with elect():
                    tma_store(y, out)
                    bulk_commit()
                    bulk_wait_read(0)

    return epilogue


buggy = stored_by(0)
buggy_beyond = stored_by(8)
fixed = stored_by(FIRST)
fixed_last_warp = stored_by(FIRST + 3)


@skeleton
def buggy_tiles(tiles: size):
    """One tile in two is stored by a warp that is not there."""
    y = smem(128)
    out = gmem(tiles, 128, result=True)
    with role("other", warps=4):
        exit()
    with role("epilogue", warps=4):
        for t in range(tiles):
            store(y[tid])
            proxy_fence()
            bar_sync(1, 128)
            if warp + FIRST == FIRST * (t % 2):
                with elect():
                    tma_store(y, out[t])
                    bulk_commit()
                    bulk_wait_read(0)
            bar_sync(1, 128)


@skeleton
def fixed_tiles(tiles: size):
    """The warps take turns."""
    y = smem(128)
    out = gmem(tiles, 128, result=True)
    with role("other", warps=4):
        exit()
    with role("epilogue", warps=4):
        for t in range(tiles):
            store(y[tid])
            proxy_fence()
            bar_sync(1, 128)
            if warp == t % 4:
                with elect():
                    tma_store(y, out[t])
                    bulk_commit()
                    bulk_wait_read(0)
            bar_sync(1, 128)


EXPECT = {
    "buggy": "seq.mismatch | uninit",
    "buggy_beyond": "seq.mismatch | uninit",
    "fixed": "proved",
    "fixed_last_warp": "proved",
    "buggy_tiles": "seq.mismatch | uninit",
    "fixed_tiles": "proved",
}
