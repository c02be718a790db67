"""Twins for the bytes of phases: announced by arrivals and alone, by one copy or several, into one CTA or both."""

from exogpu.skeleton import *


def loads(announced=64, first=32, second=32, early=False):
    """Two copies a phase."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=32)
        x = smem(2)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                if early:
                    tma_load(x[0], full, bytes=first)
                arrive(full, tx=announced)
                if not early:
                    tma_load(x[0], full, bytes=first)
                tma_load(x[1], full, bytes=second)
        with role("c", threads=32):
            for i in range(n):
                wait(full, parity=i)
                load(x)
                proxy_fence()
                arrive(empty)

    return kernel


def expects(late):
    """Bytes announced without an arrival, before the arrival or behind it."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=32)
        x = smem()
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                if not late:
                    expect(full, 64)
                arrive(full)
                if late:
                    expect(full, 64)
                tma_load(x, full, bytes=64)
        with role("c", threads=32):
            for i in range(n):
                wait(full, parity=i)
                load(x)
                proxy_fence()
                arrive(empty)

    return kernel


def sometimes(guarded):
    """The copy is left out in the last round, and its announcement is not."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=1)
        x = smem()
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                arrive(full, tx=64)
                if guarded:
                    if i < n - 1:
                        tma_load(x, full, bytes=64)
                else:
                    tma_load(x, full, bytes=64)
        with role("c", threads=1):
            for i in range(n):
                wait(full, parity=i)
                arrive(empty)

    return kernel


def multicast(targets):
    """Each CTA loads a half of a slot: for both, or for itself alone."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(count=1)
        empty = mbarrier(count=2)
        x = smem(2)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1, scope="cluster")
                proxy_fence(everywhere=True)
                arrive(full, tx=64)
                if targets == 2:
                    tma_load(x[rank], full, bytes=32, multicast=(0, 1))
                else:
                    tma_load(x[rank], full, bytes=32)
        with role("c", threads=1):
            for i in range(n):
                wait(full, parity=i)
                load(x)
                proxy_fence(everywhere=True)
                arrive(peer(empty, 0), scope="cluster")
                arrive(peer(empty, 1), scope="cluster")

    return kernel


def from_a_size_on(announced, first=5):
    """A phase of two arrivals and two copies that there is at larger sizes only."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=2)
        x = smem(2)
        with role("p", threads=1):
            if n >= first:
                arrive(full, tx=announced)
                arrive(full, tx=announced)
                tma_load(x[0], full, bytes=64)
                tma_load(x[1], full, bytes=64)
                wait(full, parity=0)

    return kernel


TWINS = [
    ("tx/full", loads(second=16), loads()),
    ("tx/full", loads(announced=32), loads(early=True)),
    ("announced/full", expects(True), expects(False)),
    ("tx/full", sometimes(True), sometimes(False)),
    ("tx/full", multicast(1), multicast(2)),
    ("tx/full", from_a_size_on(96), from_a_size_on(64)),
]
