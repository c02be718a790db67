"""Two logical barriers share one hardware barrier, or a barrier has a number that the hardware does not have.

Source: NVIDIA/cutlass issue 2672; review of tile-ai/tilelang pull request 605.
"""

from exogpu.skeleton import *

CLASS = "named-bar"


def two_barriers(scores_ready, queries_ready):
    @skeleton
    def exchange():
        with role("a", threads=128):
            bar_sync(scores_ready, 256)
            bar_arrive(queries_ready, 256)
        with role("b", threads=128):
            bar_arrive(scores_ready, 256)
            bar_sync(queries_ready, 256)

    return exchange


buggy = two_barriers(15, 15)
buggy_id = two_barriers(1, 17)
fixed = two_barriers(14, 15)


def exchange_loop(scores_ready, queries_ready):
    """With data: `b` makes scores, `a` makes queries of them."""

    @skeleton
    def exchange(n: size):
        scores = smem(128)
        queries = smem(128)
        with role("a", threads=128):
            for i in range(n):
                bar_sync(scores_ready, 256)
                load(scores)
                store(queries[tid])
                bar_arrive(queries_ready, 256)
        with role("b", threads=128):
            for i in range(n):
                store(scores[tid])
                bar_arrive(scores_ready, 256)
                bar_sync(queries_ready, 256)
                load(queries)

    return exchange


buggy_loop = exchange_loop(15, 15)
fixed_loop = exchange_loop(2, 3)


@skeleton
def buggy_many(n: size):
    """One barrier for each slot of a ring of five, from number 12 on: the last one does not exist."""
    x = smem(5, 128)
    with role("a", threads=128):
        for i in range(n):
            store(x[i % 5, tid])
            bar_sync(12 + i % 5, 128)
            load(x[i % 5])


@skeleton
def fixed_many(n: size):
    x = smem(4, 128)
    with role("a", threads=128):
        for i in range(n):
            store(x[i % 4, tid])
            bar_sync(12 + i % 4, 128)
            load(x[i % 4])


@skeleton
def buggy_cta_barrier():
    """Barrier 0 is that of `cta_sync`."""
    x = smem(128)
    with role("a", threads=128):
        bar_sync(0, 256)
        store(x[tid])
        cta_sync()
    with role("b", threads=128):
        cta_sync()
        bar_sync(1, 128)
        load(x)


EXPECT = {
    "buggy": "bar.recycle | bar.count | deadlock.cycle",
    "buggy_id": "bar.ids",
    "fixed": "proved",
    "buggy_loop": "bar.recycle | bar.count | deadlock.cycle | race.raw | race.war",
    "fixed_loop": "proved",
    "buggy_many": "bar.ids",
    "fixed_many": "proved",
    "buggy_cta_barrier": "race.raw | bar.count | deadlock.cycle",
}
