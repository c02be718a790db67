"""An address is written to shared memory after the only barrier that its reader goes through.

Source: mlc-ai/TIRx-kernels pull request 7, item 2; neighbours facebookexperimental/triton 1553, tile-ai/tilelang 2644.
"""

from exogpu.skeleton import *

CLASS = "tmem"


@skeleton
def buggy_tensor_memory():
    """As reported: the allocation of tensor memory stores the address."""
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        cluster_sync()
        tmem_alloc(address)
    with role("epilogue", warps=4):
        cluster_sync()
        load(address)


@skeleton
def buggy():
    """With an ordinary store."""
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        cluster_sync()
        with elect():
            store(address)
    with role("epilogue", warps=4):
        cluster_sync()
        load(address)


@skeleton
def fixed():
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        with elect():
            store(address)
        cluster_sync()
    with role("epilogue", warps=4):
        cluster_sync()
        load(address)


@skeleton
def fixed_own_barrier():
    """Or a barrier of the two roles after it."""
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        cluster_sync()
        with elect():
            store(address)
        bar_sync(1, 160)
    with role("epilogue", warps=4):
        cluster_sync()
        bar_sync(1, 160)
        load(address)


@skeleton
def fixed_split():
    """The halves of the barrier in between: what counts is the store before the arrive and the read after the wait."""
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        with elect():
            store(address)
        cluster_arrive()
        cluster_wait()
    with role("epilogue", warps=4):
        cluster_arrive()
        cluster_wait()
        load(address)


@skeleton
def buggy_split():
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        cluster_arrive()
        with elect():
            store(address)
        cluster_wait()
    with role("epilogue", warps=4):
        cluster_arrive()
        cluster_wait()
        load(address)


@skeleton
def buggy_peer():
    """The address is for the peer, but the barrier before the read joins one CTA only."""
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        cluster_sync()
        with elect():
            store(address)
        bar_sync(1, 160)
        cluster_sync()
    with role("epilogue", warps=4):
        cluster_sync()
        bar_sync(1, 160)
        load(peer(address, 1 - rank))
        cluster_sync()


@skeleton
def fixed_peer():
    cluster(2)
    address = smem()
    with role("mma", warps=1):
        with elect():
            store(address)
        cluster_sync()
        cluster_sync()
    with role("epilogue", warps=4):
        cluster_sync()
        load(peer(address, 1 - rank))
        cluster_sync()


EXPECT = {
    "buggy_tensor_memory": "unsupported",
    "buggy": "race.raw",
    "fixed": "proved",
    "fixed_own_barrier": "proved",
    "fixed_split": "proved",
    "buggy_split": "race.raw",
    "buggy_peer": "race.raw",
    "fixed_peer": "proved",
}
