"""`gemm_bf16_cluster` from three loops."""

from __future__ import annotations

from exogpu.ir.stmt import Tasks, Threads, Unroll
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import (
    SMEM,
    WGMMA_D,
    acc_store,
    bf16,
    bulk_commit,
    bulk_wait_read,
    fence_proxy_async,
    tma_load,
    tma_load_multicast,
    tma_store,
    wgmma,
    wgmma_commit,
    wgmma_fence,
    wgmma_wait,
)
from exogpu.schedule import *
from exogpu.schedule.library import apart, modes, outwards, spread, unguarded

CLUSTER, STAGES, WGS, BN, BK = 2, 4, 2, 256, 64
BM = 64 * WGS
PART = BN // CLUSTER


def tile(s: Schedule) -> Schedule:
    s = divide(s, "m", CLUSTER * BM, tail="guard", names=("tm", "m"))
    s = divide(s, "n", BN, tail="guard", names=("tn", "n"))
    s = outwards(s, "tn", 2)
    s = outwards(s, "n", 1)
    s = divide(s, "m", BM, names=("c", "m"))
    s = divide(s, "m", 64, names=("w", "m"))
    s = simplify(s)
    s = join_dims(spread(s, "acc", 6), "acc", -2)
    s = apart(s, s.find("acc[_] = _").after, 6)
    s = unguarded(s, "acc[_] = _")
    s = apart(s, s.find("for k in _: _").after, 6)
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = divide(s, "kk", 16, names=("ks", "kk"))
    s = outwards(s, "k", 6)
    s = outwards(s, "ks", 4)
    return simplify(s)


def first_step(s: Schedule) -> Schedule:
    """The sums start in the first step along k, where `wgmma` can clear them."""
    s = restrict(s, "K >= 1")
    s = into_loop(s, "c")
    for loop in ("c", "w"):
        s = outwards(s, loop)
        s = fuse(s, loop)
    return into_loop(s, "if k == 0: _")


def tiles(s: Schedule) -> Schedule:
    """Tiles of A and B in shared memory: one of A for each CTA, and a copy of that of B, filled part by part."""
    k = var("k")
    products = s.find("c")
    part_of_a = window("A", (CLUSTER * BM * var("tm"), CLUSTER * BM), (BK * k, BK))
    part_of_b = window("B", (BN * var("tn"), BN), (BK * k, BK))
    s = stage(s, products, part_of_a, "sA", SMEM(), edges="zero")
    s = stage(s, s.find(products).body(), part_of_b, "sB", SMEM(), edges="zero")
    s = unguarded(s, "for kk in _: _")
    s = unguarded(s, "acc[_] += _")
    s = spread(s, "sB", 1)
    s = fission(s, s.find("sB.load").after)
    s = divide(s, "sA.load", BM, names=("c", "r"))
    s = divide_dim(s, "sA", 0, BM)
    s = divide(s, "sB.load", PART, names=("q", "r"))
    s = reorder(s, s.find("sB.load").parent())
    return simplify(s)


def instructions(s: Schedule) -> Schedule:
    s = set_memory(s, "acc", WGMMA_D())
    for name in ("sA", "sB"):
        s = set_memory(s, name, SMEM(swizzle=128, ring=STAGES))
    s = mbarrier(s, "full", ring=STAGES, count=1)
    s = mbarrier(s, "empty", ring=STAGES, count=4 * WGS * CLUSTER)
    s = replace(s, s.find("sA[_] = _").parent().parent(), tma_load, barrier="full")
    s = replace(s, s.find("sB[_] = _").parent().parent().parent(), tma_load_multicast, barrier="full")
    s = swap(s, s.find("tma_load(_)").parent())
    s = fuse(s, s.find("tma_load(_)").parent())
    s = replace(s, s.find("ks").body(), wgmma, accumulate="k > 0 or ks > 0")
    return s


