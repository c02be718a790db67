"""`gemm_bf16_cluster` from three loops."""

from __future__ import annotations

from exogpu.ir.stmt import Tasks, Threads, Unroll
from exogpu.kernels.schedules.steps import awaited_pieces, awaited_products, steps_along_k
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import (
    clear_first,
    modes,
    once,
    outwards,
    pipeline,
    spread,
    sums_apart,
    through_shared,
    tile,
    unguarded,
    warp_specialise,
)

CLUSTER, STAGES, WGS, BN, BK = 2, 4, 2, 256, 64
BM = 64 * WGS
PART = BN // CLUSTER
WARP, WARPGROUP, CTA = 32, 128, 128 * (1 + WGS)


def start() -> Schedule:
    """The procedure with its launch configuration."""
    s = call(schedule(matmul(bf16, bf16)), "gemm_bf16_cluster")
    for size in ("M >= 1", "N >= 1", "K >= 1"):
        s = restrict(s, size)
    roles = {"producer": Warpgroups(1, 40), "consumer": Warpgroups(WGS, 232)}
    return launch(s, roles=roles, persistent=True, raster=8, cluster=CLUSTER)


def tiles(s: Schedule) -> Schedule:
    """A tile of C for each cluster, with 64 rows of it for each warpgroup of each CTA."""
    s = tile(s, ("m", CLUSTER * BM, "tm"), ("n", BN, "tn"))
    s = divide(s, "m", BM, names=("c", "m"))
    s = simplify(divide(s, "m", 64, names=("w", "m")))
    s = set_memory(sums_apart(s, "acc", "k", "tn"), "acc", WGMMA_D())
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = steps_along_k(s, "tn", "w")
    return clear_first(s, "acc", "c", "w")


def shared(s: Schedule) -> Schedule:
    """Tiles of A and B in shared memory: one of A for each CTA, and a copy of that of B, filled part by part."""
    k, tm, tn = (var(n) for n in ("k", "tm", "tn"))
    products = s.find("c")
    memory = SMEM(swizzle=128)
    s = stage(s, products, window("A", (CLUSTER * BM * tm, CLUSTER * BM), (BK * k, BK)), "sA", memory, edges="zero")
    s = stage(s, s.find(products).body(), window("B", (BN * tn, BN), (BK * k, BK)), "sB", memory, edges="zero")
    s = unguarded(s, "for kk in _: _")
    s = unguarded(s, "acc[_] += _")
    s = spread(s, "sB", "k")
    s = fission(s, s.find("sB.load").after)
    s = divide(s, "sA.load", BM, names=("c", "r"))
    s = divide_dim(s, "sA", 0, BM)
    s = divide(s, "sB.load", PART, names=("q", "r"))
    s = reorder(s, s.find("sB.load").parent())
    s = swap(simplify(s), "sA.load")
    return fuse(s, "sA.load")


def epilogue(s: Schedule) -> Schedule:
    """Through shared memory by TMA, in pieces of 64 columns, where rows of C have a multiple of 16 bytes."""
    stores = s.find("C[_] = _")
    s = specialise(s, stores.around("c"), "N % 8 == 0")
    s = replace(s, s.find("C[_] = _ #1").around("m"), acc_store)
    s = divide(s, s.find(stores).around("n"), 64, names=("p", "n"))
    s = simplify(outwards(s, s.find(stores).around("p"), s.find("if N % 8 == 0: _")))
    inner = s.find(stores)
    p, w, c, tn, tm = (inner.around(n).var for n in ("p", "w", "c", "tn", "tm"))
    part = window("C", (CLUSTER * BM * tm + BM * c + 64 * w, 64), (BN * tn + 64 * p, 64))
    memory = SMEM(swizzle=128, ring=2)
    s = through_shared(s, inner.around("m"), part, "stage", memory, fill=acc_store, drain=tma_store)
    return spread(s, "stage", "p")


def parallel(s: Schedule) -> Schedule:
    """Who does what: one thread fills stages, the consumers multiply and store."""
    fills, products = s.find("sA.load"), s.find("ks").around("c")
    a, b = fills.body()[0], fills.body()[1]
    s = pipeline(s, [("sA", a, tma_load), ("sB", b, tma_load_multicast)], STAGES, 4 * WGS * CLUSTER, ("full", "empty"))
    s = replace(s, s.find("ks").body(), wgmma, accumulate="k > 0 or ks > 0")
    s = modes(s, Tasks(), "tm", "tn")
    s = modes(s, Threads(CTA), "c")
    s = modes(s, Threads(WARPGROUP), "w")
    s = modes(s, Unroll(), "ks", "p")
    s = once(once(s, "full", "p"), "tma_store(_)")
    stores = [s.find(f"acc_store(_) #{n}").around("c").body() for n in range(2)]
    return warp_specialise(s, {"producer": [s.find(fills).body()], "consumer": [s.find(products).body(), *stores]})


def synchronised(s: Schedule) -> Schedule:
    """When: a stage is freed when the next step has begun, a piece when TMA has read the one before."""
    release = each("v", 4 * WGS, each("r", CLUSTER, arrive("empty", cta=var("r"), relaxed=True)), unit=WARP)
    drained = each("w", WGS, sync(wgmma_wait, 0), unit=WARPGROUP)
    read = each("w", WGS, each("t", 1, sync(bulk_wait_read, 0)), unit=WARPGROUP)
    products = s.find("ks").around("w")
    s = insert(s, products.before, wait("full"))
    s = insert(s, products.after, when("k > 0", release))
    s = awaited_products(s)
    s = insert(s, s.find("k").after, each("c", CLUSTER, by("consumer", drained, release), unit=CTA))
    s = awaited_pieces(s, "acc_store(stage[_], _)", "tma_store(_)")
    return insert(s, s.find("tm").after, (each("c", CLUSTER, by("consumer", read), unit=CTA), fence()))


def derivation() -> Schedule:
    """All steps."""
    return synchronised(parallel(epilogue(shared(tiles(start())))))


DERIVATION = derivation()

gemm_bf16_cluster = DERIVATION.kernel
