"""A named barrier counts one loading warp and one syncing warp, but four warps load and arrive.

Source: Dao-AILab/quack pull request 146.
"""

from exogpu.skeleton import *

CLASS = "named-bar"


def throttle(loaders, count):
    """The loaders let another warp start when their first loads are issued."""

    @skeleton
    def first_tile():
        with role("load", warps=loaders):
            bar_arrive(7, count)
        with role("epilogue", warps=1):
            bar_sync(7, count)

    return first_tile


buggy = throttle(4, 64)
fixed = throttle(4, 160)
fixed_one_loader = throttle(1, 64)
fixed_two_loaders = throttle(2, 96)
buggy_two_loaders = throttle(2, 64)
buggy_too_many = throttle(4, 192)


@skeleton
def buggy_counts_differ():
    """Each side has its own idea of the count."""
    with role("load", warps=4):
        bar_arrive(7, 160)
    with role("epilogue", warps=1):
        bar_sync(7, 64)


def handed_over(count):
    """What the barrier publishes: with too low a count the reader starts before all warps have written."""

    @skeleton
    def first_tile():
        x = smem(128)
        with role("load", warps=4):
            store(x[tid])
            bar_arrive(7, count)
        with role("epilogue", warps=1):
            bar_sync(7, count)
            load(x)

    return first_tile


buggy_data = handed_over(96)
fixed_data = handed_over(160)

EXPECT = {
    "buggy": "bar.count | bar.recycle | deadlock.cycle",
    "fixed": "proved",
    "fixed_one_loader": "proved",
    "fixed_two_loaders": "proved",
    "buggy_two_loaders": "bar.count | bar.recycle | deadlock.cycle",
    "buggy_too_many": "bar.count | deadlock.cycle",
    "buggy_counts_differ": "bar.id_count_mismatch | bar.count",
    "buggy_data": "bar.count | bar.recycle | deadlock.cycle | race.raw",
    "fixed_data": "proved",
}
