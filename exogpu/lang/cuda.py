"""Words of CUDA C++ that stand for something which this language writes in another way."""

from __future__ import annotations

_THREAD = "write `for t in threads(n):` around the statements: iteration t runs on thread t of the collective"
_TASK = "write `for b in tasks(0, n):` around the statements: the CTAs of the grid take the tasks"
_LANE = "write `for w in threads(n, unit=warp):`, and `for t in threads(32):` in it: w is the warp, t the lane"
_BARRIER = "write `Fence()`: a barrier of all threads that execute the statement"
_WARP_BARRIER = "write `Fence()` in `for w in threads(n, unit=warp):`: there it is a barrier of the warp"
_ORDER = "`Fence()`, `Arrive` and `Await` order memory; `fence_proxy_async()` does for what TMA or wgmma then read"
_SHARED = "write `name: f32[64, 64] @ SMEM`"
_MBARRIER = "declare `bar = mbarrier(ring=r, count=n)`, then `Arrive(bar)` or `Arrive(bar, tx=bytes)`, and `Await(bar)`"

_MEANT = {
    "threadIdx": _THREAD,
    "blockIdx": _TASK,
    "clusterIdx": _TASK,
    "blockDim": "`block(n)` gives a CTA n threads: write that number",
    "gridDim": "the grid follows from the task loops: write the number of their iterations",
    "warpSize": "write `warp` as the unit of `threads`, or 32",
    "laneid": _LANE,
    "lane_id": _LANE,
    "laneId": _LANE,
    "warpid": _LANE,
    "warp_id": _LANE,
    "warpId": _LANE,
    "__syncthreads": _BARRIER,
    "syncthreads": _BARRIER,
    "__syncwarp": _WARP_BARRIER,
    "syncwarp": _WARP_BARRIER,
    "__threadfence": _ORDER,
    "__threadfence_block": _ORDER,
    "__threadfence_system": _ORDER,
    "__shared__": _SHARED,
    "mbarrier_init": _MBARRIER,
    "mbarrier_arrive": _MBARRIER,
    "mbarrier_arrive_expect_tx": _MBARRIER,
    "mbarrier_wait": _MBARRIER,
    "mbarrier_try_wait": _MBARRIER,
    "atomicAdd": "`atomic_add(dst, src)` adds from registers or shared memory to global memory",
}


def meant(written: str) -> str | None:
    """How to write what a word, or the last one of a dotted path, means in CUDA C++; None for any other word."""
    return _MEANT.get(written) or _MEANT.get(written.rpartition(".")[2])
