"""Words of CUDA C++, CUTLASS and the kernel language, and the statements of skeletons that stand for them."""

from __future__ import annotations

from typing import Final

ADVICE: Final = {
    "cta_sync()": "__syncthreads syncthreads",
    "warp_sync()": "__syncwarp syncwarp",
    'fence("gpu")': "__threadfence threadfence",
    'fence("cta")': "__threadfence_block",
    'fence("sys")': "__threadfence_system",
    "proxy_fence()": "fence_proxy_async tma_store_fence fence_view_async_shared",
    "proxy_fence(everywhere=True)": "fence_proxy_async_all",
    "init_fence()": "fence_mbarrier_init fence_barrier_init",
    "init(b, n)": "mbarrier_init mbar_init",
    "arrive(b)": "Arrive mbarrier_arrive mbar_arrive",
    "arrive(b, tx=n)": "mbarrier_arrive_expect_tx mbar_arrive_expect_tx arrive_and_expect_tx",
    "expect(b, n)": "mbarrier_expect_tx mbar_expect_tx expect_tx",
    "wait(b, parity)": "Await mbarrier_wait mbar_wait mbarrier_try_wait mbarrier_try_wait_parity try_wait",
    "with elect(any=True):": "elect_one_sync elect_sync",
    "bulk_commit()": "tma_store_arrive bulk_commit_group",
    "bulk_wait_read(n)": "tma_store_wait bulk_wait_group_read",
    "bulk_wait(n)": "bulk_wait_group",
    "cp_commit()": "cp_async_commit cp_async_fence cp_async_commit_group __pipeline_commit",
    "cp_wait(n)": "cp_async_wait cp_async_wait_group __pipeline_wait_prior",
    "cp_wait_all()": "cp_async_wait_all",
    "cp_async(x)": "vec_copy __pipeline_memcpy_async memcpy_async",
    "cp_arrive(b, noinc=True)": "cp_async_arrive cpasync_barrier_arrive_noinc",
    "cp_arrive(b)": "cp_async_hold cpasync_barrier_arrive",
    "wgmma_fence()": "warpgroup_arrive wgmma_fence_sync_aligned",
    "wgmma_commit()": "warpgroup_commit_batch wgmma_commit_group",
    "wgmma_wait(n)": "warpgroup_wait wgmma_wait_group",
    "maxnreg_inc(n)": "warpgroup_reg_alloc",
    "maxnreg_dec(n)": "warpgroup_reg_dealloc",
    "update(x)": "atomicAdd atomic_add",
    "x = smem(n)": "shared __shared__ SMEM",
    "`tid`, `warp` or `lane`, or a loop over what the thread does": "threadIdx laneId lane_id warpId warp_id",
    "`cta_sync()`, or `bar_sync(id, n)` for some n threads": "Fence",
    "a size for the number of this CTA's tiles": "blockIdx gridDim",
}
"""What to write, and the words that stand for it elsewhere."""

_MEANT: Final = {word: text for text, words in ADVICE.items() for word in words.split()}


def meant(written: str) -> str | None:
    """How a skeleton says what a word, or the last one of a dotted path, means elsewhere; None for any other word."""
    text = _MEANT.get(written) or _MEANT.get(written.rpartition(".")[2])
    if text is None:
        return None
    return f"write {text}" if "`" in text or text.startswith("a ") else f"write `{text}`"
