"""`gemm_pingpong` from three loops."""

from __future__ import annotations

from exogpu.ir.stmt import Stmt, Tasks, Unroll
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import apart, modes, outwards, spread, unguarded

BM, BN, BK, STAGES = 128, 192, 64, 5
TURN = "ordinal % 2"


def tile(s: Schedule) -> Schedule:
    s = divide(s, "m", BM, tail="guard", names=("tm", "m"))
    s = divide(s, "n", BN, tail="guard", names=("tn", "n"))
    s = outwards(s, "tn", 2)
    s = outwards(s, "n", 1)
    s = divide(s, "m", 64, names=("w", "m"))
    s = simplify(s)
    s = join_dims(spread(s, "acc", 5), "acc", -2)
    s = apart(s, s.find("acc[_] = _").after, 5)
    s = unguarded(s, "acc[_] = _")
    s = apart(s, s.find("for k in _: _").after, 5)
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = divide(s, "kk", 16, names=("ks", "kk"))
    s = outwards(s, "k", 5)
    s = outwards(s, "ks", 5)
    return simplify(s)


def first_step(s: Schedule) -> Schedule:
    """The sums start in the first step along k, where `wgmma` can clear them."""
    s = restrict(s, "K >= 1")
    s = into_loop(s, "w")
    s = into_loop(s, "if k == 0: _")
    s = outwards(s, "w", 2)
    return fuse(s, "w")


def tiles(s: Schedule) -> Schedule:
    k, tm, tn = (var(n) for n in ("k", "tm", "tn"))
    products = s.find("ks")
    s = stage(s, products, window("A", (BM * tm, BM), (BK * k, BK)), "sA", SMEM(), edges="zero")
    s = stage(s, products, window("B", (BN * tn, BN), (BK * k, BK)), "sB", SMEM(), edges="zero")
    s = unguarded(s, "for kk in _: _")
    return unguarded(s, "acc[_] += _")


def pieces(s: Schedule) -> Schedule:
    """Through shared memory in pieces of 64 columns, where rows of C have a multiple of 16 bytes."""
    s = specialise(s, "w_2", "N % 8 == 0")
    s = divide(s, "n_2", 64, names=("c", "n"))
    s = outwards(s, "c", 2)
    s = simplify(s, "c")
    c, w, tm, tn = (var(n) for n in ("c", "w_2", "tm", "tn"))
    part = window("C", (BM * tm + 64 * w, 64), (BN * tn + 64 * c, 64))
    s = stage(s, s.find("w_2").body(), part, "piece", SMEM(swizzle=128), edges="guard", before="nothing")
    s = unguarded(s, "piece[_] = _")
    return lift_alloc(s, "piece")


def halves(s: Schedule) -> Schedule:
    """The upper and the lower half of a tile have accumulators of their own, since one warpgroup has both."""
    for w in ("w", "w_2", "w_1"):
        s = unroll(s, w)
    s = separate(s, "acc", ("upper", "lower"))
    for name in ("upper", "lower"):
        s = expand_dim(s, name, 1, 0)
        s = set_memory(s, name, WGMMA_D())
    return simplify(s)


def instructions(s: Schedule) -> Schedule:
    s = mbarrier(s, "full", ring=STAGES, count=1)
    s = mbarrier(s, "empty", ring=STAGES, count=4)
    s = mbarrier(s, "turn", ring=2, count=4)
    for name in ("sA", "sB"):
        s = set_memory(s, name, SMEM(swizzle=128, ring=STAGES))
        s = replace(s, f"{name}.load", tma_load, barrier="full")
    s = swap(s, "sA.load")
    for name in ("upper", "lower"):
        start, add = s.find(f"{name}[_] = _").parent(4), s.find(f"{name}[_] += _").parent(3)
        s = replace(s, start.until(add), wgmma, accumulate="k > 0 or ks > 0")
    for name in ("upper", "lower"):
        s = replace(s, s.find(f"piece[_] = {name}[_]").parent(2), acc_store)
        s = replace(s, s.find(f"C[_] = {name}[_]").parent(4), acc_store)
    for _ in range(2):
        s = replace(s, s.find("C[_] = _ #0").parent(3), tma_store)
    return s


def parallel(s: Schedule) -> Schedule:
    """Who does what: the consumers take turns at whole tiles."""
    s = restrict(restrict(s, "M >= 1"), "N >= 1")
    s = launch(s, roles={"producer": Warpgroups(1, 24), "consumer": Warpgroups(2, 240)}, persistent=True, raster=16)
    s = modes(s, Tasks(), "tm", "tn")
    s = modes(s, Unroll(), "ks", "c")
    loads = s.find("sA.load").until(s.find("sB.load"))
    s = unit_loop(s, loads, "p", 1)
    s = assign_role(s, s.find(loads).parent(), "producer")
    s = assign_role(s, "ks", "consumer", TURN)
    s = assign_role(s, "if N % 8 == 0: _", "consumer", TURN)
    for n in range(2):
        s = unit_loop(s, f"tma_store(_) #{n}", "t", 1)
    return s


def synchronised(s: Schedule) -> Schedule:
    """One mbarrier for each stage filled and emptied, and `turn` for the right to multiply."""

    def warps_arrive(barrier: str) -> Stmt:
        return each("v", 4, arrive(barrier), unit=32)

    a, b, k, products = s.find("sA.load"), s.find("sB.load"), s.find("k"), s.find("ks")
    s = insert(s, a.before, wait("empty", lag=STAGES))
    s = insert(s, b.after, arrive("full", tx=(BM + BN) * BK * 2))
    s = insert(s, products.before, (wait("full"), sync(wgmma_fence)))
    s = insert(s, products.after, (sync(wgmma_commit), sync(wgmma_wait, 1), when("k > 0", warps_arrive("empty"))))
    s = insert(s, k.before, by("consumer", wait("turn", lag=1), unit=TURN))
    handed_on = (warps_arrive("turn"), sync(wgmma_wait, 0), warps_arrive("empty"))
    s = insert(s, s.find("if N % 8 == 0: _").before, handed_on)
    waited = each("t", 1, sync(bulk_wait_read, 0))
    for n in range(2):
        staged, stored = s.find(f"acc_store(piece[_], _) #{n}"), s.find(f"tma_store(_) #{n}")
        s = insert(s, staged.before, (waited, fence()) if n == 0 else fence())
        s = insert(s, staged.after, (sync(fence_proxy_async), fence()))
        s = insert(s, stored.after, (sync(bulk_commit), sync(bulk_wait_read, 0)) if n == 0 else sync(bulk_commit))
    drained = by("consumer", each("w", 2, waited, unit=128))
    return insert(s, s.find("tm").after, drained)


def gemm() -> Schedule:
    s = schedule(matmul(bf16, bf16))
    s = call(s, "gemm_pingpong")
    s = tile(s)
    s = first_step(s)
    s = tiles(s)
    s = pieces(s)
    s = halves(s)
    s = instructions(s)
    s = parallel(s)
    return synchronised(s)


gemm_pingpong = gemm().kernel

if __name__ == "__main__":
    import time

    t = time.perf_counter()
    s = gemm()
    print(s.show())
    print(time.perf_counter() - t, len(s.steps), sum(x.seconds for x in s.steps))
