"""`gemm_splitk` from three loops."""

from __future__ import annotations

from exogpu.ir.stmt import Tasks, Threads, Unroll
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import apart, modes, outwards, spread, unguarded

BM, BN, BK, STAGES, SPLIT, PIECE = 128, 256, 64, 4, 4, 32


def tile(s: Schedule) -> Schedule:
    """Tiles of C, and for each of them a sum of its own over every SPLIT-th step along k."""
    s = divide(s, "m", BM, tail="guard", names=("tm", "m"))
    s = divide(s, "n", BN, tail="guard", names=("tn", "n"))
    s = outwards(s, "tn", 2)
    s = outwards(s, "n", 1)
    s = divide(s, "m", 64, names=("w", "m"))
    s = divide(s, "k", SPLIT * BK, tail="guard", names=("k", "kk"))
    s = divide(s, "kk", BK, names=("s", "kk"))
    s = outwards(s, "s", 1)
    s = simplify(s)
    s = accumulate(s, "k", "acc")
    s = outwards(s, "s", 5)
    s = join_dims(spread(s, "acc", 5), "acc", -2)
    s = apart(s, s.find("acc[_] = _").after, 5)
    s = unguarded(s, "acc[_] = _")
    s = apart(s, s.find("for k in _: _").after, 5)
    s = divide(s, "kk", 16, names=("ks", "kk"))
    s = outwards(s, "k", 5)
    s = outwards(s, "ks", 4)
    return simplify(s)


def first_step(s: Schedule) -> Schedule:
    """The sums start in the first step along k, where `wgmma` can clear them."""
    s = restrict(s, "K >= 1")
    s = into_loop(s, "w")
    s = fuse(outwards(s, "w"), "w")
    return into_loop(s, "if k == 0: _")


def tiles(s: Schedule) -> Schedule:
    """Tiles of A and B in shared memory, filled by TMA."""
    step, tm, tn = SPLIT * BK * var("k") + BK * var("s"), var("tm"), var("tn")
    products = s.find("w")
    memory = SMEM(swizzle=128, ring=STAGES)
    s = stage(s, products, window("A", (BM * tm, BM), (step, BK)), "sA", memory, edges="zero")
    s = stage(s, products, window("B", (BN * tn, BN), (step, BK)), "sB", memory, edges="zero")
    s = unguarded(s, "for kk in _: _")
    s = unguarded(s, "acc[_] += _")
    s = set_memory(s, "acc", WGMMA_D())
    s = mbarrier(s, "full", ring=STAGES, count=1)
    s = mbarrier(s, "empty", ring=STAGES, count=8)
    for name in ("sA", "sB"):
        s = replace(s, f"{name}.load", tma_load, barrier="full")
    s = swap(s, "sA.load")
    return replace(s, s.find("ks").body(), wgmma, accumulate="k > 0 or ks > 0")


def epilogue(s: Schedule) -> Schedule:
    """Sums through shared memory, added to C by TMA, where rows of C have a multiple of 16 bytes."""
    s = specialise(s, "w_2", "N % 4 == 0")
    s = replace(s, s.find("C[_] += _ #1").parent(4), acc_add)
    s = divide(s, "n_2", PIECE, names=("c", "n"))
    s = outwards(s, "c", 2)
    s = simplify(s, "c")
    s = bind(s, "C[_] += _", "acc[_]", "stage")
    s = lift_alloc(s, "stage", 2)
    s = join_dims(spread(s, "stage", 2), "stage", -2)
    s = apart(s, s.find("stage[_] = _").after, 4)
    s = unguarded(s, "stage[_] = _")
    s = set_memory(spread(s, "stage", 1), "stage", SMEM(swizzle=128, ring=2))
    s = replace(s, s.find("stage[_] = _").parent(2), acc_store)
    return replace(s, s.find("C[_] += _").parent(4), tma_reduce_add)


def parallel(s: Schedule) -> Schedule:
    """Who does what."""
    s = restrict(restrict(s, "M >= 1"), "N >= 1")
    s = launch(s, roles={"producer": Warpgroups(1, 40), "consumer": Warpgroups(2, 232)}, persistent=True, raster=16)
    s = modes(s, Tasks(), "tm", "tn", "s")
    s = modes(s, Threads(128), "w")
    s = modes(s, Unroll(), "ks", "c")
    loads = s.find("sA.load").until(s.find("sB.load"))
    s = unit_loop(s, loads, "p", 1)
    s = assign_role(s, s.find(loads).parent(), "producer")
    s = assign_role(s, "w", "consumer")
    s = assign_role(s, "if N % 4 == 0: _", "consumer")
    return unit_loop(s, "tma_reduce_add(_)", "t", 1)


def synchronised(s: Schedule) -> Schedule:
    """One mbarrier for each stage filled and emptied."""
    release = each("v", 8, arrive("empty"), unit=32)
    a, b, products, steps = (s.find(n) for n in ("sA.load", "sB.load", "w", "ks"))
    s = insert(s, a.before, wait("empty", lag=STAGES))
    s = insert(s, b.after, arrive("full", tx=(BM + BN) * BK * 2))
    s = insert(s, products.before, wait("full"))
    s = insert(s, products.after, when("k > 0", release))
    s = insert(s, steps.before, sync(wgmma_fence))
    s = insert(s, steps.after, (sync(wgmma_commit), sync(wgmma_wait, 1)))
    drained = each("w", 2, sync(wgmma_wait, 0), unit=128)
    s = insert(s, s.find("if N % 4 == 0: _").before, (drained, release))
    staged, stored = s.find("acc_store(_)"), s.find("tma_reduce_add(_)")
    s = insert(s, staged.before, (each("t", 1, sync(bulk_wait_read, 1)), fence()))
    s = insert(s, staged.after, (sync(fence_proxy_async), fence()))
    s = insert(s, stored.after, sync(bulk_commit))
    read = each("w", 2, each("t", 1, sync(bulk_wait_read, 0)), unit=128)
    return insert(s, s.find("tm").after, by("consumer", read))


def gemm() -> Schedule:
    s = schedule(matmul(bf16, f32, adds=True))
    s = call(s, "gemm_splitk")
    s = tile(s)
    s = first_step(s)
    s = tiles(s)
    s = epilogue(s)
    s = parallel(s)
    return synchronised(s)


gemm_splitk = gemm().kernel

if __name__ == "__main__":
    import time
    t = time.perf_counter()
    s = gemm()
    print(s.show())
    print(time.perf_counter()-t, len(s.steps), sum(x.seconds for x in s.steps))
