"""Threads read shared bounds and decide by them whether they meet at a barrier, while one of them rewrites the bounds.

Source: NVIDIA/TensorRT-LLM pull request 18339, issue 18338.
"""

from exogpu.skeleton import *

CLASS = "divergence"

# A skeleton has no data: `pred` is the condition that all threads find if the bounds are read before they change.


@skeleton
def buggy():
    bounds = smem(2)
    with role("all", threads=128):
        if tid == 0:
            store(bounds)
        cta_sync()
        load(bounds)
        if pred("degenerate", 0):
            if tid == 0:
                store(bounds)
            cta_sync()
            load(bounds)


@skeleton
def fixed():
    bounds = smem(2)
    with role("all", threads=128):
        if tid == 0:
            store(bounds)
        cta_sync()
        load(bounds)
        cta_sync()
        if pred("degenerate", 0):
            if tid == 0:
                store(bounds)
            cta_sync()
            load(bounds)


@skeleton
def buggy_rounds(n: size):
    bounds = smem(2)
    with role("all", threads=128):
        if tid == 0:
            store(bounds)
        cta_sync()
        for i in range(n):
            load(bounds)
            if pred("degenerate", i):
                if tid == 0:
                    store(bounds)
                cta_sync()


@skeleton
def fixed_rounds(n: size):
    bounds = smem(2)
    with role("all", threads=128):
        if tid == 0:
            store(bounds)
        cta_sync()
        for i in range(n):
            load(bounds)
            cta_sync()
            if pred("degenerate", i):
                if tid == 0:
                    store(bounds)
                cta_sync()


@skeleton
def fixed_guarded(n: size):
    """Both barriers in the branch: the reads that decide come before the first of them."""
    bounds = smem(2)
    with role("all", threads=128):
        if tid == 0:
            store(bounds)
        cta_sync()
        for i in range(n):
            load(bounds)
            if pred("degenerate", i):
                cta_sync()
                if tid == 0:
                    store(bounds)
                cta_sync()


@skeleton
def buggy_no_second_barrier(n: size):
    """The rewritten bounds are not published."""
    bounds = smem(2)
    with role("all", threads=128):
        if tid == 0:
            store(bounds)
        cta_sync()
        for i in range(n):
            load(bounds)
            cta_sync()
            if pred("degenerate", i):
                if tid == 0:
                    store(bounds)


@skeleton
def buggy_own_opinion():
    """Each warp has its own opinion: the barrier is not reached by all."""
    bounds = smem(2)
    with role("all", warps=4):
        if tid == 0:
            store(bounds)
        cta_sync()
        load(bounds)
        cta_sync()
        if pred("degenerate", warp):
            cta_sync()
        bar_sync(1, 128)


EXPECT = {
    "buggy": "race.war",
    "fixed": "proved",
    "buggy_rounds": "race.war",
    "fixed_rounds": "proved",
    "fixed_guarded": "proved",
    "buggy_no_second_barrier": "race.raw",
    "buggy_own_opinion": "bar.divergence | bar.count | deadlock.cycle",
}
