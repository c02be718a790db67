"""Probabilities are stored over the scores by one assignment of chunks to warps, and the scores read by another.

Source: facebookexperimental/triton pull request 1992; review of hao-ai-lab/FastVideo 1819.
"""

from exogpu.skeleton import *

CLASS = "tmem"


@skeleton
def buggy_tensor_memory():
    """As reported: scores and probabilities in tensor memory."""
    with role("softmax", warps=8):
        tmem_ld()
        tmem_wait_ld()
        tmem_st()


@skeleton
def fixed_tensor_memory():
    with role("softmax", warps=8):
        tmem_ld()
        tmem_wait_ld()
        bar_sync(1, 256)
        tmem_st()


@skeleton
def buggy():
    """In shared memory. A probability takes half of the cells of a score: warp w stores over those of warp w // 2."""
    full = mbarrier(count=1)
    s = smem(8, 32)
    p = smem(8, 16, at=s[0])
    with role("load", threads=1):
        arrive(full, tx=32768)
        tma_load(s, full, bytes=32768)
    with role("softmax", warps=8):
        wait(full, parity=0)
        load(s[warp])
        if lane < 16:
            store(p[warp, lane])
        bar_sync(1, 256)
        load(p)


@skeleton
def fixed():
    full = mbarrier(count=1)
    s = smem(8, 32)
    p = smem(8, 16, at=s[0])
    with role("load", threads=1):
        arrive(full, tx=32768)
        tma_load(s, full, bytes=32768)
    with role("softmax", warps=8):
        wait(full, parity=0)
        load(s[warp])
        bar_sync(1, 256)
        if lane < 16:
            store(p[warp, lane])
        bar_sync(1, 256)
        load(p)


@skeleton
def fixed_same_chunk():
    """Probabilities in the cells of the same warp's scores: the lanes have to meet, the warps have not."""
    full = mbarrier(count=1)
    s = smem(8, 32)
    with role("load", threads=1):
        arrive(full, tx=32768)
        tma_load(s, full, bytes=32768)
    with role("softmax", warps=8):
        wait(full, parity=0)
        load(s[warp])
        warp_sync()
        if lane < 16:
            store(s[warp, lane])
        bar_sync(1, 256)
        load(s)


@skeleton
def buggy_ring(n: size):
    """Tile after tile; the barrier after the stores does not help those who have not read."""
    full = mbarrier(count=1)
    empty = mbarrier(count=8)
    s = smem(8, 32)
    p = smem(8, 16, at=s[0])
    with role("load", threads=1):
        for i in range(n):
            wait(empty, parity=i + 1)
            arrive(full, tx=32768)
            tma_load(s, full, bytes=32768)
    with role("softmax", warps=8):
        for i in range(n):
            wait(full, parity=i)
            load(s[warp])
            if lane < 16:
                store(p[warp, lane])
            bar_sync(1, 256)
            load(p)
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty)


@skeleton
def fixed_ring(n: size):
    full = mbarrier(count=1)
    empty = mbarrier(count=8)
    s = smem(8, 32)
    p = smem(8, 16, at=s[0])
    with role("load", threads=1):
        for i in range(n):
            wait(empty, parity=i + 1)
            arrive(full, tx=32768)
            tma_load(s, full, bytes=32768)
    with role("softmax", warps=8):
        for i in range(n):
            wait(full, parity=i)
            load(s[warp])
            bar_sync(1, 256)
            if lane < 16:
                store(p[warp, lane])
            bar_sync(1, 256)
            load(p)
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty)


EXPECT = {
    "buggy_tensor_memory": "unsupported",
    "fixed_tensor_memory": "unsupported",
    "buggy": "race.war",
    "fixed": "proved",
    "fixed_same_chunk": "proved",
    "buggy_ring": "race.war",
    "fixed_ring": "proved",
}
