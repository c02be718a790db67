"""A tile is staged by ordinary stores of many threads and handed to the TMA store engine without a proxy fence.

Source: MoonshotAI/FlashKDA issue 24, fixed by pull request 25.
"""

from exogpu.skeleton import *

CLASS = "proxy-raw"


@skeleton
def buggy():
    state = smem(128)
    with role("all", threads=128):
        store(state[tid])
        cta_sync()
        with elect():
            tma_store(state)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def buggy_fence_by_the_issuer():
    """The issuer's own stores are covered, those of the others are not: it fences before it has heard of them."""
    state = smem(128)
    with role("all", threads=128):
        store(state[tid])
        with elect():
            proxy_fence()
        cta_sync()
        with elect():
            tma_store(state)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def buggy_fence_before_the_stores():
    state = smem(128)
    with role("all", threads=128):
        proxy_fence()
        store(state[tid])
        cta_sync()
        with elect():
            tma_store(state)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def buggy_one_warp_without():
    state = smem(128)
    with role("all", threads=128):
        store(state[tid])
        if warp < 3:
            proxy_fence()
        cta_sync()
        with elect():
            tma_store(state)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def buggy_every_trip(n: size):
    """The same in a loop: the buffer is given back properly, the fence is missing."""
    state = smem(128)
    with role("all", threads=128):
        for i in range(n):
            store(state[tid])
            cta_sync()
            with elect():
                tma_store(state)
                bulk_commit()
                bulk_wait_read(0)
            cta_sync()


@skeleton
def fixed():
    state = smem(128)
    with role("all", threads=128):
        store(state[tid])
        proxy_fence()
        cta_sync()
        with elect():
            tma_store(state)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def fixed_every_trip(n: size):
    state = smem(128)
    with role("all", threads=128):
        for i in range(n):
            store(state[tid])
            proxy_fence()
            cta_sync()
            with elect():
                tma_store(state)
                bulk_commit()
                bulk_wait_read(0)
            cta_sync()


@skeleton
def fixed_issuer_side():
    """The fence between barrier and store, by the issuer: enough inside one CTA (axiom L1, the default)."""
    state = smem(128)
    with role("all", threads=128):
        store(state[tid])
        cta_sync()
        with elect():
            proxy_fence()
            tma_store(state)
            bulk_commit()
            bulk_wait_read(0)


EXPECT = {
    "buggy": "proxy.generic_to_async",
    "buggy_fence_by_the_issuer": "proxy.generic_to_async",
    "buggy_fence_before_the_stores": "proxy.generic_to_async",
    "buggy_one_warp_without": "proxy.generic_to_async",
    "buggy_every_trip": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_every_trip": "proved",
    "fixed_issuer_side": "proved",
}
