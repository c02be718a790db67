"""A copy loop through two stages: the stage is reloaded while the store just issued may still read it.

Source: deepseek-ai/DeepEP issues 657 and 660, fixed by pull request 674.
"""

from exogpu.skeleton import *

CLASS = "ring-war"
BYTES = 8192


def copy(S, ahead, pending):
    """S stages; tile i + `ahead` is loaded when at most `pending` of the stores up to tile i's are still reading.
    Its stage was last used by the store of tile i + ahead - S, after which S - ahead others have been issued."""

    @skeleton
    def loop(n: size):
        full = mbarrier(S, count=1)
        X = smem(S)
        with role("copy", threads=1):
            for j in range(min(n, ahead)):
                arrive(full[j], tx=BYTES)
                tma_load(X[j], full[j], bytes=BYTES)
            for i in range(n):
                wait(full[i % S], parity=i // S)
                tma_store(X[i % S])
                bulk_commit()
                if i + ahead < n:
                    bulk_wait_read(pending)
                    arrive(full[(i + ahead) % S], tx=BYTES)
                    tma_load(X[(i + ahead) % S], full[(i + ahead) % S], bytes=BYTES)
            bulk_wait_read(0)

    return loop


buggy = copy(2, 2, 1)
buggy_one_stage = copy(1, 1, 1)
buggy_three_stages = copy(3, 2, 2)
fixed = copy(2, 2, 0)
fixed_one_stage = copy(1, 1, 0)
fixed_three_stages = copy(3, 2, 1)
fixed_four_stages = copy(4, 1, 3)


@skeleton
def buggy_no_commit(n: size):
    """The store is in no group yet when the wait looks."""
    full = mbarrier(2, count=1)
    X = smem(2)
    with role("copy", threads=1):
        for j in range(min(n, 2)):
            arrive(full[j], tx=BYTES)
            tma_load(X[j], full[j], bytes=BYTES)
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            tma_store(X[i % 2])
            if i + 2 < n:
                bulk_wait_read(0)
                arrive(full[i % 2], tx=BYTES)
                tma_load(X[i % 2], full[i % 2], bytes=BYTES)
            bulk_commit()
        bulk_wait_read(0)


@skeleton
def fixed_load_before_store(n: size):
    """The next tile is loaded before this one's store is issued: the other stage's store is the youngest group."""
    full = mbarrier(2, count=1)
    X = smem(2)
    with role("copy", threads=1):
        if n > 0:
            arrive(full[0], tx=BYTES)
            tma_load(X[0], full[0], bytes=BYTES)
        for i in range(n):
            if i + 1 < n:
                bulk_wait_read(0)
                arrive(full[(i + 1) % 2], tx=BYTES)
                tma_load(X[(i + 1) % 2], full[(i + 1) % 2], bytes=BYTES)
            wait(full[i % 2], parity=i // 2)
            tma_store(X[i % 2])
            bulk_commit()
        bulk_wait_read(0)


@skeleton
def fixed_full_wait(n: size):
    """Waiting for the writes, too, is more than enough."""
    full = mbarrier(2, count=1)
    X = smem(2)
    y = gmem(n, result=True)
    with role("copy", threads=1):
        for j in range(min(n, 2)):
            arrive(full[j], tx=BYTES)
            tma_load(X[j], full[j], bytes=BYTES)
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            tma_store(X[i % 2], y[i])
            bulk_commit()
            if i + 2 < n:
                bulk_wait(0)
                arrive(full[i % 2], tx=BYTES)
                tma_load(X[i % 2], full[i % 2], bytes=BYTES)
        bulk_wait(0)


WAR = "race.war | race.async_inflight | group.depth"
EXPECT = {
    "buggy": WAR,
    "buggy_one_stage": WAR,
    "buggy_three_stages": WAR,
    "buggy_no_commit": WAR,
    "fixed": "proved",
    "fixed_one_stage": "proved",
    "fixed_three_stages": "proved",
    "fixed_four_stages": "proved",
    "fixed_load_before_store": "proved",
    "fixed_full_wait": "proved",
}
