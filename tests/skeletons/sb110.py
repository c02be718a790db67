"""Some roles wait for the kernel before, others read what it writes without waiting, and see another list of tiles.

Source: NVIDIA/cutlass 2760; Dao-AILab/quack 206 with marin-community/marin 8870 and 9183;
Dao-AILab/flash-attention 2498; lightseekorg/tokenspeed 1000; NVIDIA/cccl 3131 and 11569.
"""

from exogpu.skeleton import *

CLASS = "pdl"


@skeleton
def buggy_dependent_launch(n: size):
    """As reported: a kernel that starts before its predecessor has ended."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    tiles = gmem()
    with role("load", threads=1):
        pdl_wait()
        load(tiles)
        for t in range(n):
            wait(empty[t % 2], parity=t // 2 + 1)
            store(x[t % 2])
            arrive(full[t % 2])
    with role("math", threads=1):
        load(tiles)
        for t in range(n):
            wait(full[t % 2], parity=t // 2)
            load(x[t % 2])
            arrive(empty[t % 2])


@skeleton
def fixed_dependent_launch(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    tiles = gmem()
    with role("load", threads=1):
        pdl_wait()
        load(tiles)
        for t in range(n):
            wait(empty[t % 2], parity=t // 2 + 1)
            store(x[t % 2])
            arrive(full[t % 2])
    with role("math", threads=1):
        pdl_wait()
        load(tiles)
        for t in range(n):
            wait(full[t % 2], parity=t // 2)
            load(x[t % 2])
            arrive(empty[t % 2])


@skeleton
def buggy(n: size):
    """The predecessor as another CTA that publishes through a flag: the math role does not wait for it."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    tiles = gmem()
    written = flags()
    with role("predecessor", threads=1, ctas=0):
        store(tiles)
        signal(written, 1)
    with role("load", threads=1, ctas=1):
        spin(written, 1)
        load(tiles)
        for t in range(n):
            wait(empty[t % 2], parity=t // 2 + 1)
            store(x[t % 2])
            arrive(full[t % 2])
    with role("math", threads=1, ctas=1):
        load(tiles)
        for t in range(n):
            wait(full[t % 2], parity=t // 2)
            load(x[t % 2])
            arrive(empty[t % 2])


@skeleton
def fixed(n: size):
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    tiles = gmem()
    written = flags()
    with role("predecessor", threads=1, ctas=0):
        store(tiles)
        signal(written, 1)
    with role("load", threads=1, ctas=1):
        spin(written, 1)
        load(tiles)
        for t in range(n):
            wait(empty[t % 2], parity=t // 2 + 1)
            store(x[t % 2])
            arrive(full[t % 2])
    with role("math", threads=1, ctas=1):
        spin(written, 1)
        load(tiles)
        for t in range(n):
            wait(full[t % 2], parity=t // 2)
            load(x[t % 2])
            arrive(empty[t % 2])


@skeleton
def fixed_told(n: size):
    """The loading role passes on what it has acquired: math reads the list after the first tile has come."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    tiles = gmem()
    written = flags()
    with role("predecessor", threads=1, ctas=0):
        store(tiles)
        signal(written, 1)
    with role("load", threads=1, ctas=1):
        spin(written, 1)
        load(tiles)
        for t in range(n):
            wait(empty[t % 2], parity=t // 2 + 1)
            store(x[t % 2])
            arrive(full[t % 2])
    with role("math", threads=1, ctas=1):
        for t in range(n):
            wait(full[t % 2], parity=t // 2)
            load(tiles)
            load(x[t % 2])
            arrive(empty[t % 2])


@skeleton
def buggy_after_the_read():
    """The wait stands after the read that it is for."""
    cluster(2)
    tiles = gmem()
    written = flags()
    with role("predecessor", threads=1, ctas=0):
        store(tiles)
        signal(written, 1)
    with role("math", threads=1, ctas=1):
        load(tiles)
        spin(written, 1)


@skeleton
def buggy_lists(loaded: size, computed: size):
    """The consequence: two roles with lists of different length."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for t in range(loaded):
            wait(empty[t % 2], parity=t // 2 + 1)
            store(x[t % 2])
            arrive(full[t % 2])
    with role("math", threads=1):
        for t in range(computed):
            wait(full[t % 2], parity=t // 2)
            load(x[t % 2])
            arrive(empty[t % 2])


@skeleton
def fixed_lists(loaded: size, computed: size):
    """A load role that is ahead by no more than the depth of the ring blocks nobody."""
    require(loaded >= computed)
    require(loaded <= computed + 2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for t in range(loaded):
            wait(empty[t % 2], parity=t // 2 + 1)
            store(x[t % 2])
            arrive(full[t % 2])
    with role("math", threads=1):
        for t in range(computed):
            wait(full[t % 2], parity=t // 2)
            load(x[t % 2])
            arrive(empty[t % 2])


EXPECT = {
    "buggy_dependent_launch": "unsupported",
    "fixed_dependent_launch": "unsupported",
    "buggy": "race.raw",
    "fixed": "proved",
    "fixed_told": "proved",
    "buggy_after_the_read": "race.raw | race.war",
    "buggy_lists": "deadlock.cycle | mbar.count",
    "fixed_lists": "proved",
}
