"""Bytes are announced on one barrier and delivered on another.

Source: tile-ai/tilelang pull request 1828, issue 1393.
"""

from exogpu.skeleton import *

CLASS = "phase"


@skeleton
def buggy():
    b0 = mbarrier(count=1)
    b1 = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(b0, tx=4096)
        tma_load(x, b1, bytes=4096)
    with role("compute", warps=4):
        wait(b1, parity=0)
        load(x)


@skeleton
def fixed():
    b0 = mbarrier(count=1)
    b1 = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(b1, tx=4096)
        tma_load(x, b1, bytes=4096)
    with role("compute", warps=4):
        wait(b1, parity=0)
        load(x)


@skeleton
def buggy_wrong_wait():
    """Announced and delivered on one barrier, waited for on the other."""
    b0 = mbarrier(count=1)
    b1 = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(b0, tx=4096)
        tma_load(x, b0, bytes=4096)
    with role("compute", warps=4):
        wait(b1, parity=0)
        load(x)


def ring(stages, announced, delivered, awaited):
    """The offsets of the three uses in the ring of barriers."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(stages, count=1)
        empty = mbarrier(stages, count=4)
        x = smem(stages)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % stages], parity=i // stages + 1)
                arrive(full[(i + announced) % stages], tx=4096)
                tma_load(x[i % stages], full[(i + delivered) % stages], bytes=4096)
        with role("compute", warps=4):
            for i in range(n):
                wait(full[(i + awaited) % stages], parity=i // stages)
                load(x[i % stages])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % stages])

    return kernel


fixed_ring = ring(3, 0, 0, 0)
fixed_turned = ring(3, 1, 1, 1)
buggy_announced = ring(3, 1, 0, 0)
buggy_delivered = ring(3, 0, 1, 0)
buggy_awaited = ring(2, 0, 0, 1)

EXPECT = {
    "buggy": "mbar.tx_bytes | mbar.count | deadlock.cycle",
    "fixed": "proved",
    "buggy_wrong_wait": "mbar.count | deadlock.cycle",
    "fixed_ring": "proved",
    "fixed_turned": "proved",
    "buggy_announced": "mbar.tx_bytes | mbar.count | deadlock.cycle",
    "buggy_delivered": "mbar.tx_bytes | mbar.count | deadlock.cycle | race.raw",
    "buggy_awaited": "mbar.count | deadlock.cycle | race.raw | mbar.parity_alias",
}
