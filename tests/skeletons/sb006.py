"""A ring slot is released after ordinary reads without a proxy fence, and the bulk copy engine refills it.

Source: deepseek-ai/DeepEP issues 621 and 632, fixed by pull request 642; sibling NVIDIA/nccl-extensions issue 8.
"""

from exogpu.skeleton import *

CLASS = "proxy-war"
BYTES = 16384


def buggy_ring(S, W):
    """A ring of S slots, one loading thread and W decoding warps."""

    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=W)
        X = smem(S)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=BYTES)
                tma_load(X[i % S], full[i % S], bytes=BYTES)
        with role("decode", warps=W):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(X[i % S])
                warp_sync()
                with elect():
                    arrive(empty[i % S])

    return ring


def fixed_ring(S, W):
    """The same with a fence in every reading thread."""

    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=W)
        X = smem(S)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=BYTES)
                tma_load(X[i % S], full[i % S], bytes=BYTES)
        with role("decode", warps=W):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(X[i % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % S])

    return ring


buggy = buggy_ring(3, 4)
buggy_one_slot = buggy_ring(1, 1)
buggy_two_slots = buggy_ring(2, 2)
fixed = fixed_ring(3, 4)
fixed_one_slot = fixed_ring(1, 1)
fixed_two_slots = fixed_ring(2, 2)
fixed_four_slots = fixed_ring(4, 8)


@skeleton
def buggy_elected_fence(n: size):
    """One lane fences before it has heard of the others' reads."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    X = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=BYTES)
            tma_load(X[i % 2], full[i % 2], bytes=BYTES)
    with role("decode", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(X[i % 2])
            with elect():
                proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def buggy_fence_before_reads(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    X = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=BYTES)
            tma_load(X[i % 2], full[i % 2], bytes=BYTES)
    with role("decode", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            proxy_fence()
            load(X[i % 2])
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def fixed_issuer_side(n: size):
    """The fence in the loading thread, after it has heard of the reads (axiom L1, the default)."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    X = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            proxy_fence()
            arrive(full[i % 2], tx=BYTES)
            tma_load(X[i % 2], full[i % 2], bytes=BYTES)
    with role("decode", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(X[i % 2])
            warp_sync()
            with elect():
                arrive(empty[i % 2])


EXPECT = {
    "buggy": "proxy.generic_to_async",
    "buggy_one_slot": "proxy.generic_to_async",
    "buggy_two_slots": "proxy.generic_to_async",
    "buggy_elected_fence": "proxy.generic_to_async",
    "buggy_fence_before_reads": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_one_slot": "proved",
    "fixed_two_slots": "proved",
    "fixed_four_slots": "proved",
    "fixed_issuer_side": "proved",
}
