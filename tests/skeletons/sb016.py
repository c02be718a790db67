"""A barrier is initialised for one arrival, and all lanes of a warp arrive.

Source: tile-ai/tilelang pull request 2360 (review finding). 32 is even, so the parity returns to where it was: a
producer that looks late waits for ever, one that looks in between passes early.
"""

from exogpu.skeleton import *

CLASS = "arrive-count"
BYTES = 16384


def whole_warp(S, count):
    """The empty barrier expects `count` arrivals and gets 32."""

    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=count)
        K = smem(S)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=BYTES)
                tma_load(K[i % S], full[i % S], bytes=BYTES)
        with role("use", warps=1):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(K[i % S])
                proxy_fence()
                arrive(empty[i % S])

    return ring


buggy = whole_warp(2, 1)
buggy_one_slot = whole_warp(1, 1)
buggy_half = whole_warp(2, 16)
fixed_count = whole_warp(2, 32)
fixed_count_one_slot = whole_warp(1, 32)


@skeleton
def buggy_warpgroup(n: size):
    """Tensor-core consumers: 128 arrivals where four, one of each warp, are expected."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    K = smem(2)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=BYTES)
            tma_load(K[i % 2], full[i % 2], bytes=BYTES)
    with role("multiply", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            wgmma_fence()
            wgmma(acc, K[i % 2])
            wgmma_commit()
            wgmma_wait(0)
            arrive(empty[i % 2])


@skeleton
def buggy_loader_warp(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    K = smem(2)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            with elect():
                arrive(full[i % 2], tx=BYTES)
                tma_load(K[i % 2], full[i % 2], bytes=BYTES)
    with role("use", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(K[i % 2])
            proxy_fence()
            arrive(empty[i % 2])


@skeleton
def fixed_loader_warp(n: size):
    """The whole loading warp waits. Electing a lane joins the warp (elect.sync), so no lane falls two phases behind."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    K = smem(2)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            with elect():
                arrive(full[i % 2], tx=BYTES)
                tma_load(K[i % 2], full[i % 2], bytes=BYTES)
    with role("use", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(K[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def fixed(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    K = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=BYTES)
            tma_load(K[i % 2], full[i % 2], bytes=BYTES)
    with role("use", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(K[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def fixed_warpgroup(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    K = smem(2)
    acc = registers()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=BYTES)
            tma_load(K[i % 2], full[i % 2], bytes=BYTES)
    with role("multiply", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            wgmma_fence()
            wgmma(acc, K[i % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(empty[i % 2])


@skeleton
def tcgen05_buggy(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    K = smem(2)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            with elect():
                arrive(full[i % 2], tx=BYTES)
                tma_load(K[i % 2], full[i % 2], bytes=BYTES)
    with role("multiply", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            with elect():
                mma5(K[i % 2])
            arrive(empty[i % 2])


@skeleton
def tcgen05_fixed(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    K = smem(2)
    with role("load", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            with elect():
                arrive(full[i % 2], tx=BYTES)
                tma_load(K[i % 2], full[i % 2], bytes=BYTES)
    with role("multiply", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            with elect():
                mma5(K[i % 2])
                mma5_commit(empty[i % 2])


COUNT = "mbar.count | mbar.unobserved_phase | mbar.parity_alias | race.war | deadlock.cycle"
EXPECT = {
    "buggy": COUNT,
    "buggy_one_slot": COUNT,
    "buggy_half": COUNT,
    "buggy_warpgroup": COUNT,
    "buggy_loader_warp": COUNT,
    "fixed": "proved",
    "fixed_loader_warp": "proved",
    "fixed_count": "proved",
    "fixed_count_one_slot": "proved",
    "fixed_warpgroup": "proved",
    "tcgen05_buggy": "unsupported",
    "tcgen05_fixed": "unsupported",
}
