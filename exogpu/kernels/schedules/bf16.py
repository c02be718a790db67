"""`gemm_bf16` from three loops."""

from __future__ import annotations

from exogpu.kernels.schedules.steps import in_time, launched, steps_along_k, tiles_of_a_and_b, two_consumers
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import clear_first, outwards, spread, sums_apart, through_shared, tile

BM, BN, BK, STAGES, PIECE = 128, 256, 64, 4, 64
ALIGNED = "if N % 8 == 0: _"
DRAIN = "tma_store(_)"


def tiles(s: Schedule) -> Schedule:
    """A tile of C for each CTA, with 64 rows of it for each consumer."""
    s = tile(s, ("m", BM, "tm"), ("n", BN, "tn"))
    s = simplify(divide(s, "m", 64, names=("w", "m")))
    s = set_memory(sums_apart(s, "acc", "k", "tn"), "acc", WGMMA_D())
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = steps_along_k(s, "tn", "w")
    return clear_first(s, "acc", "w")


def shared(s: Schedule) -> Schedule:
    """Tiles of A and B in shared memory."""
    k, tm, tn = (var(n) for n in ("k", "tm", "tn"))
    return tiles_of_a_and_b(s, window("A", (BM * tm, BM), (BK * k, BK)), window("B", (BN * tn, BN), (BK * k, BK)))


def epilogue(s: Schedule) -> Schedule:
    """Through shared memory by TMA, in pieces of 64 columns, where rows of C have a multiple of 16 bytes."""
    stores = s.find("C[_] = _")
    s = specialise(s, stores.around("w"), "N % 8 == 0")
    s = replace(s, s.find("C[_] = _ #1").around("m"), acc_store)
    s = divide(s, s.find(stores).around("n"), PIECE, names=("c", "n"))
    s = simplify(outwards(s, s.find(stores).around("c"), s.find(ALIGNED)))
    inner = s.find(stores)
    c, w, tn, tm = (inner.around(n).var for n in ("c", "w", "tn", "tm"))
    part = window("C", (BM * tm + 64 * w, 64), (BN * tn + PIECE * c, PIECE))
    memory = SMEM(swizzle=128, ring=2)
    s = through_shared(s, inner.around("m"), part, "stage", memory, fill=acc_store, drain=tma_store)
    return spread(s, "stage", "c")


def derivation() -> Schedule:
    """All steps."""
    s = launched(schedule(matmul(bf16, bf16)), "gemm_bf16", 16, 40, 232)
    s = epilogue(shared(tiles(s)))
    return in_time(two_consumers(s, STAGES, DRAIN, ALIGNED), DRAIN, ALIGNED)


DERIVATION = derivation()

gemm_bf16 = DERIVATION.kernel
