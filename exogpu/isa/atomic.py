"""Atomic sums into global memory by one thread (PTX ISA, red)."""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.ir.index import Int
from exogpu.ir.instr import Alignment, Buffers, Footprint, Instr, Mode, Param, Proxy
from exogpu.ir.operands import OF_A_THREAD
from exogpu.ir.stmt import InstrCall, Range, Stmt
from exogpu.ir.types import Gmem, Rmem, Scalar, Smem
from exogpu.ir.value import Read
from exogpu.isa import ptx
from exogpu.isa.build import add, element, nest

WIDTHS = {
    Scalar.F64: (1,),
    Scalar.F32: (1, 2, 4),
    Scalar.I32: (1,),
    Scalar.F16: (1, 2, 4, 8),
    Scalar.BF16: (1, 2, 4, 8),
}
"""Elements of one operation, by type: vectors are new in sm_90."""


def sum_of(dtype: Scalar, at: ptx.Element, values: Sequence[ptx.RegisterValue]) -> ptx.Asm:
    """Consecutive elements from `at` += values: one atomic operation on each element, relaxed, at gpu scope."""
    half = dtype.bytes == 2
    kind = "s32" if dtype is Scalar.I32 else dtype.value
    operands: list[ptx.AsmOperand] = [ptx.Rounded(dtype, v) for v in values]
    if half and len(values) > 1:
        kind += "x2"
        operands = [ptx.Packed(dtype, low, high) for low, high in zip(values[::2], values[1::2], strict=True)]
    names = [f"v{i}" for i in range(len(operands))]
    listed = ", ".join(f"${n}" for n in names)
    vector = len(operands) > 1
    opcode = ".".join(("add", *["noftz"] * half, *[f"v{len(operands)}"] * vector, kind))
    text = f"red.relaxed.gpu.global.{opcode} [$to], {f'{{{listed}}}' if vector else listed};"
    name = f"add_{dtype.value}" + f"_{len(values)}" * (len(values) > 1)
    return ptx.Asm(name, text, (("to", ptx.GlobalAddress(at)), *zip(names, operands, strict=True)))


def _contract(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    dst, src = call.window("dst"), call.window("src")
    dtype = buffers[dst.buffer].dtype
    problems: list[str] = []
    if dst.shape != src.shape:
        problems.append(f"the source has {src.shape[0]} elements, the destination {dst.shape[0]}")
    if buffers[src.buffer].dtype != dtype:
        problems.append("an atomic sum does not convert between types")
    if dst.shape[0] not in WIDTHS[dtype]:
        allowed = ", ".join(map(str, WIDTHS[dtype]))
        problems.append(f"an atomic sum adds {allowed} elements of {dtype.value} at once, not {dst.shape[0]}")
    for name, window in (("dst", dst), ("src", src)):
        if not isinstance(window.dims[-1], Range):
            problems.append(f"{name} must range over its last, contiguous dimension")
        memory = buffers[window.buffer].memory
        if isinstance(memory, Rmem) and memory.threads >= len(window.dims):
            problems.append(f"{name} ranges over a dimension that is distributed over threads, {OF_A_THREAD}")
    return tuple(problems)


def _alignments(call: InstrCall, buffers: Buffers) -> tuple[Alignment, ...]:
    (width,) = call.window("dst").shape
    return (Alignment("dst", -1, width),) if width > 1 else ()


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    return nest(dst.shape, lambda e: add(dst, e, Read(src.buffer, element(src, e))))


def _emission(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    (width,) = call.window("dst").shape
    values = tuple(ptx.Loaded(ptx.Element("src", (Int(i),))) for i in range(width))
    return (sum_of(buffers[call.window("dst").buffer].dtype, ptx.Element("dst"), values),)


atomic_add = Instr(
    name="atomic_add",
    params=(
        Param("dst", "window", 1, (Gmem,), tuple(WIDTHS)),
        Param("src", "window", 1, (Rmem, Smem), tuple(WIDTHS)),
    ),
    unit=1,
    footprints=(
        Footprint("src", Mode.READ, Proxy.GENERIC),
        Footprint("dst", Mode.REDUCE, Proxy.GENERIC),
    ),
    alignments=_alignments,
    contract=_contract,
    meaning=_meaning,
    emission=_emission,
    source="PTX ISA, red.relaxed.gpu.global.add",
)
