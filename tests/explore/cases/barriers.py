"""Twins about barriers of threads, the ends of threads and register pools: the first of each pair breaks the rule."""

from exogpu.skeleton import *


@skeleton
def part_of_warp():
    with role("a", threads=64):
        if tid < 40:
            bar_sync(1, 64)


@skeleton
def whole_warps():
    with role("a", threads=64):
        if tid < 32:
            bar_sync(1, 32)


@skeleton
def two_sites():
    """Each lane comes to a barrier, but not to the same one."""
    with role("a", threads=32):
        if tid == 0:
            bar_sync(1, 32)
        else:
            bar_sync(1, 32)


@skeleton
def one_site():
    with role("a", threads=32):
        bar_sync(1, 32)


@skeleton
def cta_sync_in_branch():
    x = smem(128)
    with role("compute", threads=128):
        store(x[tid])
        cta_sync()
        load(x)
    with role("load", threads=64):
        pass


@skeleton
def cta_sync_of_all():
    x = smem(128)
    with role("compute", threads=128):
        store(x[tid])
        cta_sync()
        load(x)
    with role("load", threads=64):
        cta_sync()


@skeleton
def cta_sync_of_the_rest():
    """Threads that have exited are not waited for."""
    x = smem(128)
    with role("compute", threads=128):
        store(x[tid])
        cta_sync()
        load(x)
    with role("load", threads=64):
        exit()


@skeleton
def lane_syncs_alone():
    with role("a", threads=32):
        if tid == 0:
            warp_sync()


@skeleton
def lanes_sync():
    with role("a", threads=32):
        warp_sync()


@skeleton
def two_counts():
    with role("a", threads=32):
        bar_arrive(1, 64)
    with role("b", threads=32):
        bar_sync(1, 96)
    with role("c", threads=32):
        bar_sync(1, 96)


@skeleton
def one_count():
    with role("a", threads=32):
        bar_arrive(1, 96)
    with role("b", threads=32):
        bar_sync(1, 96)
    with role("c", threads=32):
        bar_sync(1, 96)


@skeleton
def right_count():
    with role("a", threads=64):
        bar_sync(1, 64)


@skeleton
def id_too_large():
    with role("a", threads=64):
        bar_sync(16, 64)


@skeleton
def largest_id():
    with role("a", threads=64):
        bar_sync(15, 64)


@skeleton
def arrives_twice(n: size):
    with role("math", threads=64):
        for t in range(n):
            bar_arrive(1, 96)
    with role("io", threads=32):
        for t in range(n):
            bar_sync(1, 96)


@skeleton
def heard_back(n: size):
    with role("math", threads=64):
        for t in range(n):
            bar_arrive(1, 96)
            bar_sync(2, 96)
    with role("io", threads=32):
        for t in range(n):
            bar_sync(1, 96)
            bar_arrive(2, 96)


@skeleton
def too_few_join():
    with role("a", threads=64):
        bar_sync(1, 128)


@skeleton
def arrive_does_not_acquire():
    x = smem()
    with role("a", threads=32):
        if tid == 0:
            store(x)
        bar_sync(1, 64)
    with role("b", threads=32):
        bar_arrive(1, 64)
        load(x)


@skeleton
def sync_acquires():
    x = smem()
    with role("a", threads=32):
        if tid == 0:
            store(x)
        bar_arrive(1, 64)
    with role("b", threads=32):
        bar_sync(1, 64)
        load(x)


@skeleton
def pool_empty():
    launch(registers=128)
    with role("a", warps=4):
        maxnreg_inc(168)
    with role("b", warps=4):
        pass


@skeleton
def pool_filled():
    launch(registers=128)
    with role("a", warps=4):
        maxnreg_inc(168)
    with role("b", warps=4):
        maxnreg_dec(88)


@skeleton
def one_warp_asks():
    launch(registers=128)
    with role("a", warps=4):
        if warp == 0:
            maxnreg_dec(64)


@skeleton
def all_warps_ask():
    launch(registers=128)
    with role("a", warps=4):
        maxnreg_dec(64)


@skeleton
def lane_matters():
    x = smem(32)
    with role("a", warps=1), elect(any=True):
        store(x[lane])
        check(lane == 0, "the first lane is elected")


@skeleton
def lane_does_not_matter():
    x = smem(32)
    with role("a", warps=1), elect(any=True):
        store(x[0])
        check(lane >= 0, "some lane is elected")


@skeleton
def guess(n: size):
    """One side skips what the other does not."""
    b = mbarrier(count=1)
    with role("a", threads=1):
        for t in range(n):
            if pred("work", t):
                arrive(b)
    with role("b", threads=1):
        for t in range(n):
            wait(b, parity=t)


@skeleton
def agree(n: size):
    b = mbarrier(count=1)
    c = mbarrier(count=1)
    with role("a", threads=1):
        ph = 0
        for t in range(n):
            if pred("work", t):
                arrive(b)
                wait(c, parity=ph)
                ph ^= 1
    with role("b", threads=1):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(b, parity=ph)
                arrive(c)
                ph ^= 1


TWINS = [
    ("bar.divergence", part_of_warp, whole_warps),
    ("bar.divergence", two_sites, one_site),
    ("bar.divergence", cta_sync_in_branch, cta_sync_of_all),
    ("bar.divergence", cta_sync_in_branch, cta_sync_of_the_rest),
    ("bar.divergence", lane_syncs_alone, lanes_sync),
    ("bar.id_count_mismatch", two_counts, one_count),
    ("bar.ids", id_too_large, largest_id),
    ("bar.recycle", arrives_twice, heard_back),
    ("deadlock.cycle", too_few_join, right_count),
    ("race.raw", arrive_does_not_acquire, sync_acquires),
    ("setmaxnreg.pool", pool_empty, pool_filled),
    ("setmaxnreg.pool", one_warp_asks, all_warps_ask),
    ("seq.mismatch", lane_matters, lane_does_not_matter),
    ("deadlock.cycle", guess, agree),
]
