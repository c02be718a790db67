"""`gemm_splitk` from three loops."""

from __future__ import annotations

from exogpu.kernels.schedules.steps import awaited_pieces, awaited_products, steps_along_k
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import (
    apart,
    clear_first,
    modes,
    once,
    outwards,
    pipeline,
    spread,
    spread_scalar,
    sums_apart,
    tile,
    unguarded,
    warp_specialise,
)

BM, BN, BK, STAGES, SPLIT, PIECE = 128, 256, 64, 4, 4, 32
WARP, WARPGROUP = 32, 128


def start() -> Schedule:
    """The procedure with its launch configuration."""
    s = call(schedule(matmul(bf16, f32, adds=True)), "gemm_splitk")
    for size in ("M >= 1", "N >= 1", "K >= 1"):
        s = restrict(s, size)
    roles = {"producer": Warpgroups(1, 40), "consumer": Warpgroups(2, 232)}
    return launch(s, roles=roles, persistent=True, raster=16)


def tiles(s: Schedule) -> Schedule:
    """Tiles of C, and for each of them SPLIT sums: sum s has the steps s, s + SPLIT, s + 2 SPLIT, ... along k."""
    s = tile(s, ("m", BM, "tm"), ("n", BN, "tn"))
    s = simplify(divide(s, "m", 64, names=("w", "m")))
    s = divide(s, "k", SPLIT * BK, tail="guard", names=("k", "kk"))
    s = divide(s, "kk", BK, names=("s", "kk"))
    s = outwards(s, "s", "tn")
    s = accumulate(s, "k", "acc")
    s = set_memory(sums_apart(s, "acc", "k", "s"), "acc", WGMMA_D())
    s = steps_along_k(s, "s", "w")
    return clear_first(s, "acc", "w")


def shared(s: Schedule) -> Schedule:
    """Tiles of A and B in shared memory."""
    step, tm, tn = SPLIT * BK * var("k") + BK * var("s"), var("tm"), var("tn")
    products, memory = s.find("ks").around("w"), SMEM(swizzle=128)
    s = stage(s, products, window("A", (BM * tm, BM), (step, BK)), "sA", memory, edges="zero")
    s = stage(s, products, window("B", (BN * tn, BN), (step, BK)), "sB", memory, edges="zero")
    s = swap(s, "sA.load")
    s = unguarded(s, "for kk in _: _")
    return unguarded(s, "acc[_] += _")


def epilogue(s: Schedule) -> Schedule:
    """Through shared memory, in pieces of 32 columns that TMA adds, where rows of C have a multiple of 16 bytes."""
    adds = s.find("C[_] += _")
    s = specialise(s, adds.around("w"), "N % 4 == 0")
    s = replace(s, s.find("C[_] += _ #1").around("m"), acc_add)
    s = divide(s, s.find(adds).around("n"), PIECE, names=("c", "n"))
    s = simplify(outwards(s, s.find(adds).around("c"), s.find("if N % 4 == 0: _")))
    s = bind(s, adds, "acc[_]", "stage", SMEM(swizzle=128, ring=2))
    s = spread_scalar(s, "stage", "w")
    s = apart(s, s.find("stage[_] = _").after, "w")
    s = unguarded(s, "stage[_] = _")
    s = spread(s, "stage", "c")
    s = replace(s, s.find("stage[_] = _").around("m"), acc_store)
    return replace(s, s.find(adds).around("m"), tma_reduce_add)


def parallel(s: Schedule) -> Schedule:
    """Who does what: one thread fills stages, the consumers multiply and add."""
    s = pipeline(s, [(n, f"{n}.load", tma_load) for n in ("sA", "sB")], STAGES, 8, ("full", "empty"))
    s = replace(s, s.find("ks").body(), wgmma, accumulate="k > 0 or ks > 0")
    s = modes(s, Tasks(), "tm", "tn", "s")
    s = modes(s, Threads(WARPGROUP), "w")
    s = modes(s, Unroll(), "ks", "c")
    s = once(once(s, "full", "p"), "tma_reduce_add(_)")
    products, stores = s.find("ks").around("w"), "if N % 4 == 0: _"
    return warp_specialise(s, {"producer": [s.find("full").parent()], "consumer": [products, stores]})


def synchronised(s: Schedule) -> Schedule:
    """When: a stage is freed when the next step has begun, a piece when TMA has read the one before."""
    release = each("v", 8, arrive("empty"), unit=WARP)
    products = s.find("ks").around("w")
    s = insert(s, products.before, wait("full"))
    s = insert(s, products.after, when("k > 0", release))
    s = awaited_products(s)
    drained = each("w", 2, sync(wgmma_wait, 0), unit=WARPGROUP)
    s = insert(s, s.find("if N % 4 == 0: _").before, (drained, release))
    s = awaited_pieces(s, "acc_store(_)", "tma_reduce_add(_)")
    read = each("w", 2, each("t", 1, sync(bulk_wait_read, 0)), unit=WARPGROUP)
    return insert(s, s.find("tm").after, by("consumer", read))


def derivation() -> Schedule:
    """All steps."""
    return synchronised(parallel(epilogue(shared(tiles(start())))))


DERIVATION = derivation()

gemm_splitk = DERIVATION.kernel
