"""`gemm_splitk` from three loops."""

from __future__ import annotations

from exogpu.kernels.schedules.steps import in_time, launched, steps_along_k, tiles_of_a_and_b, two_consumers
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import (
    apart,
    clear_first,
    outwards,
    spread,
    spread_scalar,
    sums_apart,
    tile,
    unguarded,
)

BM, BN, BK, STAGES, SPLIT, PIECE = 128, 256, 64, 4, 4, 32
ALIGNED = "if N % 4 == 0: _"
DRAIN = "tma_reduce_add(_)"


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
    return tiles_of_a_and_b(s, window("A", (BM * tm, BM), (step, BK)), window("B", (BN * tn, BN), (step, BK)))


def epilogue(s: Schedule) -> Schedule:
    """Through shared memory, in pieces of 32 columns that TMA adds, where rows of C have a multiple of 16 bytes."""
    adds = s.find("C[_] += _")
    s = specialise(s, adds.around("w"), "N % 4 == 0")
    s = replace(s, s.find("C[_] += _ #1").around("m"), acc_add)
    s = divide(s, s.find(adds).around("n"), PIECE, names=("c", "n"))
    s = simplify(outwards(s, s.find(adds).around("c"), s.find(ALIGNED)))
    s = bind(s, adds, "acc[_]", "stage", SMEM(swizzle=128, ring=2))
    s = spread_scalar(s, "stage", "w")
    s = apart(s, s.find("stage[_] = _").after, "w")
    s = unguarded(s, "stage[_] = _")
    s = spread(s, "stage", "c")
    s = replace(s, s.find("stage[_] = _").around("m"), acc_store)
    return replace(s, s.find(adds).around("m"), tma_reduce_add)


def derivation() -> Schedule:
    """All steps."""
    s = launched(schedule(matmul(bf16, f32, adds=True)), "gemm_splitk", 16, 40, 232)
    s = epilogue(shared(tiles(s)))
    return in_time(two_consumers(s, STAGES, DRAIN, ALIGNED), DRAIN, ALIGNED)


DERIVATION = derivation()

gemm_splitk = DERIVATION.kernel