def epilogue(s: Schedule) -> Schedule:
    """Through shared memory by TMA, in pieces of 64 columns, where rows of C have a multiple of 16 bytes."""
    stores = s.find("C[_] = _").parent().parent().parent().parent().parent().parent()
    s = specialise(s, stores, "N % 8 == 0")
    s = replace(s, s.find("C[_] = _ #1").parent().parent().parent().parent(), acc_store)
    piece = s.find("C[_] = _")
    s = divide(s, piece.parent().parent().parent(), 64, names=("p", "n"))
    s = outwards(s, "p", 3)
    s = simplify(s, "p")
    c, w, p, tm, tn = (s.find(n).var for n in ("c_2", "w_2", "p", "tm", "tn"))
    part = window("C", (CLUSTER * BM * tm + BM * c + 64 * w, 64), (BN * tn + 64 * p, 64))
    s = stage(s, s.find("w_2").body(), part, "stage", SMEM(swizzle=128, ring=2), edges="guard", before="nothing")
    s = unguarded(s, "stage[_] = _")
    s = spread(s, "stage", 2)
    s = replace(s, s.find("stage[_] = _").parent().parent(), acc_store)
    return replace(s, "stage.store", tma_store)


def parallel(s: Schedule) -> Schedule:
    """Who does what."""
    for n in ("M >= 1", "N >= 1"):
        s = restrict(s, n)
    roles = {"producer": Warpgroups(1, 40), "consumer": Warpgroups(WGS, 232)}
    s = launch(s, roles=roles, persistent=True, raster=8, cluster=CLUSTER)
    s = modes(s, Tasks(), "tm", "tn")
    s = modes(s, Threads(128 * (1 + WGS)), "c", "c_2")
    s = modes(s, Threads(128), "w")
    s = modes(s, Unroll(), "ks", "p")
    s = unit_loop(s, s.find("c_3").body(), "p", 1)
    s = assign_role(s, s.find("c_3").body(), "producer")
    for c in ("c_1", "c_2", "c_2_1"):
        s = assign_role(s, s.find(c).body(), "consumer")
    return unit_loop(s, "tma_store(_)", "t", 1)


def synchronised(s: Schedule) -> Schedule:
    cta, warpgroups, warps = 128 * (1 + WGS), 128, 32
    load, multicast = s.find("tma_load(_)"), s.find("tma_load_multicast(_)")
    s = insert(s, load.before, wait("empty", lag=STAGES))
    s = insert(s, multicast.after, arrive("full", tx=(BM + BN) * BK * 2))
    release = each("v", 4 * WGS, each("r", CLUSTER, arrive("empty", cta=var("r"), relaxed=True)), unit=warps)
    products, k = s.find("w"), s.find("k")
    s = insert(s, products.before, wait("full"))
    s = insert(s, products.after, when("k > 0", release))
    steps = s.find("ks")
    s = insert(s, steps.before, sync(wgmma_fence))
    s = insert(s, steps.after, (sync(wgmma_commit), sync(wgmma_wait, 1)))
    drained = each("w", WGS, sync(wgmma_wait, 0), unit=warpgroups)
    s = insert(s, k.after, each("c", CLUSTER, by("consumer", drained, release), unit=cta))
    staged = s.find("acc_store(stage[_], _)")
    stored = s.find("tma_store(_)")
    s = insert(s, staged.before, (each("t", 1, sync(bulk_wait_read, 1)), fence()))
    s = insert(s, staged.after, (sync(fence_proxy_async), fence()))
    s = insert(s, stored.after, sync(bulk_commit))
    read = each("w", WGS, each("t", 1, sync(bulk_wait_read, 0)), unit=warpgroups)
    return insert(s, s.find("tm").after, (each("c", CLUSTER, by("consumer", read), unit=cta), fence()))


def gemm() -> Schedule:
    s = schedule(matmul(bf16, bf16))
    s = call(s, "gemm_bf16_cluster")
    s = tile(s)
    s = first_step(s)
    s = tiles(s)
    s = instructions(s)
    s = epilogue(s)
    s = parallel(s)
    s = synchronised(s)
    return s


gemm_bf16_cluster = gemm().kernel

if __name__ == "__main__":
    import time

    t = time.perf_counter()
    s = gemm()
    print(s.show())
    print(time.perf_counter() - t, len(s.steps), sum(x.seconds for x in s.steps))
