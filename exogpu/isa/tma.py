"""Tensor memory accelerator: 2-D tile load, store and sum (PTX ISA, cp.async.bulk.tensor and
cp.reduce.async.bulk.tensor)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import gcd

from exogpu.ir.index import Index, Int
from exogpu.ir.instr import (
    Alignment,
    BufferInfo,
    Buffers,
    CompleteTx,
    Footprint,
    Group,
    GroupMember,
    Instr,
    Mode,
    Param,
    Proxy,
)
from exogpu.ir.linear import literal
from exogpu.ir.stmt import If, InstrCall, Point, Stmt, Window
from exogpu.ir.types import Gmem, Scalar, Smem
from exogpu.ir.value import Read, Value
from exogpu.isa import ptx
from exogpu.isa.build import add, assign, element, in_bounds, nest, ranges, trails, zero_filled

MAX_BOX = 256
ALIGNMENT = 128
SUMMED = (Scalar.F32, Scalar.BF16, Scalar.F16, Scalar.I32)


def tile_rules(call: InstrCall, buffers: Buffers, shared: str, tensor: str, ctas: int = 0) -> tuple[str, ...]:
    """Rules of a tensor-map box (CUDA driver API, cuTensorMapEncodeTiled). The first `ctas` ranges of the tile in
    shared memory number CTAs."""
    smem, gmem = _one_tile(call.window(shared), ctas), call.window(tensor)
    info, target = buffers[smem.buffer], buffers[gmem.buffer]
    problems: list[str] = []
    if info.dtype != target.dtype:
        problems.append(f"a copy does not convert: {info.dtype.value} and {target.dtype.value}")
    if smem.shape != gmem.shape:
        problems.append(f"the tile is {smem.shape} in shared memory but {gmem.shape} in global memory")
    if any(extent > MAX_BOX for extent in gmem.shape):
        problems.append(f"a box dimension exceeds {MAX_BOX} elements: {gmem.shape}")
    if not trails(smem, 2):
        problems.append("the shared-memory tile must range over the last two dimensions")
    if not trails(gmem, 2) or len(gmem.dims) != 2:
        problems.append("the tensor must have two dimensions, both given as ranges")
    row = gmem.shape[-1] * info.dtype.bytes
    if row % 16:
        problems.append(f"the inner extent is {row} bytes, not a multiple of 16")
    if isinstance(info.memory, Smem) and info.memory.swizzle and row != info.memory.swizzle:
        swizzle = info.memory.swizzle
        problems.append(f"the inner extent is {row} bytes; with swizzle {swizzle} it must be {swizzle}")
    rows = literal(info.shape[-2]) or 0
    if len(info.shape) > 2 and rows * row % _period(info):
        problems.append(f"tiles of {rows * row} bytes do not all start at a multiple of {_period(info)} bytes")
    if literal(info.shape[-1]) != smem.shape[-1]:
        problems.append("the shared-memory tile must consist of whole rows of its buffer")
    return tuple(problems)


def _one_tile(window: Window, ctas: int) -> Window:
    return replace(window, dims=(*(Point(d.lo) for d in ranges(window)[:ctas]), *window.dims[ctas:]))


def _period(info: BufferInfo) -> int:
    """What a tile starts at a multiple of, in bytes: swizzle patterns repeat every 8 rows."""
    return 8 * info.memory.swizzle if isinstance(info.memory, Smem) and info.memory.swizzle else ALIGNMENT


def tile_alignments(call: InstrCall, buffers: Buffers, shared: str) -> tuple[Alignment, ...]:
    """A tile that is a part of its buffer's rows starts where the swizzle pattern does."""
    info = buffers[call.window(shared).buffer]
    if ranges(call.window(shared))[-2].lo == Int(0):
        return ()
    row = (literal(info.shape[-1]) or 1) * info.dtype.bytes
    return (Alignment(shared, -2, _period(info) // gcd(_period(info), row)),)


def _load_meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    return nest(dst.shape, lambda e: assign(dst, e, zero_filled(src, e, buffers[src.buffer])))


def _out_meaning(
    call: InstrCall, buffers: Buffers, combine: Callable[[Window, Sequence[Index], Value], Stmt]
) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")

    def body(e: tuple[Index, ...]) -> Stmt:
        inside = in_bounds(element(dst, e), buffers[dst.buffer])
        return If(inside, (combine(dst, e, Read(src.buffer, element(src, e))),), ())

    return nest(dst.shape, body)


def coordinates(call: InstrCall, tensor: str) -> tuple[tuple[str, ptx.Coordinate], ...]:
    """One coordinate operand per dimension, innermost first."""
    rank = len(call.window(tensor).dims)
    return tuple((f"c{i}", ptx.Coordinate(tensor, rank - 1 - i)) for i in range(rank))


def _load_emission(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    at = coordinates(call, "src")
    names = ", ".join(f"${name}" for name, _ in at)
    text = (
        f"cp.async.bulk.tensor.{len(at)}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        f"[$dst], [$map, {{{names}}}], [$barrier];"
    )
    operands: ptx.Operands = (("dst", ptx.TileAddress("dst", ALIGNMENT)), ("map", ptx.TensorMap("src", "dst")), *at)
    return (ptx.Asm(f"tma_load_{len(at)}d", text, (*operands, ("barrier", ptx.BarrierAddress("barrier")))),)


def _out_emission(call: InstrCall, opcode: str, sum_: str) -> tuple[ptx.Emission, ...]:
    at = coordinates(call, "dst")
    names = ", ".join(f"${name}" for name, _ in at)
    text = f"{opcode}.{len(at)}d.global.shared::cta{sum_}.tile.bulk_group [$map, {{{names}}}], [$src];"
    operands: ptx.Operands = (("map", ptx.TensorMap("dst", "src")), *at, ("src", ptx.TileAddress("src", ALIGNMENT)))
    return (ptx.Asm(f"{call.instr.name}_{len(at)}d", text, operands),)


tma_load = Instr(
    name="tma_load",
    params=(
        Param("dst", "window", 2, (Smem,)),
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
    contract=lambda call, buffers: tile_rules(call, buffers, "dst", "src"),
    alignments=lambda call, buffers: tile_alignments(call, buffers, "dst"),
    meaning=_load_meaning,
    emission=_load_emission,
    source="PTX ISA, cp.async.bulk.tensor, .shared::cluster.global.tile",
)

tma_store = Instr(
    name="tma_store",
    params=(Param("dst", "window", 2, (Gmem,)), Param("src", "window", 2, (Smem,))),
    unit=1,
    footprints=(
        Footprint("dst", Mode.WRITE, Proxy.ASYNC),
        Footprint("src", Mode.READ, Proxy.ASYNC),
    ),
    completion=GroupMember(Group.BULK),
    zero_fill=("dst",),
    contract=lambda call, buffers: tile_rules(call, buffers, "src", "dst"),
    alignments=lambda call, buffers: tile_alignments(call, buffers, "src"),
    meaning=lambda call, buffers: _out_meaning(call, buffers, assign),
    emission=lambda call, buffers: _out_emission(call, "cp.async.bulk.tensor", ""),
    source="PTX ISA, cp.async.bulk.tensor, .global.shared::cta.tile.bulk_group",
)

tma_reduce_add = Instr(
    name="tma_reduce_add",
    params=(Param("dst", "window", 2, (Gmem,), SUMMED), Param("src", "window", 2, (Smem,), SUMMED)),
    unit=1,
    footprints=(
        Footprint("dst", Mode.REDUCE, Proxy.ASYNC),
        Footprint("src", Mode.READ, Proxy.ASYNC),
    ),
    completion=GroupMember(Group.BULK),
    zero_fill=("dst",),
    contract=lambda call, buffers: tile_rules(call, buffers, "src", "dst"),
    alignments=lambda call, buffers: tile_alignments(call, buffers, "src"),
    meaning=lambda call, buffers: _out_meaning(call, buffers, add),
    emission=lambda call, buffers: _out_emission(call, "cp.reduce.async.bulk.tensor", ".add"),
    source="PTX ISA, cp.reduce.async.bulk.tensor, .global.shared::cta.add.tile.bulk_group",
)
