"""What a dynamic checker got wrong: bytes are no arrivals, a later read needs its own wait, cp.async through a barrier.

Source: triton-lang/triton 9046, 10123, 11216, 11626.
"""

from exogpu.skeleton import *

CLASS = "negative control"


@skeleton
def fixed_two_loads():
    """Two loads on one barrier, one arrival with the sum of the bytes."""
    full = mbarrier(count=1)
    x = smem(2)
    with role("load", threads=1):
        arrive(full, tx=8192)
        tma_load(x[0], full, bytes=4096)
        tma_load(x[1], full, bytes=4096)
    with role("reader", warps=4):
        wait(full, parity=0)
        load(x)


@skeleton
def fixed_two_loads_ring(n: size):
    full = mbarrier(3, count=1)
    empty = mbarrier(3, count=4)
    a = smem(3)
    b = smem(3)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 3], parity=i // 3 + 1)
            arrive(full[i % 3], tx=12288)
            tma_load(a[i % 3], full[i % 3], bytes=8192)
            tma_load(b[i % 3], full[i % 3], bytes=4096)
    with role("reader", warps=4):
        for i in range(n):
            wait(full[i % 3], parity=i // 3)
            load(a[i % 3])
            load(b[i % 3])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 3])


@skeleton
def fixed_bytes_first():
    """The bytes may come before they are expected, as long as the arrival is missing."""
    full = mbarrier(count=1)
    x = smem(2)
    with role("load", threads=1):
        tma_load(x[0], full, bytes=4096)
        tma_load(x[1], full, bytes=4096)
        expect(full, 4096)
        arrive(full, tx=4096)
    with role("reader", warps=4):
        wait(full, parity=0)
        load(x)


@skeleton
def buggy_two_arrivals():
    """Each load announced by an arrival of its own: the second arrival is for the next phase."""
    full = mbarrier(count=1)
    x = smem(2)
    with role("load", threads=1):
        arrive(full, tx=4096)
        tma_load(x[0], full, bytes=4096)
        arrive(full, tx=4096)
        tma_load(x[1], full, bytes=4096)
    with role("reader", warps=4):
        wait(full, parity=0)
        load(x)


@skeleton
def buggy_second_read_tensor_core():
    """As reported."""
    done = mbarrier(count=1)
    x = smem()
    with role("mma", threads=1):
        mma5(x)
        mma5_commit(done)
        wait(done, parity=0)
        mma5(x)
        store(x)


@skeleton
def buggy_second_read():
    """The wait was for the first of two reads."""
    x = smem(128)
    acc = registers()
    with role("math", threads=128):
        wgmma_fence()
        wgmma(acc, x, x)
        wgmma_commit()
        wgmma_wait(0)
        bar_sync(1, 128)
        wgmma(acc, x, x)
        wgmma_commit()
        store(x[tid])
        wgmma_wait(0)


@skeleton
def fixed_second_read():
    x = smem(128)
    acc = registers()
    with role("math", threads=128):
        wgmma_fence()
        wgmma(acc, x, x)
        wgmma_commit()
        wgmma_wait(0)
        wgmma(acc, x, x)
        wgmma_commit()
        wgmma_wait(0)
        bar_sync(1, 128)
        store(x[tid])


@skeleton
def fixed_copy_arrive():
    """The copies of each thread arrive by themselves when they have landed."""
    landed = mbarrier(count=32)
    x = smem(32)
    with role("copy", warps=1):
        cp_async(x[lane])
        cp_arrive(landed, noinc=True)
    with role("reader", warps=1):
        wait(landed, parity=0)
        load(x)


@skeleton
def buggy_copy_after():
    """A copy that is issued after the arrive is not covered by it."""
    landed = mbarrier(count=32)
    x = smem(2, 32)
    with role("copy", warps=1):
        cp_async(x[0, lane])
        cp_arrive(landed, noinc=True)
        cp_async(x[1, lane])
        cp_wait_all()
    with role("reader", warps=1):
        wait(landed, parity=0)
        load(x)


def copies(arrivals, noinc):
    """Without `noinc` the arrival is added to the pending ones first, so it does not count."""

    @skeleton
    def kernel():
        landed = mbarrier(count=arrivals)
        x = smem(32)
        with role("copy", warps=1):
            cp_async(x[lane])
            cp_arrive(landed, noinc=noinc)
            arrive(landed)
        with role("reader", warps=1):
            wait(landed, parity=0)
            load(x)

    return kernel


fixed_counted = copies(64, True)
fixed_uncounted = copies(32, False)
buggy_counted = copies(32, True)
buggy_uncounted = copies(64, False)


@skeleton
def fixed_copy_ring(n: size):
    full = mbarrier(2, count=32)
    empty = mbarrier(2, count=32)
    x = smem(2, 32)
    with role("copy", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            cp_async(x[i % 2, lane])
            cp_arrive(full[i % 2], noinc=True)
    with role("reader", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            arrive(empty[i % 2])


@skeleton
def fixed_bulk_then_copy():
    """A tile that TMA has loaded is overwritten by cp.async when it has landed."""
    full = mbarrier(count=1)
    landed = mbarrier(count=32)
    x = smem(32)
    with role("load", threads=1):
        arrive(full, tx=512)
        tma_load(x, full, bytes=512)
    with role("copy", warps=1):
        wait(full, parity=0)
        cp_async(x[lane])
        cp_arrive(landed, noinc=True)
    with role("reader", warps=1):
        wait(landed, parity=0)
        load(x)


EXPECT = {
    "fixed_two_loads": "proved",
    "fixed_two_loads_ring": "proved",
    "fixed_bytes_first": "proved",
    "buggy_two_arrivals": "race.raw | race.async_inflight | mbar.unobserved_phase | mbar.tx_bytes",
    "buggy_second_read_tensor_core": "unsupported",
    "buggy_second_read": "race.war | race.async_inflight",
    "fixed_second_read": "proved",
    "fixed_copy_arrive": "proved",
    "buggy_copy_after": "race.raw | race.async_inflight",
    "fixed_counted": "proved",
    "fixed_uncounted": "proved",
    "buggy_counted": "mbar.count | race.raw | race.async_inflight | mbar.unobserved_phase",
    "buggy_uncounted": "mbar.count | deadlock.cycle",
    "fixed_copy_ring": "proved",
    "fixed_bulk_then_copy": "proved",
}
