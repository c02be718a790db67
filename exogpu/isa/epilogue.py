"""Accumulator fragments to shared or global memory, with an optional per-element function."""

from __future__ import annotations

from exogpu.ir.index import Index
from exogpu.ir.instr import Buffers, Footprint, Instr, Mode, Param, Proxy
from exogpu.ir.stmt import If, InstrCall, Stmt
from exogpu.ir.types import Gmem, Scalar, Smem, WgmmaD
from exogpu.ir.value import Read, ScalarFn
from exogpu.isa.build import apply_fn, assign, element, in_bounds, nest


def _contract(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    dst, src = call.window("dst"), call.window("src")
    problems: list[str] = []
    if dst.shape != src.shape:
        problems.append(f"the window is {src.shape} in the accumulator but {dst.shape} in memory")
    if src.shape[0] != 64 or src.shape[1] % 8:
        problems.append(f"the accumulator window must be 64 rows by a multiple of 8 columns, not {src.shape}")
    fn = call.operand("fn")
    if isinstance(fn, ScalarFn) and len(fn.params) != 1:
        problems.append(f"the per-element function takes one argument, not {len(fn.params)}")
    return tuple(problems)


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    fn = call.operand("fn")

    def body(e: tuple[Index, ...]) -> Stmt:
        value = apply_fn(fn if isinstance(fn, ScalarFn) else None, Read(src.buffer, element(src, e)))
        store = assign(dst, e, value)
        if isinstance(buffers[dst.buffer].memory, Gmem):
            return If(in_bounds(element(dst, e), buffers[dst.buffer]), (store,), ())
        return store

    return nest(dst.shape, body)


acc_store = Instr(
    name="acc_store",
    params=(
        Param("dst", "window", 2, (Smem, Gmem), (Scalar.F32, Scalar.BF16, Scalar.F16)),
        Param("src", "window", 2, (WgmmaD,), (Scalar.F32,)),
        Param("fn", "fn", optional=True),
    ),
    unit=128,
    footprints=(
        Footprint("dst", Mode.WRITE, Proxy.GENERIC, warp_dim=0),
        Footprint("src", Mode.READ, Proxy.GENERIC, warp_dim=0),
    ),
    aligned=True,
    zero_fill=("dst",),
    contract=_contract,
    meaning=_meaning,
    source="PTX ISA, stmatrix and st; wgmma D fragment layout",
)
