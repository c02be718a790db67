"""Data copied by cp.async reaches an asynchronous reader (tensor core or TMA store) without a proxy fence.

Source: triton-lang/triton pull request 9610, back-ported by 10537; symptom in pytorch/pytorch issue 181248.
"""

from exogpu.skeleton import *

CLASS = "proxy-raw"


@skeleton
def buggy():
    a = smem(128)
    acc = registers()
    with role("wg", threads=128):
        cp_async(a[tid])
        cp_commit()
        cp_wait(0)
        cta_sync()
        wgmma_fence()
        wgmma(acc, a)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def buggy_tma_store():
    a = smem(128)
    with role("wg", threads=128):
        cp_async(a[tid])
        cp_commit()
        cp_wait(0)
        cta_sync()
        with elect():
            tma_store(a)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def buggy_fence_before_landing():
    """The copies are issued before the fence, but they write after it."""
    a = smem(128)
    acc = registers()
    with role("wg", threads=128):
        cp_async(a[tid])
        cp_commit()
        proxy_fence()
        cp_wait(0)
        cta_sync()
        wgmma_fence()
        wgmma(acc, a)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def buggy_wgmma_fence_only(n: size):
    """wgmma_fence orders registers, not shared memory written by ordinary stores."""
    a = smem(128)
    acc = registers()
    with role("wg", threads=128):
        for i in range(n):
            store(a[tid])
            wgmma_fence()
            cta_sync()
            wgmma(acc, a)
            wgmma_commit()
            wgmma_wait(0)
            cta_sync()


@skeleton
def fixed():
    a = smem(128)
    acc = registers()
    with role("wg", threads=128):
        cp_async(a[tid])
        cp_commit()
        cp_wait(0)
        proxy_fence()
        cta_sync()
        wgmma_fence()
        wgmma(acc, a)
        wgmma_commit()
        wgmma_wait(0)


@skeleton
def fixed_tma_store():
    a = smem(128)
    with role("wg", threads=128):
        cp_async(a[tid])
        cp_commit()
        cp_wait(0)
        proxy_fence()
        cta_sync()
        with elect():
            tma_store(a)
            bulk_commit()
            bulk_wait_read(0)


@skeleton
def fixed_every_trip(n: size):
    """Two stages: the copy of the next trip is in flight while the tensor core reads this one's."""
    a = smem(2, 128)
    acc = registers()
    with role("wg", threads=128):
        if n > 0:
            cp_async(a[0, tid])
        cp_commit()
        for i in range(n):
            if i + 1 < n:
                cp_async(a[(i + 1) % 2, tid])
            cp_commit()
            cp_wait(1)
            proxy_fence()
            cta_sync()
            wgmma_fence()
            wgmma(acc, a[i % 2])
            wgmma_commit()
            wgmma_wait(0)
            cta_sync()


@skeleton
def tcgen05_buggy():
    a = smem(128)
    done = mbarrier(count=1)
    with role("wg", threads=128):
        cp_async(a[tid])
        cp_commit()
        cp_wait(0)
        cta_sync()
        with elect():
            mma5(a)
            mma5_commit(done)
        wait(done, parity=0)


@skeleton
def tcgen05_fixed():
    a = smem(128)
    done = mbarrier(count=1)
    with role("wg", threads=128):
        cp_async(a[tid])
        cp_commit()
        cp_wait(0)
        proxy_fence()
        cta_sync()
        with elect():
            mma5(a)
            mma5_commit(done)
        wait(done, parity=0)


EXPECT = {
    "buggy": "proxy.generic_to_async",
    "buggy_tma_store": "proxy.generic_to_async",
    "buggy_fence_before_landing": "proxy.generic_to_async",
    "buggy_wgmma_fence_only": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_tma_store": "proved",
    "fixed_every_trip": "proved",
    "tcgen05_buggy": "unsupported",
    "tcgen05_fixed": "unsupported",
}
