"""A gate's first wait passes on the fresh barrier; for an empty tile the other side arrives on the gate before that.

Source: NVIDIA/cudnn-frontend pull request 575.
"""

from exogpu.skeleton import *

CLASS = "phase"
BYTES = 16384


@skeleton
def buggy(n: size):
    gate = mbarrier(count=1)
    q = mbarrier(count=1)
    QO = smem()
    with role("load", threads=1):
        for t in range(n):
            wait(gate, parity=t + 1)
            arrive(q, tx=BYTES)
            tma_load(QO, q, bytes=BYTES)
    with role("store", threads=1):
        for t in range(n):
            if pred("work", t):
                wait(q, parity=t)
                load(QO)
                store(QO)
                proxy_fence()
                tma_store(QO)
                bulk_commit()
                bulk_wait_read(0)
            arrive(gate)


@skeleton
def fixed(n: size):
    """The storing role hears of every load before it opens the gate again."""
    gate = mbarrier(count=1)
    q = mbarrier(count=1)
    QO = smem()
    with role("load", threads=1):
        for t in range(n):
            wait(gate, parity=t + 1)
            arrive(q, tx=BYTES)
            tma_load(QO, q, bytes=BYTES)
    with role("store", threads=1):
        for t in range(n):
            wait(q, parity=t)
            if pred("work", t):
                load(QO)
                store(QO)
                proxy_fence()
                tma_store(QO)
                bulk_commit()
                bulk_wait_read(0)
            arrive(gate)


@skeleton
def buggy_one_tile(n: size):
    """A single tile: the storing role was first, and the loader hangs."""
    require(n <= 1)
    gate = mbarrier(count=1)
    q = mbarrier(count=1)
    QO = smem()
    with role("load", threads=1):
        for t in range(n):
            wait(gate, parity=t + 1)
            arrive(q, tx=BYTES)
            tma_load(QO, q, bytes=BYTES)
    with role("store", threads=1):
        for t in range(n):
            if pred("work", t):
                wait(q, parity=t)
                load(QO)
            arrive(gate)


@skeleton
def buggy_two_gates(n: size):
    """Two slots put the trouble off by one tile, no more."""
    gate = mbarrier(2, count=1)
    q = mbarrier(2, count=1)
    QO = smem(2)
    with role("load", threads=1):
        for t in range(n):
            wait(gate[t % 2], parity=t // 2 + 1)
            arrive(q[t % 2], tx=BYTES)
            tma_load(QO[t % 2], q[t % 2], bytes=BYTES)
    with role("store", threads=1):
        for t in range(n):
            if pred("work", t):
                wait(q[t % 2], parity=t // 2)
                load(QO[t % 2])
                proxy_fence()
            arrive(gate[t % 2])


@skeleton
def fixed_two_gates(n: size):
    gate = mbarrier(2, count=1)
    q = mbarrier(2, count=1)
    QO = smem(2)
    with role("load", threads=1):
        for t in range(n):
            wait(gate[t % 2], parity=t // 2 + 1)
            arrive(q[t % 2], tx=BYTES)
            tma_load(QO[t % 2], q[t % 2], bytes=BYTES)
    with role("store", threads=1):
        for t in range(n):
            wait(q[t % 2], parity=t // 2)
            if pred("work", t):
                load(QO[t % 2])
                proxy_fence()
            arrive(gate[t % 2])


@skeleton
def fixed_nothing_for_empty(n: size):
    """Both roles leave empty tiles out; parities count the others."""
    gate = mbarrier(count=1)
    q = mbarrier(count=1)
    QO = smem()
    with role("load", threads=1):
        c = 0
        for t in range(n):
            if pred("work", t):
                wait(gate, parity=c + 1)
                arrive(q, tx=BYTES)
                tma_load(QO, q, bytes=BYTES)
                c += 1
    with role("store", threads=1):
        c = 0
        for t in range(n):
            if pred("work", t):
                wait(q, parity=c)
                load(QO)
                store(QO)
                proxy_fence()
                tma_store(QO)
                bulk_commit()
                bulk_wait_read(0)
                arrive(gate)
                c += 1


# If the loader was first, an empty tile's copy is not waited for, and the next one meets it in flight.
SPENT = "deadlock.cycle | mbar.parity_alias | mbar.unobserved_phase | mbar.count | race.waw | race.war"
EXPECT = {
    "buggy": SPENT,
    "buggy_one_tile": "deadlock.cycle",
    "buggy_two_gates": SPENT,
    "fixed": "proved",
    "fixed_two_gates": "proved",
    "fixed_nothing_for_empty": "proved",
}
