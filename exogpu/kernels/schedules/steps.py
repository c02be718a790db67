"""What the derivations of kernels with `wgmma` share."""

from __future__ import annotations

from exogpu.ir.stmt import Window
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import modes, once, outwards, pipeline, unguarded, warp_specialise

MMA_K = 16
WARP, WARPGROUP = 32, 128


def launched(s: Schedule, name: str, raster: int, producer: int, consumer: int) -> Schedule:
    """A persistent kernel with one warpgroup that loads and two that multiply, and registers for them."""
    s = call(s, name)
    for size in ("M >= 1", "N >= 1", "K >= 1"):
        s = restrict(s, size)
    roles = {"producer": Warpgroups(1, producer), "consumer": Warpgroups(2, consumer)}
    return launch(s, roles=roles, persistent=True, raster=raster)


def steps_along_k(s: Schedule, to: str, inside: str) -> Schedule:
    """The sums in steps along k, a loop over `k` in the body of the loop `to`, each in parts of 16, a loop over `ks` in
    the body of the loop `inside`."""
    s = divide(s, "kk", MMA_K, names=("ks", "kk"))
    s = outwards(s, "k", to)
    return simplify(outwards(s, "ks", inside))


def tiles_of_a_and_b(s: Schedule, a: Window, b: Window) -> Schedule:
    """Windows of A and B in shared memory for the products of a step, with zeros beyond the edges, so that the products
    need no guards."""
    products, memory = s.find("ks").around("w"), SMEM(swizzle=128)
    s = stage(s, products, a, "sA", memory, edges="zero")
    s = stage(s, products, b, "sB", memory, edges="zero")
    s = swap(s, "sA.load")
    s = unguarded(s, "for kk in _: _")
    return unguarded(s, "acc[_] += _")


def two_consumers(s: Schedule, stages: int, drain: str, aligned: str) -> Schedule:
    """Who does what: one thread fills stages, two warpgroups multiply and store."""
    s = pipeline(s, [(n, f"{n}.load", tma_load) for n in ("sA", "sB")], stages, 8, ("full", "empty"))
    s = replace(s, s.find("ks").body(), wgmma, accumulate="k > 0 or ks > 0")
    s = modes(s, Tasks(), "tm", "tn", "s")
    s = modes(s, Threads(WARPGROUP), "w")
    s = modes(s, Unroll(), "ks", "c")
    s = once(once(s, "full", "p"), drain)
    products = s.find("ks").around("w")
    return warp_specialise(s, {"producer": [s.find("full").parent()], "consumer": [products, aligned]})


def in_time(s: Schedule, drain: str, aligned: str) -> Schedule:
    """When: a stage is freed when the next step has begun, a piece when TMA has read the one before."""
    release = each("v", 8, arrive("empty"), unit=WARP)
    products = s.find("ks").around("w")
    s = insert(s, products.before, wait("full"))
    s = insert(s, products.after, when("k > 0", release))
    s = awaited_products(s)
    drained = each("w", 2, sync(wgmma_wait, 0), unit=WARPGROUP)
    s = insert(s, s.find(aligned).before, (drained, release))
    s = awaited_pieces(s, "acc_store(stage[_], _)", drain)
    read = each("w", 2, each("t", 1, sync(bulk_wait_read, 0)), unit=WARPGROUP)
    return insert(s, s.find("tm").after, by("consumer", read))


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
