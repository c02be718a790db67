"""`gemm_bf16_cluster` from three loops."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.stmt import Stmt
from exogpu.kernels.schedules.steps import WARP, WARPGROUP, awaited_pieces, awaited_products, steps_along_k
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

BK, PIECE = 64, 64
REGISTERS = {1: 240, 2: 232, 3: 152, 4: 104}


@dataclass(frozen=True, slots=True)
class Shape:
    """CTAs of a cluster, stages of the ring, consumer warpgroups (64 rows each), and columns of a tile."""

    cluster: int = 2
    stages: int = 4
    consumers: int = 2
    columns: int = 256

    @property
    def rows(self) -> int:
        """Rows of C for each CTA."""
        return 64 * self.consumers

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return WARPGROUP * (1 + self.consumers)


USUAL = Shape()


def start(shape: Shape) -> Schedule:
    """The procedure with its launch configuration."""
    s = call(schedule(matmul(bf16, bf16)), "gemm_bf16_cluster")
    for size in ("M >= 1", "N >= 1", "K >= 1"):
        s = restrict(s, size)
    roles = {"producer": Warpgroups(1, 40), "consumer": Warpgroups(shape.consumers, REGISTERS[shape.consumers])}
    return launch(s, roles=roles, persistent=True, raster=8, cluster=shape.cluster)


def tiles(s: Schedule, shape: Shape) -> Schedule:
    """A tile of C for each cluster, with 64 rows of it for each warpgroup of each CTA."""
    s = tile(s, ("m", shape.cluster * shape.rows, "tm"), ("n", shape.columns, "tn"))
    s = divide(s, "m", shape.rows, names=("c", "m"))
    s = simplify(divide(s, "m", 64, names=("w", "m")))
    s = set_memory(sums_apart(s, "acc", "k", "tn"), "acc", WGMMA_D())
    s = divide(s, "k", BK, tail="guard", names=("k", "kk"))
    s = steps_along_k(s, "tn", "w")
    return clear_first(s, "acc", "c", "w")


def shared(s: Schedule, shape: Shape) -> Schedule:
    """Tiles in shared memory: each CTA has one of A, and a copy of the common one of B, filled part by part."""
    products, memory, columns = s.find("c"), SMEM(swizzle=128), shape.columns
    inner, c, k, tm, tn = products.body(), products.var, var("k"), var("tm"), var("tn")
    part_of_a = window("A", (shape.cluster * shape.rows * tm + shape.rows * c, shape.rows), (BK * k, BK))
    s = stage(s, inner, part_of_a, "sA", memory, edges="zero")
    s = stage(s, inner, window("B", (columns * tn, columns), (BK * k, BK)), "sB", memory, edges="zero")
    s = unguarded(s, "for kk in _: _")
    s = unguarded(s, "acc[_] += _")
    s = spread(spread(s, "sA", "k"), "sB", "k")
    for load in ("sB.load", "sA.load"):
        s = fission(s, s.find(load).after)
    s = divide(s, "sB.load", columns // shape.cluster, names=("q", "r"))
    s = reorder(s, s.find("sB.load").parent())
    return simplify(fuse(s, s.find("sA.load").parent()))


def epilogue(s: Schedule, shape: Shape) -> Schedule:
    """Through shared memory by TMA, in pieces of 64 columns, where rows of C have a multiple of 16 bytes."""
    stores, rows = s.find("C[_] = _"), shape.rows
    s = specialise(s, stores.around("c"), "N % 8 == 0")
    s = replace(s, s.find("C[_] = _ #1").around("m"), acc_store)
    s = divide(s, s.find(stores).around("n"), PIECE, names=("p", "n"))
    s = simplify(outwards(s, s.find(stores).around("p"), s.find("if N % 8 == 0: _")))
    inner = s.find(stores)
    p, w, c, tn, tm = (inner.around(n).var for n in ("p", "w", "c", "tn", "tm"))
    part = window("C", (shape.cluster * rows * tm + rows * c + 64 * w, 64), (shape.columns * tn + PIECE * p, PIECE))
    memory = SMEM(swizzle=128, ring=2)
    s = through_shared(s, inner.around("m"), part, "stage", memory, fill=acc_store, drain=tma_store)
    return spread(s, "stage", "p")


def parallel(s: Schedule, shape: Shape) -> Schedule:
    """Who does what: one thread fills stages, the consumers multiply and store."""
    loads, products = s.find("sA.load").parent(), s.find("ks").around("c")
    fills = [("sA", "sA.load", tma_load), ("sB", loads.body()[1], tma_load_multicast)]
    s = pipeline(s, fills, shape.stages, 4 * shape.consumers * shape.cluster, ("full", "empty"))
    s = replace(s, s.find("ks").body(), wgmma, accumulate="k > 0 or ks > 0")
    s = modes(s, Tasks(), "tm", "tn")
    s = modes(s, Threads(shape.threads), "c")
    s = modes(s, Threads(WARPGROUP), "w")
    s = modes(s, Unroll(), "ks", "p")
    s = once(once(s, "full", "p"), "tma_store(_)")
    stores = [s.find(f"acc_store(_) #{n}").around("c").body() for n in range(2)]
    return warp_specialise(s, {"producer": [s.find(loads).body()], "consumer": [s.find(products).body(), *stores]})


def synchronised(s: Schedule, shape: Shape) -> Schedule:
    """When: a stage is freed when the next step has begun, a piece when TMA has read the one before."""

    def of_each_cta(*stmts: Stmt) -> Stmt:
        return each("c", shape.cluster, by("consumer", *stmts), unit=shape.threads)

    to_all = each("r", shape.cluster, arrive("empty", cta=var("r"), relaxed=shape.cluster > 1))
    release = each("v", 4 * shape.consumers, to_all, unit=WARP)
    drained = each("w", shape.consumers, sync(wgmma_wait, 0), unit=WARPGROUP)
    read = each("w", shape.consumers, each("t", 1, sync(bulk_wait_read, 0)), unit=WARPGROUP)
    products = s.find("ks").around("w")
    s = insert(s, products.before, wait("full"))
    s = insert(s, products.after, when("k > 0", release))
    s = awaited_products(s)
    s = insert(s, s.find("k").after, of_each_cta(drained, release))
    s = awaited_pieces(s, "acc_store(stage[_], _)", "tma_store(_)")
    return insert(s, s.find("tm").after, (of_each_cta(read), fence()))


def derivation(shape: Shape = USUAL) -> Schedule:
    """All steps."""
    s = start(shape)
    for part in (tiles, shared, epilogue, parallel, synchronised):
        s = part(s, shape)
    return s


DERIVATION = derivation()

gemm_bf16_cluster = DERIVATION.kernel
