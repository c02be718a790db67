"""Lanes that do not use what they load do not wait for it, and all of them say that the memory may be given back.

Source: NVIDIA/cutlass 3652 (suspected there, by a formal check of PTX).
"""

from exogpu.skeleton import *

CLASS = "tmem"


@skeleton
def buggy():
    """As reported: loads from tensor memory."""
    done = mbarrier(count=128 + 1)
    out = gmem(128)
    with role("epilogue", warps=4):
        tmem_ld()
        if lane < 16:
            store(out[tid])
        arrive(done)
    with role("mma", threads=1):
        arrive(done)
        wait(done, parity=0)
        tmem_free()


@skeleton
def fixed():
    done = mbarrier(count=128 + 1)
    out = gmem(128)
    with role("epilogue", warps=4):
        tmem_ld()
        tmem_wait_ld()
        if lane < 16:
            store(out[tid])
        arrive(done)
    with role("mma", threads=1):
        arrive(done)
        wait(done, parity=0)
        tmem_free()


@skeleton
def buggy_bulk(n: size):
    """The same with bulk copies out of shared memory: half of the lanes do not wait until theirs has been read."""
    done = mbarrier(count=128)
    free = mbarrier(count=128)
    x = smem(128)
    with role("fill", warps=4):
        for i in range(n):
            wait(free, parity=i + 1)
            store(x[tid])
            proxy_fence()
            arrive(done)
    with role("copy", warps=4):
        for i in range(n):
            wait(done, parity=i)
            tma_store(x[tid])
            bulk_commit()
            if lane < 16:
                bulk_wait_read(0)
            arrive(free)
        bulk_wait_read(0)


@skeleton
def fixed_bulk(n: size):
    done = mbarrier(count=128)
    free = mbarrier(count=128)
    x = smem(128)
    with role("fill", warps=4):
        for i in range(n):
            wait(free, parity=i + 1)
            store(x[tid])
            proxy_fence()
            arrive(done)
    with role("copy", warps=4):
        for i in range(n):
            wait(done, parity=i)
            tma_store(x[tid])
            bulk_commit()
            bulk_wait_read(0)
            arrive(free)


@skeleton
def buggy_copies():
    """With cp.async: lanes that do not wait for their own copies hand the memory on."""
    landed = mbarrier(count=32)
    x = smem(32)
    with role("copy", warps=1):
        cp_async(x[lane])
        if lane < 16:
            cp_wait_all()
        arrive(landed)
        cp_wait_all()
    with role("reader", warps=1):
        wait(landed, parity=0)
        load(x)


@skeleton
def fixed_copies():
    landed = mbarrier(count=32)
    x = smem(32)
    with role("copy", warps=1):
        cp_async(x[lane])
        cp_wait_all()
        arrive(landed)
    with role("reader", warps=1):
        wait(landed, parity=0)
        load(x)


EXPECT = {
    "buggy": "unsupported",
    "fixed": "unsupported",
    "buggy_bulk": "race.war | race.async_inflight | group.depth",
    "fixed_bulk": "proved",
    "buggy_copies": "race.raw | race.async_inflight",
    "fixed_copies": "proved",
}
