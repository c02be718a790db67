"""Instructions: one declaration each (signature, contract, meaning, footprint, timeline, emission)."""

from exogpu.isa.async_copy import (
    cp_async,
    cp_async_arrive,
    cp_async_commit,
    cp_async_hold,
    cp_async_wait,
    cp_async_wait_all,
)
from exogpu.isa.atomic import atomic_add
from exogpu.isa.cluster import cluster_arrive, cluster_arrive_relaxed, cluster_wait
from exogpu.isa.epilogue import acc_add, acc_store
from exogpu.isa.fragment import acc_convert, ldmatrix
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
from exogpu.isa.named import bar_arrive, bar_sync
from exogpu.isa.tma import tma_load, tma_reduce_add, tma_store
from exogpu.isa.vector import vec_copy
from exogpu.isa.wgmma import wgmma, wgmma_rs, wgmma_ta

__all__ = [
    "acc_add",
    "acc_convert",
    "acc_store",
    "atomic_add",
    "bar_arrive",
    "bar_sync",
    "bulk_commit",
    "bulk_wait",
    "bulk_wait_read",
    "cluster_arrive",
    "cluster_arrive_relaxed",
    "cluster_wait",
    "cp_async",
    "cp_async_arrive",
    "cp_async_commit",
    "cp_async_hold",
    "cp_async_wait",
    "cp_async_wait_all",
    "fence_proxy_async",
    "fence_proxy_async_all",
    "ldmatrix",
    "tma_load",
    "tma_load_multicast",
    "tma_reduce_add",
    "tma_store",
    "vec_copy",
    "wgmma",
    "wgmma_commit",
    "wgmma_fence",
    "wgmma_rs",
    "wgmma_ta",
    "wgmma_wait",
]
