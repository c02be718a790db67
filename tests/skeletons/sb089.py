"""A mailbox is initialised after the cluster has met, and overwrites what peers have already sent to it.

Source: NVIDIA/cutlass issue 3598, pull request 3601.
"""

from exogpu.skeleton import *

CLASS = "dsmem-life"


@skeleton
def buggy():
    cluster(2)
    arrived = mbarrier(count=1)
    box = smem()
    with role("sender", threads=1, ctas=1):
        cluster_sync()
        st_async(peer(box, 0), peer(arrived, 0), bytes=16)
    with role("reducer", threads=1, ctas=0):
        arrive(arrived, tx=16)
        cluster_sync()
        store(box)
        wait(arrived, parity=0)
        load(box)


@skeleton
def fixed():
    cluster(2)
    arrived = mbarrier(count=1)
    box = smem()
    with role("sender", threads=1, ctas=1):
        cluster_sync()
        st_async(peer(box, 0), peer(arrived, 0), bytes=16)
    with role("reducer", threads=1, ctas=0):
        arrive(arrived, tx=16)
        store(box)
        cluster_sync()
        wait(arrived, parity=0)
        load(box)


@skeleton
def buggy_one_wait():
    """Two boxes with a barrier each: the reducer reads both when it has waited for one."""
    cluster(2)
    arrived = mbarrier(2, count=1)
    box = smem(2)
    with role("sender", threads=1, ctas=1):
        cluster_sync()
        st_async(peer(box[0], 0), peer(arrived[0], 0), bytes=16)
        st_async(peer(box[1], 0), peer(arrived[1], 0), bytes=16)
        cluster_sync()
    with role("reducer", threads=1, ctas=0):
        arrive(arrived[0], tx=16)
        arrive(arrived[1], tx=16)
        cluster_sync()
        wait(arrived[0], parity=0)
        load(box)
        wait(arrived[1], parity=0)
        cluster_sync()


@skeleton
def buggy_active():
    """Some of three CTAs send, each to its own box, and the reducer clears all boxes."""
    cluster(4)
    arrived = mbarrier(4, count=1)
    box = smem(4)
    with role("all", threads=1):
        if rank == 0:
            for r in range(1, 4):
                if pred("active", r):
                    arrive(arrived[r], tx=16)
        cluster_sync()
        if rank == 0:
            for r in range(1, 4):
                store(box[r])
                if pred("active", r):
                    wait(arrived[r], parity=0)
            load(box[1:4])
        else:
            if pred("active", rank):
                st_async(peer(box[rank], 0), peer(arrived[rank], 0), bytes=16)


@skeleton
def fixed_active():
    """Only the boxes that nobody writes are cleared."""
    cluster(4)
    arrived = mbarrier(4, count=1)
    box = smem(4)
    with role("all", threads=1):
        if rank == 0:
            for r in range(1, 4):
                if pred("active", r):
                    arrive(arrived[r], tx=16)
        cluster_sync()
        if rank == 0:
            for r in range(1, 4):
                if pred("active", r):
                    wait(arrived[r], parity=0)
                else:
                    store(box[r])
            load(box[1:4])
        else:
            if pred("active", rank):
                st_async(peer(box[rank], 0), peer(arrived[rank], 0), bytes=16)


@skeleton
def fixed_rounds(n: size):
    """Many rounds: the cluster meets before the box is cleared and after it."""
    cluster(2)
    arrived = mbarrier(count=1)
    box = smem()
    with role("sender", threads=1, ctas=1):
        for i in range(n):
            cluster_sync()
            st_async(peer(box, 0), peer(arrived, 0), bytes=16)
    with role("reducer", threads=1, ctas=0):
        for i in range(n):
            store(box)
            arrive(arrived, tx=16)
            cluster_sync()
            wait(arrived, parity=i)
            load(box)


EXPECT = {
    "buggy": "race.waw",
    "fixed": "proved",
    "buggy_one_wait": "race.raw | race.async_inflight",
    "buggy_active": "race.waw",
    "fixed_active": "proved",
    "fixed_rounds": "proved",
}
