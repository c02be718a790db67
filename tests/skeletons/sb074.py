"""A barrier of the whole CTA stands in the branch of one role; the other role never reaches it.

Source: flashinfer-ai/flashinfer pull request 2996.
"""

from exogpu.skeleton import *

CLASS = "divergence"


@skeleton
def buggy():
    full = mbarrier(count=8)
    x = smem(8)
    r = smem(128)
    with role("compute", threads=128):
        wait(full, parity=0)
        load(x)
        store(r[tid])
        cta_sync()
        if warp == 0:
            load(r)
    with role("copy", warps=8):
        with elect():
            arrive(full, tx=2048)
            tma_load(x[warp], full, bytes=2048)


@skeleton
def fixed():
    full = mbarrier(count=8)
    x = smem(8)
    r = smem(128)
    with role("compute", threads=128):
        wait(full, parity=0)
        load(x)
        store(r[tid])
        bar_sync(2, 128)
        if warp == 0:
            load(r)
    with role("copy", warps=8):
        with elect():
            arrive(full, tx=2048)
            tma_load(x[warp], full, bytes=2048)


@skeleton
def fixed_all_threads():
    """The other form of the repair: everybody comes to the barrier."""
    full = mbarrier(count=8)
    x = smem(8)
    r = smem(128)
    with role("compute", threads=128):
        wait(full, parity=0)
        load(x)
        store(r[tid])
        cta_sync()
        if warp == 0:
            load(r)
    with role("copy", warps=8):
        with elect():
            arrive(full, tx=2048)
            tma_load(x[warp], full, bytes=2048)
        cta_sync()


@skeleton
def buggy_ring(n: size):
    """The copying warps wait for slots that the computing ones, stuck at the barrier, do not release."""
    full = mbarrier(2, count=8)
    empty = mbarrier(2, count=1)
    x = smem(2, 8)
    r = smem(128)
    with role("compute", threads=128):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            store(r[tid])
            cta_sync()
            if warp == 0:
                load(r)
            bar_sync(2, 128)
            with elect():
                arrive(empty[i % 2])
    with role("copy", warps=8):
        with elect():
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1)
                arrive(full[i % 2], tx=2048)
                tma_load(x[i % 2, warp], full[i % 2], bytes=2048)


@skeleton
def fixed_ring(n: size):
    full = mbarrier(2, count=8)
    empty = mbarrier(2, count=1)
    x = smem(2, 8)
    r = smem(128)
    with role("compute", threads=128):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            store(r[tid])
            bar_sync(2, 128)
            if warp == 0:
                load(r)
            bar_sync(2, 128)
            with elect():
                arrive(empty[i % 2])
    with role("copy", warps=8):
        with elect():
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1)
                arrive(full[i % 2], tx=2048)
                tma_load(x[i % 2, warp], full[i % 2], bytes=2048)


@skeleton
def buggy_count():
    """A named barrier for all threads of the CTA is no better."""
    r = smem(128)
    x = smem(256)
    with role("compute", threads=128):
        store(r[tid])
        bar_sync(2, 384)
        if warp == 0:
            load(r)
    with role("copy", threads=256):
        store(x[tid])


EXPECT = {
    "buggy": "bar.divergence | bar.count | deadlock.cycle",
    "fixed": "proved",
    "fixed_all_threads": "proved",
    "buggy_ring": "bar.divergence | bar.count | deadlock.cycle",
    "fixed_ring": "proved",
    "buggy_count": "bar.divergence | bar.count | deadlock.cycle",
}
