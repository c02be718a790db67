"""Tensor memory accelerator: one 2-D tile into several CTAs of a cluster (PTX ISA, cp.async.bulk.tensor)."""

from __future__ import annotations

from exogpu.ir.index import Index, Int
from exogpu.ir.instr import Buffers, CompleteTx, Footprint, Instr, Mode, Param, Proxy
from exogpu.ir.stmt import InstrCall, Range, Stmt
from exogpu.ir.types import Gmem, Smem
from exogpu.isa import ptx
from exogpu.isa.build import assign, nest, zero_filled
from exogpu.isa.tma import ALIGNMENT, coordinates, tile_alignments, tile_rules


def _contract(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    dst = call.window("dst")
    first = dst.dims[0]
    if not isinstance(first, Range) or not isinstance(first.lo, Int):
        return ("dst must begin with a literal range of CTAs",)
    return tile_rules(call, buffers, "dst", "src", ctas=1)


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")

    def body(e: tuple[Index, ...]) -> Stmt:
        return assign(dst, e, zero_filled(src, e[1:], buffers[src.buffer]))

    return nest(dst.shape, body)


def _emission(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    at = coordinates(call, "src")
    names = ", ".join(f"${name}" for name, _ in at)
    text = (
        f"cp.async.bulk.tensor.{len(at)}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        f".multicast::cluster [$dst], [$map, {{{names}}}], [$barrier], $mask;"
    )
    operands: ptx.Operands = (("dst", ptx.TileAddress("dst", ALIGNMENT)), ("map", ptx.TensorMap("src", "dst")), *at)
    last: ptx.Operands = (("barrier", ptx.BarrierAddress("barrier")), ("mask", ptx.CtaMask("dst")))
    return (ptx.Asm(f"tma_load_{len(at)}d_multicast", text, (*operands, *last)),)


tma_load_multicast = Instr(
    name="tma_load_multicast",
    params=(
        Param("dst", "window", 3, (Smem,)),
        Param("src", "window", 2, (Gmem,)),
        Param("barrier", "barrier", optional=True),
    ),
    unit=1,
    footprints=(
        Footprint("dst", Mode.WRITE, Proxy.ASYNC),
        Footprint("src", Mode.READ, Proxy.ASYNC),
    ),
    completion=CompleteTx("barrier", "dst"),
    zero_fill=("src",),
    contract=_contract,
    alignments=lambda call, buffers: tile_alignments(call, buffers, "dst"),
    meaning=_meaning,
    emission=_emission,
    spread="dst",
    source="PTX ISA, cp.async.bulk.tensor, .shared::cluster.global.tile.multicast::cluster",
)
