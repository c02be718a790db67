"""A descriptor is built in the kernel and used by TMA without the fence between the two proxies.

Source: triton-lang/triton pull request 7293.
"""

from exogpu.skeleton import *

CLASS = "tensormap"


@skeleton
def buggy_descriptor():
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        edit()
        arrive(full, tx=4096)
        tma_load(x, full, bytes=4096)
        wait(full, parity=0)


@skeleton
def fixed_descriptor():
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        edit()
        tm_release()
        tm_acquire()
        arrive(full, tx=4096)
        tma_load(x, full, bytes=4096)
        wait(full, parity=0)


@skeleton
def buggy():
    """The same with data: an ordinary store to global memory, read by a TMA load."""
    full = mbarrier(count=1)
    x = smem()
    g = gmem()
    with role("load", threads=1):
        store(g)
        arrive(full, tx=4096)
        tma_load(x, full, bytes=4096, src=g)
        wait(full, parity=0)


@skeleton
def buggy_shared_fence():
    """The fence is for shared memory."""
    full = mbarrier(count=1)
    x = smem()
    g = gmem()
    with role("load", threads=1):
        store(g)
        proxy_fence()
        arrive(full, tx=4096)
        tma_load(x, full, bytes=4096, src=g)
        wait(full, parity=0)


@skeleton
def buggy_memory_fence():
    """A fence of one proxy is none between two."""
    full = mbarrier(count=1)
    x = smem()
    g = gmem()
    with role("load", threads=1):
        store(g)
        fence("gpu")
        arrive(full, tx=4096)
        tma_load(x, full, bytes=4096, src=g)
        wait(full, parity=0)


@skeleton
def fixed():
    full = mbarrier(count=1)
    x = smem()
    g = gmem()
    with role("load", threads=1):
        store(g)
        proxy_fence(everywhere=True)
        arrive(full, tx=4096)
        tma_load(x, full, bytes=4096, src=g)
        wait(full, parity=0)


def written_by_all(fenced):
    """Built by many threads: each of them fences, then they meet. `fenced` of them do."""

    @skeleton
    def build():
        full = mbarrier(count=1)
        x = smem()
        g = gmem(128)
        with role("all", threads=128):
            store(g[tid])
            if tid < fenced:
                proxy_fence(everywhere=True)
            cta_sync()
            with elect():
                arrive(full, tx=4096)
                tma_load(x, full, bytes=4096, src=g)
            wait(full, parity=0)
            load(x)

    return build


fixed_all_threads = written_by_all(128)
buggy_first_warp = written_by_all(32)

EXPECT = {
    "buggy_descriptor": "unsupported",
    "fixed_descriptor": "unsupported",
    "buggy": "proxy.generic_to_async",
    "buggy_shared_fence": "fence.state_space | proxy.generic_to_async",
    "buggy_memory_fence": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_all_threads": "proved",
    "buggy_first_warp": "proxy.generic_to_async",
}
