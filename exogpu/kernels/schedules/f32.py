"""`gemm_f32` from three loops."""

from __future__ import annotations

from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import *
from exogpu.schedule import *
from exogpu.schedule.library import modes, outwards, spread_scalar, sums_apart, tile, unguarded

BM, BN, BK = 128, 128, 8
THREADS = 256


def start() -> Schedule:
    """The procedure, with B as the kernel takes it, row by row along k."""
    s = call(schedule(matmul(f32, f32)), "gemm_f32")
    return launch(reorder_dimensions(s, "B", 1, 0), THREADS)


def tiles(s: Schedule) -> Schedule:
    """A tile of C for each CTA, and 8 rows of it by two groups of 4 columns for each thread."""
    s = tile(s, ("m", BM, "bm"), ("n", BN, "bn"))
    s = divide(s, "m", 8, names=("ty", "i"))
    s = divide(s, "n", 64, names=("h", "n"))
    s = divide(s, "n", 4, names=("tx", "j"))
    s = collapse(reorder(s, "h"), "h", "j")
    s = simplify(outwards(s, "tx", "ty"))
    s = sums_apart(s, "acc", "k", "bn")
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = outwards(s, "k", "bn")
    return simplify(outwards(s, "kk", "tx"))


def shared(s: Schedule) -> Schedule:
    """Slabs of A and B in shared memory, of which the next one is loaded while the current one is used."""
    k, bm, bn = (var(n) for n in ("k", "bm", "bn"))
    products = s.find("k").body()
    s = stage(s, products, window("A", (BM * bm, BM), (BK * k, BK)), "sA", SMEM(), edges="zero")
    s = stage(s, products, window("B", (BK * k, BK), (BN * bn, BN)), "sB", SMEM(), edges="zero")
    s = unguarded(s, "acc[_] += _")
    s = rearrange_dims(s, "sA", (1, 0))
    for name in ("sA", "sB"):
        load = s.find(f"{name}.load")
        s = collapse(s, load, "v")
        s = divide(s, load, THREADS, names=("v", "t"))
        s = reorder(s, load)
        s = lift_alloc(expand_dim(s, name, 2, k % 2), name)
    s = fuse(fuse(s, "t"), "v")
    s = run_ahead(s, "t")
    s = drop_guard(s, "if 0 < _: _")
    for name in ("sA", "sB"):
        s = swap(s, s.find("acc").until(s.find("acc[_] = _").around("ty")))
    return simplify(s)


def registers(s: Schedule) -> Schedule:
    """Each thread multiplies from registers, which it loads 4 at a time."""
    product = s.find("acc[_] += _")
    s = bind(s, product, "sA[_]", "a")
    s = hoist(lift_alloc(s, "a"), "a[_] = _")
    s = spread_scalar(s, "a", "kk")
    s = fission(s, s.find("a[_] = _").after)
    s = bind(s, product, "sB[_]", "b")
    s = spread_scalar(s, "b", "i")
    s = fission(s, s.find("b[_] = _").after)
    s = hoist(lift_alloc(s, "b"), s.find("b[_] = _").around("j"))
    s = swap(s, s.find("a[_] = _").around("i"))
    for name in ("a", "b"):
        loop = s.find(f"{name}[_] = _").parent()
        s = simplify(divide(s, loop, 4, names=("h", "e")), loop)
        s = replace(s, s.find(loop).body(), vec_copy)
    return fuse(s, "h")


def parallel(s: Schedule) -> Schedule:
    """Who does what, and a barrier after each slab."""
    s = conjoin(s, s.find("C[_] = _").parent(2))
    s = set_memory(s, "acc", RMEM(threads=2))
    s = modes(s, Tasks(), "bm", "bn")
    s = modes(s, Threads(16), "ty")
    s = modes(s, Threads(1), "tx", "t")
    s = modes(s, Unroll(), "v", "kk", "h", "i", "j")
    k = s.find("k")
    s = insert(s, k.before, fence())
    return insert(s, s.find(k).body().after, fence())


def derivation() -> Schedule:
    """All steps."""
    return parallel(registers(shared(tiles(start()))))


DERIVATION = derivation()

gemm_f32 = DERIVATION.kernel
