"""`gemm_pingpong` from three loops."""

from __future__ import annotations

from exogpu.ir.stmt import Stmt
from exogpu.kernels.schedules.steps import WARP, WARPGROUP, awaited_products, launched, steps_along_k, tiles_of_a_and_b
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import (
    clear_first,
    modes,
    once,
    outwards,
    pipeline,
    sums_apart,
    tile,
    unguarded,
    warp_specialise,
)

BM, BN, BK, STAGES, PIECE = 128, 192, 64, 5, 64
TURN = "ordinal % 2"
HALVES = ("upper", "lower")


def tiles(s: Schedule) -> Schedule:
    """A tile of C for each CTA, in halves of 64 rows."""
    s = tile(s, ("m", BM, "tm"), ("n", BN, "tn"))
    s = simplify(divide(s, "m", 64, names=("w", "m")))
    s = sums_apart(s, "acc", "k", "tn")
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = steps_along_k(s, "tn", "w")
    return clear_first(s, "acc", "w")


def shared(s: Schedule) -> Schedule:
    """Tiles of A and B in shared memory."""
    k, tm, tn = (var(n) for n in ("k", "tm", "tn"))
    return tiles_of_a_and_b(s, window("A", (BM * tm, BM), (BK * k, BK)), window("B", (BN * tn, BN), (BK * k, BK)))


def pieces(s: Schedule) -> Schedule:
    """Through shared memory by TMA, in pieces of 64 columns, where rows of C have a multiple of 16 bytes."""
    stores = s.find("C[_] = _")
    s = specialise(s, stores.around("w"), "N % 8 == 0")
    s = divide(s, s.find(stores).around("n"), PIECE, names=("c", "n"))
    s = simplify(outwards(s, s.find(stores).around("c"), s.find("if N % 8 == 0: _")))
    inner = s.find(stores)
    c, w, tn, tm = (inner.around(n).var for n in ("c", "w", "tn", "tm"))
    part = window("C", (BM * tm + 64 * w, 64), (BN * tn + PIECE * c, PIECE))
    s = stage(s, inner.around("m"), part, "piece", SMEM(swizzle=128), edges="guard", before="nothing")
    s = unguarded(s, "piece[_] = _")
    return lift_alloc(s, "piece")


def halves(s: Schedule) -> Schedule:
    """The halves of a tile have accumulators of their own, since one warpgroup computes both."""
    s = reorder(s, s.find("ks").around("w"))
    for statement in ("acc[_] += _", "piece[_] = _", "C[_] = acc[_]"):
        s = unroll(s, s.find(statement).around("w"))
    s = separate(s, "acc", HALVES)
    for name in HALVES:
        s = set_memory(expand_dim(s, name, 1, 0), name, WGMMA_D())
    return simplify(s)


def instructions(s: Schedule) -> Schedule:
    """Products, and stores of each half."""
    for name in HALVES:
        clear, add = s.find(f"{name}[_] = _").around("m").parent(2), s.find(f"{name}[_] += _").around("m")
        s = replace(s, clear.until(add), wgmma, accumulate="k > 0 or ks > 0")
        s = replace(s, s.find(f"piece[_] = {name}[_]").around("m"), acc_store)
        s = replace(s, s.find(f"C[_] = {name}[_]").around("m"), acc_store)
    for _ in HALVES:
        s = replace(s, s.find("C[_] = piece[_] #0").parent(3), tma_store)
    return s


def parallel(s: Schedule) -> Schedule:
    """Who does what: one thread fills stages, the consumers take turns at whole tiles."""
    s = pipeline(s, [(n, f"{n}.load", tma_load) for n in ("sA", "sB")], STAGES, 4, ("full", "empty"))
    s = modes(s, Tasks(), "tm", "tn")
    s = modes(s, Unroll(), "ks", "c")
    s = once(s, "full", "p")
    for n in range(2):
        s = once(s, f"tma_store(_) #{n}")
    parts = {"producer": [s.find("full").parent()], "consumer": ["ks", "if N % 8 == 0: _"]}
    return warp_specialise(s, parts, {"consumer": TURN})


def synchronised(s: Schedule) -> Schedule:
    """When: a stage is freed when the next step has begun, and `turn` is the right to multiply."""

    def warps_arrive(barrier: str) -> Stmt:
        return each("v", 4, arrive(barrier), unit=WARP)

    s = mbarrier(s, "turn", ring=2, count=4)
    s = awaited_products(s)
    s = insert(s, s.find("wgmma_fence()").before, wait("full"))
    s = insert(s, s.find("wgmma_wait(1)").after, when("k > 0", warps_arrive("empty")))
    s = insert(s, s.find("k").before, by("consumer", wait("turn", lag=1), unit=TURN))
    handed_on = (warps_arrive("turn"), sync(wgmma_wait, 0), warps_arrive("empty"))
    s = insert(s, s.find("if N % 8 == 0: _").before, handed_on)
    free = each("t", 1, sync(bulk_wait_read, 0))
    upper, lower = (s.find(f"acc_store(piece[_], {name}[_])") for name in HALVES)
    stored, last = (s.find(f"tma_store(_) #{n}") for n in range(2))
    s = insert(s, upper.before, (free, fence()))
    s = insert(s, lower.before, fence())
    for half in (upper, lower):
        s = insert(s, half.after, (sync(fence_proxy_async), fence()))
    s = insert(s, stored.after, (sync(bulk_commit), sync(bulk_wait_read, 0)))
    s = insert(s, last.after, sync(bulk_commit))
    return insert(s, s.find("tm").after, by("consumer", each("w", 2, free, unit=WARPGROUP)))


def derivation() -> Schedule:
    """All steps."""
    s = launched(schedule(matmul(bf16, bf16)), "gemm_pingpong", 16, 24, 240)
    return synchronised(parallel(instructions(halves(pieces(shared(tiles(s)))))))


DERIVATION = derivation()

gemm_pingpong = DERIVATION.kernel
