"""The main loop goes on fetching tiles when none are left.

Source: NVIDIA/cutlass pull request 2945, issue 2944.
"""

from exogpu.skeleton import *

CLASS = "index"


@skeleton
def buggy(n: size):
    full = mbarrier(3, count=1)
    x = smem(3)
    acc = registers()
    g = gmem(n)
    with role("all", threads=128):
        with elect():
            for s in range(min(3, n)):
                arrive(full[s], tx=4096)
                tma_load(x[s], full[s], bytes=4096, src=g[s])
        for k in range(n):
            wait(full[k % 3], parity=k // 3)
            wgmma_fence()
            wgmma(acc, x[k % 3], x[k % 3])
            wgmma_commit()
            wgmma_wait(0)
            bar_sync(1, 128)
            with elect():
                arrive(full[k % 3], tx=4096)
                tma_load(x[k % 3], full[k % 3], bytes=4096, src=g[k + 3])
        load(acc)


def guarded(stages, extra):
    """Tiles are fetched while at least `extra` fewer than the depth of the ring are left: 0 is right."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(stages, count=1)
        x = smem(stages)
        acc = registers()
        g = gmem(n)
        with role("all", threads=128):
            with elect():
                for s in range(min(stages, n)):
                    arrive(full[s], tx=4096)
                    tma_load(x[s], full[s], bytes=4096, src=g[s])
            for k in range(n):
                wait(full[k % stages], parity=k // stages)
                wgmma_fence()
                wgmma(acc, x[k % stages], x[k % stages])
                wgmma_commit()
                wgmma_wait(0)
                bar_sync(1, 128)
                if k + stages < n + extra:
                    with elect():
                        arrive(full[k % stages], tx=4096)
                        tma_load(x[k % stages], full[k % stages], bytes=4096, src=g[k + stages])
            load(acc)

    return kernel


fixed = guarded(3, 0)
fixed_one_stage = guarded(1, 0)
fixed_four_stages = guarded(4, 0)
buggy_one_too_far = guarded(3, 1)


@skeleton
def buggy_prologue(n: size):
    """The prologue fetches three tiles, even if there are fewer."""
    full = mbarrier(3, count=1)
    x = smem(3)
    g = gmem(n)
    with role("all", warps=1):
        with elect():
            for s in range(3):
                arrive(full[s], tx=4096)
                tma_load(x[s], full[s], bytes=4096, src=g[s])
        for s in range(3):
            wait(full[s], parity=0)
            load(x[s])


@skeleton
def fixed_prologue(n: size):
    """With a condition on the size."""
    require(n >= 3)
    full = mbarrier(3, count=1)
    x = smem(3)
    g = gmem(n)
    with role("all", warps=1):
        with elect():
            for s in range(3):
                arrive(full[s], tx=4096)
                tma_load(x[s], full[s], bytes=4096, src=g[s])
        for s in range(3):
            wait(full[s], parity=0)
            load(x[s])


@skeleton
def buggy_check(n: size):
    """The coordinate as a condition, without a tensor."""
    with role("all", warps=1):
        for k in range(n):
            check(k + 3 < n, "the tile that is fetched exists")


@skeleton
def fixed_check(n: size):
    with role("all", warps=1):
        for k in range(n):
            if k + 3 < n:
                check(k + 3 < n, "the tile that is fetched exists")


EXPECT = {
    "buggy": "bounds",
    "fixed": "proved",
    "fixed_one_stage": "proved",
    "fixed_four_stages": "proved",
    "buggy_one_too_far": "bounds",
    "buggy_prologue": "bounds",
    "fixed_prologue": "proved",
    "buggy_check": "seq.mismatch",
    "fixed_check": "proved",
}
