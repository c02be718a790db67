"""Instructions: one declaration each (signature, contract, meaning, footprint, timeline, emission)."""

from exogpu.isa.epilogue import acc_store
from exogpu.isa.groups import (
    bulk_commit,
    bulk_wait,
    bulk_wait_read,
    fence_proxy_async,
    fence_proxy_async_all,
    wgmma_commit,
    wgmma_fence,
    wgmma_wait,
)
from exogpu.isa.multicast import tma_load_multicast
from exogpu.isa.tma import tma_load, tma_store
from exogpu.isa.vector import vec_copy
from exogpu.isa.wgmma import wgmma

__all__ = [
    "acc_store",
    "bulk_commit",
    "bulk_wait",
    "bulk_wait_read",
    "fence_proxy_async",
    "fence_proxy_async_all",
    "tma_load",
    "tma_load_multicast",
    "tma_store",
    "vec_copy",
    "wgmma",
    "wgmma_commit",
    "wgmma_fence",
    "wgmma_wait",
]
