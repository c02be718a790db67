"""An mbarrier is initialised again in every trip while its waiter keeps counting parities.

Source: commit bd4f09d5 of the biondizzle/nvfp4-megamoe-kernel log (sweetapi.com).
"""

from exogpu.skeleton import *

CLASS = "mbar-life"


@skeleton
def buggy(n: size):
    f = mbarrier()
    x = smem()
    with role("copy", threads=1):
        for i in range(n):
            init(f, 1)
            arrive(f, tx=4096)
            tma_load(x, f, bytes=4096)
            wait(f, parity=i % 2)


@skeleton
def fixed(n: size):
    f = mbarrier()
    x = smem()
    with role("copy", threads=1):
        init(f, 1)
        for i in range(n):
            arrive(f, tx=4096)
            tma_load(x, f, bytes=4096)
            wait(f, parity=i % 2)


@skeleton
def fixed_inval(n: size):
    """A new life in every trip is allowed after the end of the old one, and starts in phase 0."""
    f = mbarrier()
    x = smem()
    with role("copy", threads=1):
        for i in range(n):
            init(f, 1)
            arrive(f, tx=4096)
            tma_load(x, f, bytes=4096)
            wait(f, parity=0)
            inval(f)


@skeleton
def buggy_inval_parity(n: size):
    """Invalidated and initialised properly, but the parity goes on: in odd trips the wait returns at once."""
    f = mbarrier()
    x = smem()
    with role("copy", threads=1):
        for i in range(n):
            init(f, 1)
            arrive(f, tx=4096)
            tma_load(x, f, bytes=4096)
            wait(f, parity=i % 2)
            load(x)
            proxy_fence()
            inval(f)


@skeleton
def buggy_inval_early(n: size):
    """The barrier ends while bytes are on their way to it."""
    f = mbarrier()
    x = smem()
    with role("copy", threads=1):
        for i in range(n):
            init(f, 1)
            arrive(f, tx=4096)
            tma_load(x, f, bytes=4096)
            inval(f)


def tiles(between):
    """One barrier life for each tile of a CTA; `between` is the number of threads that meet before it ends."""

    @skeleton
    def kernel(n: size):
        f = mbarrier()
        x = smem()
        with role("all", threads=128):
            for i in range(n):
                if tid == 0:
                    init(f, 1)
                cta_sync()
                if tid == 0:
                    arrive(f, tx=4096)
                    tma_load(x, f, bytes=4096)
                wait(f, parity=0)
                load(x)
                proxy_fence()
                if tid < between:
                    bar_sync(1, between)
                if tid == 0:
                    inval(f)

    return kernel


fixed_tiles = tiles(128)
buggy_tiles = tiles(32)

EXPECT = {
    "buggy": "mbar.reinit",
    "fixed": "proved",
    "fixed_inval": "proved",
    "buggy_inval_parity": "race.raw | race.async_inflight | mbar.parity_alias | mbar.uninit | mbar.reinit",
    "buggy_inval_early": "mbar.uninit | mbar.reinit | mbar.alias | race.waw | race.async_inflight",
    "fixed_tiles": "proved",
    "buggy_tiles": "mbar.uninit | mbar.reinit | mbar.alias | mbar.init_unordered",
}
