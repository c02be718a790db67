"""A tile that ordinary loads have read becomes the destination of a TMA load; the fence pass had no rule for that.

Source: triton-lang/triton pull request 7262.
"""

from exogpu.skeleton import *

CLASS = "proxy-war"
BYTES = 4096


@skeleton
def buggy():
    full = mbarrier(count=1)
    buf = smem()
    with role("all", threads=128):
        load(buf)
        cta_sync()
        with elect():
            arrive(full, tx=BYTES)
            tma_load(buf, full, bytes=BYTES)
        wait(full, parity=0)
        load(buf)


@skeleton
def buggy_written_before():
    """The first contents come from ordinary stores; they would be overwritten (WAW) as the reads are (WAR)."""
    full = mbarrier(count=1)
    buf = smem(128)
    with role("all", threads=128):
        store(buf[tid])
        cta_sync()
        load(buf)
        cta_sync()
        with elect():
            arrive(full, tx=BYTES)
            tma_load(buf, full, bytes=BYTES)
        wait(full, parity=0)
        load(buf)


@skeleton
def buggy_every_trip(n: size):
    full = mbarrier(count=1)
    buf = smem()
    with role("all", threads=128):
        for i in range(n):
            with elect():
                arrive(full, tx=BYTES)
                tma_load(buf, full, bytes=BYTES)
            wait(full, parity=i)
            load(buf)
            cta_sync()


@skeleton
def fixed():
    full = mbarrier(count=1)
    buf = smem()
    with role("all", threads=128):
        load(buf)
        proxy_fence()
        cta_sync()
        with elect():
            arrive(full, tx=BYTES)
            tma_load(buf, full, bytes=BYTES)
        wait(full, parity=0)
        load(buf)


@skeleton
def fixed_written_before():
    full = mbarrier(count=1)
    buf = smem(128)
    with role("all", threads=128):
        store(buf[tid])
        cta_sync()
        load(buf)
        proxy_fence()
        cta_sync()
        with elect():
            arrive(full, tx=BYTES)
            tma_load(buf, full, bytes=BYTES)
        wait(full, parity=0)
        load(buf)


@skeleton
def fixed_every_trip(n: size):
    full = mbarrier(count=1)
    buf = smem()
    with role("all", threads=128):
        for i in range(n):
            with elect():
                arrive(full, tx=BYTES)
                tma_load(buf, full, bytes=BYTES)
            wait(full, parity=i)
            load(buf)
            proxy_fence()
            cta_sync()


@skeleton
def fixed_no_overwrite():
    """A generic read before an asynchronous read is no conflict: no fence is needed."""
    full = mbarrier(count=1)
    buf = smem()
    with role("all", threads=128):
        with elect():
            arrive(full, tx=BYTES)
            tma_load(buf, full, bytes=BYTES)
        wait(full, parity=0)
        load(buf)
        cta_sync()
        with elect():
            tma_store(buf)
            bulk_commit()
            bulk_wait_read(0)


EXPECT = {
    "buggy": "proxy.generic_to_async",
    "buggy_written_before": "proxy.generic_to_async",
    "buggy_every_trip": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_written_before": "proved",
    "fixed_every_trip": "proved",
    "fixed_no_overwrite": "proved",
}
