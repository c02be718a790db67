"""`gemm_f32` from three loops."""

from __future__ import annotations

from exogpu.ir.stmt import Tasks, Threads, Unroll
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import RMEM, SMEM, f32, vec_copy
from exogpu.schedule import *
from exogpu.schedule.library import apart, modes, outwards, spread, unguarded

BM, BN, BK = 128, 128, 8


def tile(s: Schedule) -> Schedule:
    s = divide(s, "m", BM, tail="guard", names=("bm", "i"))
    s = divide(s, "n", BN, tail="guard", names=("bn", "j"))
    s = outwards(s, "bn", 2)
    s = outwards(s, "j", 1)
    s = divide(s, "i", 8, names=("ty", "i"))
    s = divide(s, "j", 64, names=("h", "j"))
    s = divide(s, "j", 4, names=("tx", "j"))
    s = reorder(s, "h")
    s = collapse(s, "h", "j")
    s = outwards(s, "tx", 1)
    s = simplify(s)
    s = spread(s, "acc", 6)
    s = join_dims(s, "acc", -2)
    s = apart(s, s.find("acc[_] = _").after, 6)
    s = unguarded(s, "acc[_] = _")
    s = apart(s, s.find("for k in _: _").after, 6)
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = outwards(s, "k", 6)
    s = outwards(s, "kk", 4)
    s = simplify(s)
    return s


def slabs(s: Schedule) -> Schedule:
    inner = s.find("for k in _: _").body()
    s = stage(s, inner, "A[128 * bm : 128 * bm + 128, 8 * k : 8 * k + 8]", "sA", SMEM(), edges="zero")
    s = stage(s, inner, "B[8 * k : 8 * k + 8, 128 * bn : 128 * bn + 128]", "sB", SMEM(), edges="zero")
    s = unguarded(s, "acc[_] += _")
    s = rearrange_dims(s, "sA", (1, 0))
    for name in ("sA", "sB"):
        load = s.find(f"{name}.load")
        s = collapse(s, load, "v")
        s = divide(s, load, 256, names=("v", "t"))
        s = reorder(s, load)
    s = lift_alloc(expand_dim(s, "sA", 2, "k % 2"), "sA")
    s = lift_alloc(expand_dim(s, "sB", 2, "k % 2"), "sB")
    s = fuse(s, "t")
    s = fuse(s, "v")
    s = run_ahead(s, "for t in _: _")
    s = drop_guard(s, "if 0 < _: _")
    s = simplify(s)
    return s


def registers(s: Schedule) -> Schedule:
    product = s.find("acc[_] += _")
    s = bind(s, product, "sA[_]", "a")
    s = lift_alloc(s, "a")
    s = hoist(s, "a[_] = _")
    s = join_dims(spread(s, "a", 1), "a", 0)
    s = fission(s, s.find("a[_] = _").after)
    s = bind(s, product, "sB[_]", "b")
    s = join_dims(spread(s, "b", 1), "b", 0)
    s = fission(s, s.find("b[_] = _").after)
    s = lift_alloc(s, "b")
    s = hoist(s, s.find("b[_] = _").parent())
    s = swap(s, s.find("a[_] = _").parent())
    for name in ("a", "b"):
        loop = s.find(f"{name}[_] = _").parent()
        s = divide(s, loop, 4, names=("h", "e"))
        s = simplify(s, loop)
        s = replace(s, s.find(loop).body(), vec_copy)
    s = fuse(s, "h")
    return s


def parallel(s: Schedule) -> Schedule:
    s = conjoin(s, s.find("C[_] = _").parent().parent())
    s = set_memory(s, "acc", RMEM(threads=2))
    s = launch(s, 256)
    s = modes(s, Tasks(), "bm", "bn")
    s = modes(s, Threads(16), "ty")
    s = modes(s, Threads(1), "tx", "t")
    s = modes(s, Unroll(), "v", "kk", "h", "i", "j")
    k = s.find("for k in _: _")
    s = insert(s, k.before, fence())
    s = insert(s, s.find(k).body().after, fence())
    return s


def gemm_f32() -> Schedule:
    s = schedule(matmul(f32, f32))
    s = call(s, "gemm_f32")
    s = reorder_dimensions(s, "B", 1, 0)
    s = tile(s)
    s = slabs(s)
    s = registers(s)
    s = parallel(s)

    return s


if __name__ == "__main__":
    import time

    t = time.perf_counter()
    s = gemm_f32()
    print(s.show())
    print(time.perf_counter() - t, len(s.steps), sum(x.seconds for x in s.steps))
    for n, x in enumerate(s.steps):
        if x.seconds > 0.1:
            print(x.call, x.seconds)
