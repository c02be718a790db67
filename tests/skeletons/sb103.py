"""What loads read is rewritten for the next group while loads of the last group may still read it.

Source: deepseek-ai/DeepGEMM pull request 343 and 430; NVIDIA/cutlass issue 3165.
"""

from exogpu.skeleton import *

CLASS = "tensormap"


@skeleton
def buggy_descriptor(groups: size):
    """As reported: the descriptor of the loads in global memory."""
    full = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for g in range(groups):
            edit()
            fence_tensormap()
            arrive(full[g % 2], tx=4096)
            tma_load(x[g % 2], full[g % 2], bytes=4096)


@skeleton
def fixed_descriptor(groups: size):
    full = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for g in range(groups):
            if g >= 1:
                wait(full[(g - 1) % 2], parity=(g - 1) // 2)
            edit()
            fence_tensormap()
            arrive(full[g % 2], tx=4096)
            tma_load(x[g % 2], full[g % 2], bytes=4096)


@skeleton
def buggy(n: size):
    """With data instead of a descriptor: a table in global memory that is rewritten for every load."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    x = smem(2)
    table = gmem()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(table)
            proxy_fence(everywhere=True)
            arrive(full[i % 2], tx=4096)
            tma_load(x[i % 2], full[i % 2], bytes=4096, src=table)
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def fixed(n: size):
    """The loads before have ended when the table is rewritten."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    x = smem(2)
    table = gmem()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            if i >= 1:
                wait(full[(i - 1) % 2], parity=(i - 1) // 2)
            store(table)
            proxy_fence(everywhere=True)
            arrive(full[i % 2], tx=4096)
            tma_load(x[i % 2], full[i % 2], bytes=4096, src=table)
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def buggy_memory_fence(n: size):
    """A memory fence does not wait for loads in flight."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    x = smem(2)
    table = gmem()
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            fence("gpu")
            store(table)
            proxy_fence(everywhere=True)
            arrive(full[i % 2], tx=4096)
            tma_load(x[i % 2], full[i % 2], bytes=4096, src=table)
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


@skeleton
def fixed_one_slot(n: size):
    """With one slot its release says that the last load has ended."""
    full = mbarrier(count=1)
    empty = mbarrier(count=4)
    x = smem()
    table = gmem()
    with role("load", threads=1):
        for i in range(n):
            wait(empty, parity=i + 1)
            store(table)
            proxy_fence(everywhere=True)
            arrive(full, tx=4096)
            tma_load(x, full, bytes=4096, src=table)
    with role("compute", warps=4):
        for i in range(n):
            wait(full, parity=i)
            load(x)
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty)


@skeleton
def fixed_two_tables(n: size):
    """A table for each slot."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    x = smem(2)
    table = gmem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            store(table[i % 2])
            proxy_fence(everywhere=True)
            arrive(full[i % 2], tx=4096)
            tma_load(x[i % 2], full[i % 2], bytes=4096, src=table[i % 2])
    with role("compute", warps=4):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            warp_sync()
            with elect():
                arrive(empty[i % 2])


EXPECT = {
    "buggy_descriptor": "unsupported",
    "fixed_descriptor": "unsupported",
    "buggy": "race.war | race.async_inflight",
    "fixed": "proved",
    "buggy_memory_fence": "race.war | race.async_inflight",
    "fixed_one_slot": "proved",
    "fixed_two_tables": "proved",
}
