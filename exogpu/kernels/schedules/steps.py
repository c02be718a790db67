"""What the derivations of kernels with `wgmma` share."""

from __future__ import annotations

from exogpu.lang import bulk_commit, bulk_wait_read, fence_proxy_async, wgmma_commit, wgmma_fence, wgmma_wait
from exogpu.schedule import Schedule, divide, each, fence, insert, simplify, sync
from exogpu.schedule.library import outwards

MMA_K = 16


def steps_along_k(s: Schedule, to: str, inside: str) -> Schedule:
    """The sums in steps along k, a loop over `k` in the body of the loop `to`, each in parts of 16, a loop over `ks` in
    the body of the loop `inside`."""
    s = divide(s, "kk", MMA_K, names=("ks", "kk"))
    s = outwards(s, "k", to)
    return simplify(outwards(s, "ks", inside))


def awaited_products(s: Schedule) -> Schedule:
    """The products of one step as a group, of which one may be pending when the next begins."""
    steps = s.find("ks")
    s = insert(s, steps.before, sync(wgmma_fence))
    return insert(s, steps.after, (sync(wgmma_commit), sync(wgmma_wait, 1)))


def awaited_pieces(s: Schedule, fill: str, drain: str) -> Schedule:
    """A piece of C in shared memory is written when TMA has read the one that was in its place, and stored when all of
    it is written and the async proxy can see it."""
    filled, drained = s.find(fill), s.find(drain)
    s = insert(s, filled.before, (each("t", 1, sync(bulk_wait_read, 1)), fence()))
    s = insert(s, filled.after, (sync(fence_proxy_async), fence()))
    return insert(s, drained.after, sync(bulk_commit))
