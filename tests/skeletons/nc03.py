"""The use of a loaded value needs no wait of its own, and an ordinary arrive is a release, an ordinary wait an acquire.

Source: NVIDIA/cutlass issues 2525 and 2974.
"""

from exogpu.skeleton import *

CLASS = "negative control"


@skeleton
def fixed_tensor_memory():
    done = mbarrier(count=128)
    out = gmem(128)
    with role("epilogue", warps=4):
        tmem_ld()
        tmem_wait_ld()
        store(out[tid])
        arrive(done)
    with role("mma", threads=1):
        wait(done, parity=0)
        mma5()


@skeleton
def fixed():
    """With shared memory: read, release, acquire, overwrite."""
    done = mbarrier(count=128)
    x = smem(128)
    with role("reader", warps=4):
        load(x)
        arrive(done)
    with role("writer", threads=1):
        wait(done, parity=0)
        store(x)


@skeleton
def buggy_relaxed_arrive():
    done = mbarrier(count=128)
    x = smem(128)
    with role("reader", warps=4):
        load(x)
        arrive(done, relaxed=True)
    with role("writer", threads=1):
        wait(done, parity=0)
        store(x)


@skeleton
def buggy_relaxed_wait():
    done = mbarrier(count=128)
    x = smem(128)
    with role("writer", warps=4):
        store(x[tid])
        arrive(done)
    with role("reader", threads=1):
        wait(done, parity=0, relaxed=True)
        load(x)


@skeleton
def fixed_fences():
    """Relaxed forms need the fence pair."""
    done = mbarrier(count=128)
    x = smem(128)
    with role("writer", warps=4):
        store(x[tid])
        fence("cta")
        arrive(done, relaxed=True)
    with role("reader", threads=1):
        wait(done, parity=0, relaxed=True)
        fence("cta")
        load(x)


@skeleton
def buggy_one_fence():
    """A fence on the reader's side only."""
    done = mbarrier(count=128)
    x = smem(128)
    with role("writer", warps=4):
        store(x[tid])
        arrive(done, relaxed=True)
    with role("reader", threads=1):
        wait(done, parity=0, relaxed=True)
        fence("cta")
        load(x)


@skeleton
def fixed_ring(n: size):
    full = mbarrier(2, count=32)
    empty = mbarrier(2, count=32)
    x = smem(2, 32)
    with role("writer", warps=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(x[i % 2, lane])
            arrive(full[i % 2])
    with role("reader", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            arrive(empty[i % 2])


EXPECT = {
    "fixed_tensor_memory": "unsupported",
    "fixed": "proved",
    "buggy_relaxed_arrive": "race.war | race.raw",
    "buggy_relaxed_wait": "race.raw",
    "fixed_fences": "proved",
    "buggy_one_fence": "race.raw",
    "fixed_ring": "proved",
}
