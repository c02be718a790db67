"""One thread initialises an mbarrier and the others use it without having been ordered after that.

Source: NVIDIA/Fuser pull request 1552 (the hang), fixed by pull request 1769.
"""

from exogpu.skeleton import *

CLASS = "mbar-init"
BYTES = 1024


@skeleton
def buggy():
    b = mbarrier()
    X = smem(128)
    with role("all", threads=128):
        if tid == 0:
            init(b, 128)
        store(X[tid])
        arrive(b)
        wait(b, parity=0)
        load(X)


@skeleton
def buggy_warp_sync_only():
    """The first warp is ordered after the initialisation, the other three are not."""
    b = mbarrier()
    X = smem(128)
    with role("all", threads=128):
        if tid == 0:
            init(b, 128)
        warp_sync()
        store(X[tid])
        arrive(b)
        wait(b, parity=0)
        load(X)


@skeleton
def buggy_loader():
    """The initialising thread may use the barrier at once; the waiters may be there before it."""
    b = mbarrier()
    X = smem()
    with role("load", threads=1):
        init(b, 1)
        init_fence()
        arrive(b, tx=BYTES)
        tma_load(X, b, bytes=BYTES)
    with role("compute", warps=4):
        wait(b, parity=0)
        load(X)


@skeleton
def buggy_barrier_too_early():
    b = mbarrier()
    X = smem(128)
    with role("all", threads=128):
        cta_sync()
        if tid == 0:
            init(b, 128)
        store(X[tid])
        arrive(b)
        wait(b, parity=0)
        load(X)


@skeleton
def fixed():
    b = mbarrier()
    X = smem(128)
    with role("all", threads=128):
        if tid == 0:
            init(b, 128)
        cta_sync()
        store(X[tid])
        arrive(b)
        wait(b, parity=0)
        load(X)


@skeleton
def fixed_one_warp():
    b = mbarrier()
    X = smem(32)
    with role("all", warps=1):
        with elect():
            init(b, 32)
        warp_sync()
        store(X[tid])
        arrive(b)
        wait(b, parity=0)
        load(X)


@skeleton
def fixed_loader():
    """No proxy fence is needed between the initialisation and the copy: the copy signals through the generic proxy."""
    b = mbarrier()
    X = smem()
    with role("load", threads=1):
        init(b, 1)
        cta_sync()
        arrive(b, tx=BYTES)
        tma_load(X, b, bytes=BYTES)
    with role("compute", warps=4):
        cta_sync()
        wait(b, parity=0)
        load(X)


@skeleton
def fixed_handshakes(n: size):
    """The barrier stays in use for n phases; every phase hands the rows on to all threads."""
    b = mbarrier()
    X = smem(2, 128)
    with role("all", threads=128):
        if tid == 0:
            init(b, 128)
        cta_sync()
        for i in range(n):
            store(X[i % 2, tid])
            arrive(b)
            wait(b, parity=i)
            load(X[i % 2])


EXPECT = {
    "buggy": "mbar.init_unordered | mbar.uninit",
    "buggy_warp_sync_only": "mbar.init_unordered | mbar.uninit",
    "buggy_loader": "mbar.init_unordered | mbar.uninit",
    "buggy_barrier_too_early": "mbar.init_unordered | mbar.uninit",
    "fixed": "proved",
    "fixed_one_warp": "proved",
    "fixed_loader": "proved",
    "fixed_handshakes": "proved",
}
