"""The consumer's release of Q stands behind work that needs a step which the producer queues after that release.

Source: tile-ai/tilelang issue 2567.
"""

from exogpu.skeleton import *

CLASS = "wait-cycle"
BYTES = 16384


@skeleton
def buggy(n: size):
    q_full = mbarrier(count=1)
    q_empty = mbarrier(count=128)
    v_full = mbarrier(count=1)
    Q = smem()
    V = smem()
    with role("produce", threads=1):
        for i in range(n):
            wait(q_empty, parity=i + 1)
            arrive(q_full, tx=BYTES)
            tma_load(Q, q_full, bytes=BYTES)
            wait(q_empty, parity=i)
            store(V)
            arrive(v_full)
    with role("consume", threads=128):
        for i in range(n):
            wait(q_full, parity=i)
            load(Q)
            proxy_fence()
            wait(v_full, parity=i)
            load(V)
            arrive(q_empty)


@skeleton
def fixed(n: size):
    """Q is released first. That V has been read is told by the next release of Q."""
    q_full = mbarrier(count=1)
    q_empty = mbarrier(count=128)
    v_full = mbarrier(count=1)
    Q = smem()
    V = smem()
    with role("produce", threads=1):
        for i in range(n):
            wait(q_empty, parity=i + 1)
            arrive(q_full, tx=BYTES)
            tma_load(Q, q_full, bytes=BYTES)
            wait(q_empty, parity=i)
            store(V)
            arrive(v_full)
    with role("consume", threads=128):
        for i in range(n):
            wait(q_full, parity=i)
            load(Q)
            proxy_fence()
            arrive(q_empty)
            wait(v_full, parity=i)
            load(V)


@skeleton
def fixed_own_work(n: size):
    """V is the producer's work of its own kind: its slot, its barriers."""
    q_full = mbarrier(count=1)
    q_empty = mbarrier(count=128)
    v_full = mbarrier(count=1)
    v_empty = mbarrier(count=128)
    Q = smem()
    V = smem()
    with role("produce", threads=1):
        for i in range(n):
            wait(q_empty, parity=i + 1)
            arrive(q_full, tx=BYTES)
            tma_load(Q, q_full, bytes=BYTES)
            wait(v_empty, parity=i + 1)
            store(V)
            arrive(v_full)
    with role("consume", threads=128):
        for i in range(n):
            wait(q_full, parity=i)
            load(Q)
            proxy_fence()
            wait(v_full, parity=i)
            load(V)
            arrive(q_empty)
            arrive(v_empty)


@skeleton
def buggy_last_slot(n: size):
    """Two slots of Q: each step of V waits for the release of the Q loaded just before it, none of an earlier one."""
    q_full = mbarrier(2, count=1)
    q_empty = mbarrier(2, count=128)
    v_full = mbarrier(count=1)
    Q = smem(2)
    V = smem()
    with role("produce", threads=1):
        for i in range(n):
            wait(q_empty[i % 2], parity=i // 2 + 1)
            arrive(q_full[i % 2], tx=BYTES)
            tma_load(Q[i % 2], q_full[i % 2], bytes=BYTES)
            wait(q_empty[i % 2], parity=i // 2)
            store(V)
            arrive(v_full)
    with role("consume", threads=128):
        for i in range(n):
            wait(q_full[i % 2], parity=i // 2)
            load(Q[i % 2])
            proxy_fence()
            wait(v_full, parity=i)
            load(V)
            arrive(q_empty[i % 2])


@skeleton
def buggy_named_barriers(n: size):
    """The same cycle of two named barriers that two roles pass in opposite orders."""
    with role("produce", threads=128):
        for i in range(n):
            bar_sync(1, 256)
            bar_sync(2, 256)
    with role("consume", threads=128):
        for i in range(n):
            bar_sync(2, 256)
            bar_sync(1, 256)


EXPECT = {
    "buggy": "deadlock.cycle",
    "buggy_last_slot": "deadlock.cycle",
    "buggy_named_barriers": "deadlock.cycle",
    "fixed": "proved",
    "fixed_own_work": "proved",
}
