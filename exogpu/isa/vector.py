"""Vectorised copies of one thread: 4, 8 or 16 bytes between global memory, shared memory and registers."""

from __future__ import annotations

from exogpu.ir.instr import Alignment, Buffers, Footprint, Instr, Mode, Param, Proxy
from exogpu.ir.linear import literal
from exogpu.ir.operands import OF_A_THREAD
from exogpu.ir.stmt import InstrCall, Range, Stmt
from exogpu.ir.types import Gmem, Rmem, Smem
from exogpu.ir.value import Read
from exogpu.isa import ptx
from exogpu.isa.build import assign, element, nest

WIDTHS = (4, 8, 16)


def vector_bytes(call: InstrCall, buffers: Buffers) -> int:
    """Bytes that one copy moves."""
    dst = call.window("dst")
    return dst.shape[0] * buffers[dst.buffer].dtype.bytes


def vector_rules(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    """Violated rules of a copy of one contiguous vector."""
    dst, src = call.window("dst"), call.window("src")
    problems: list[str] = []
    if dst.shape != src.shape:
        problems.append(f"the source has {src.shape[0]} elements, the destination {dst.shape[0]}")
    if buffers[dst.buffer].dtype != buffers[src.buffer].dtype:
        problems.append("a vector copy does not convert between types")
    if vector_bytes(call, buffers) not in WIDTHS:
        problems.append(f"a vector copy moves 4, 8 or 16 bytes, not {vector_bytes(call, buffers)}")
    for name, window in (("dst", dst), ("src", src)):
        if window.dims and not isinstance(window.dims[-1], Range):
            problems.append(f"{name} must range over its last, contiguous dimension")
        info = buffers[window.buffer]
        if isinstance(info.memory, Rmem) and info.memory.threads >= len(info.shape):
            problems.append(f"{name} ranges over a dimension that is distributed over threads, {OF_A_THREAD}")
        row = (literal(info.shape[-1]) or 0) * info.dtype.bytes
        if isinstance(info.memory, Smem | Rmem) and len(info.shape) > 1 and row % vector_bytes(call, buffers):
            problems.append(f"rows of {name} are {row} bytes, not a multiple of {vector_bytes(call, buffers)}")
    return tuple(problems)


def vector_alignments(call: InstrCall, buffers: Buffers) -> tuple[Alignment, ...]:
    """Both ends start at a multiple of the width."""
    width = vector_bytes(call, buffers)
    windows = ((name, call.window(name)) for name in ("dst", "src"))
    return tuple(Alignment(n, -1, width // buffers[w.buffer].dtype.bytes) for n, w in windows)


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    return nest(dst.shape, lambda e: assign(dst, e, Read(src.buffer, element(src, e))))


def _emission(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    return (ptx.CopyVector(ptx.Element("dst"), ptx.Element("src"), vector_bytes(call, buffers)),)


vec_copy = Instr(
    name="vec_copy",
    params=(
        Param("dst", "window", 1, (Gmem, Smem, Rmem)),
        Param("src", "window", 1, (Gmem, Smem, Rmem)),
    ),
    unit=1,
    footprints=(
        Footprint("dst", Mode.WRITE, Proxy.GENERIC),
        Footprint("src", Mode.READ, Proxy.GENERIC),
    ),
    alignments=vector_alignments,
    contract=vector_rules,
    meaning=_meaning,
    emission=_emission,
    source="PTX ISA, ld/st .v2 .v4",
)
