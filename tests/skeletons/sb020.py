"""The kernel expects the bytes of the clamped tile, the tensor map delivers the unclamped box.

Source: mirage-project/mirage pull request 705; the hang is its issue 699.
"""

from exogpu.skeleton import *

CLASS = "tx-bytes"


def ring_of(S, expected, delivered):
    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=1)
        X = smem(S)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=expected)
                tma_load(X[i % S], full[i % S], bytes=delivered)
        with role("multiply", threads=1):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(X[i % S])
                proxy_fence()
                arrive(empty[i % S])

    return ring


def warpgroup_of(S, expected, delivered):
    @skeleton
    def ring(n: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=128)
        X = smem(S)
        acc = registers()
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=expected)
                tma_load(X[i % S], full[i % S], bytes=delivered)
        with role("multiply", threads=128):
            for i in range(n):
                wait(full[i % S], parity=i // S)
                wgmma_fence()
                wgmma(acc, X[i % S])
                wgmma_commit()
                wgmma_wait(0)
                arrive(empty[i % S])

    return ring


buggy = ring_of(2, 1024, 2048)
buggy_one_slot = ring_of(1, 1024, 2048)
buggy_too_many_expected = ring_of(2, 2048, 1024)
buggy_wgmma = warpgroup_of(2, 1024, 2048)
fixed = ring_of(2, 1024, 1024)
fixed_one_slot = ring_of(1, 2048, 2048)
fixed_wgmma = warpgroup_of(2, 1024, 1024)


@skeleton
def buggy_last_trip(n: size):
    """Only the last tile is narrower, and the expectation alone knows it."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            if i == n - 1:
                arrive(full[i % 2], tx=1024)
            else:
                arrive(full[i % 2], tx=2048)
            tma_load(X[i % 2], full[i % 2], bytes=2048)
    with role("multiply", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(X[i % 2])
            proxy_fence()
            arrive(empty[i % 2])


@skeleton
def fixed_two_boxes(n: size):
    """Two loads of unequal size on one barrier, announced by one arrival and one expectation before it."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    Y = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            expect(full[i % 2], 1024)
            tma_load(X[i % 2], full[i % 2], bytes=1024)
            arrive(full[i % 2], tx=2048)
            tma_load(Y[i % 2], full[i % 2], bytes=2048)
    with role("multiply", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(X[i % 2])
            load(Y[i % 2])
            proxy_fence()
            arrive(empty[i % 2])


@skeleton
def tcgen05_buggy(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=1024)
            tma_load(X[i % 2], full[i % 2], bytes=2048)
    with role("multiply", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            mma5(X[i % 2])
            mma5_commit(empty[i % 2])


@skeleton
def tcgen05_fixed(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    X = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=1024)
            tma_load(X[i % 2], full[i % 2], bytes=1024)
    with role("multiply", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            mma5(X[i % 2])
            mma5_commit(empty[i % 2])


# If the completion were counted in pieces, the barrier could also complete after the first of them: a race.
TOO_FEW = "deadlock.cycle | mbar.tx_bytes | race.raw"
EXPECT = {
    "buggy": TOO_FEW,
    "buggy_one_slot": TOO_FEW,
    "buggy_wgmma": TOO_FEW,
    "buggy_last_trip": TOO_FEW,
    "buggy_too_many_expected": "deadlock.cycle | mbar.tx_bytes",
    "fixed": "proved",
    "fixed_one_slot": "proved",
    "fixed_two_boxes": "proved",
    "fixed_wgmma": "proved",
    "tcgen05_buggy": "unsupported",
    "tcgen05_fixed": "unsupported",
}
