"""Accumulator fragments to shared or global memory, or added to global memory, with an optional per-element
function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.instr import Alignment, Buffers, Footprint, Instr, Mode, Param, Proxy
from exogpu.ir.linear import linear, literal
from exogpu.ir.stmt import If, InstrCall, Range, Stmt, Window
from exogpu.ir.types import Gmem, Scalar, Smem, WgmmaD
from exogpu.ir.value import Cast, Read, ScalarFn, Value
from exogpu.isa import ptx
from exogpu.isa.atomic import sum_of
from exogpu.isa.build import add, apply_fn, assign, element, in_bounds, nest, trails


def _contract(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    dst, src = call.window("dst"), call.window("src")
    problems: list[str] = []
    if dst.shape != src.shape:
        problems.append(f"the window is {src.shape} in the accumulator but {dst.shape} in memory")
    if src.shape[0] != 64 or src.shape[1] % 8:
        problems.append(f"the accumulator window must be 64 rows by a multiple of 8 columns, not {src.shape}")
    if not trails(src, 2):
        problems.append("the accumulator window must range over the last two dimensions")
    if not isinstance(dst.dims[-1], Range):
        problems.append("the destination must range over its last, contiguous dimension")
    fn = call.operand("fn")
    if isinstance(fn, ScalarFn) and len(fn.params) != 1:
        problems.append(f"the per-element function takes one argument, not {len(fn.params)}")
    return tuple(problems)


def _meaning(
    call: InstrCall, buffers: Buffers, combine: Callable[[Window, Sequence[Index], Value], Stmt]
) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    fn = call.operand("fn")

    def body(e: tuple[Index, ...]) -> Stmt:
        value = apply_fn(fn if isinstance(fn, ScalarFn) else None, Read(src.buffer, element(src, e)))
        # a sum rounds its operand to the tensor's type before it adds
        store = combine(dst, e, Cast(buffers[dst.buffer].dtype, value))
        if isinstance(buffers[dst.buffer].memory, Gmem):
            return If(in_bounds(element(dst, e), buffers[dst.buffer]), (store,), ())
        return store

    return nest(dst.shape, body)


def _value(register: Index) -> ptx.RegisterValue:
    return ptx.Applied("fn", ptx.Fragment("src", register))


def _matrix_stores(dtype: Scalar, columns: int) -> tuple[ptx.Emission, ...]:
    """stmatrix.x4 of 16 columns each: matrices are rows 0-7 and 8-15 of columns 0-7, then of columns 8-15; lane l
    gives the address of row l % 16 and column 8 * (l // 16)."""
    text = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$row], {$r0, $r1, $r2, $r3};"
    part = Var("$part")
    row = Bin("+", Bin("*", Int(16), ptx.WARP), Bin("%", ptx.LANE, Int(16)))
    column = Bin("+", Bin("*", Int(16), part), Bin("*", Int(8), Bin("//", ptx.LANE, Int(16))))
    values = [_value(Bin("+", Bin("*", Int(8), part), Int(i))) for i in range(8)]
    packed = [ptx.Packed(dtype, low, high) for low, high in zip(values[::2], values[1::2], strict=True)]
    operands = tuple((f"r{i}", pair) for i, pair in enumerate(packed))
    address = ("row", ptx.SharedAddress(ptx.Element("dst", (row, column)), 16))
    return (ptx.Repeat(part, columns // 16, (ptx.Asm("stmatrix_x4", text, (address, *operands)),)),)


def _fragment_stores(
    columns: int,
    width: int,
    guarded: tuple[int, int] | None,
    store: Callable[[ptx.Element, tuple[ptx.RegisterValue, ...]], ptx.Emission],
) -> tuple[ptx.Emission, ...]:
    """Each thread stores its own pairs, row l / 4 and that plus 8, columns 2 * (l % 4) of each 8: `width` elements at
    once. `guarded` gives the row and column dimensions of a tensor whose edge is respected."""
    half, part, odd = Var("$half"), Var("$part"), Var("$odd")
    row = Bin("+", Bin("+", Bin("*", Int(16), ptx.WARP), Bin("//", ptx.LANE, Int(4))), Bin("*", Int(8), half))
    column = Bin("+", Bin("*", Int(8), part), Bin("*", Int(2), Bin("%", ptx.LANE, Int(4))))
    register = Bin("+", Bin("*", Int(4), part), Bin("*", Int(2), half))
    at = ptx.Element("dst", (row, Bin("+", column, odd)))
    values = tuple(_value(Bin("+", Bin("+", register, odd), Int(i))) for i in range(width))
    stores: tuple[ptx.Emission, ...] = (store(at, values),)
    if guarded is not None:
        stores = (ptx.Guard(at, (guarded[1],), stores),)
    stores = (ptx.Repeat(part, columns // 8, (ptx.Repeat(odd, 2 // width, stores),)),)
    if guarded is not None:
        stores = (ptx.Guard(ptx.Element("dst", (row, Int(0))), (guarded[0],), stores),)
    return (ptx.Repeat(half, 2, stores),)


def _edges(window: Window) -> tuple[int, int]:
    rows, columns = (i for i, d in enumerate(window.dims) if isinstance(d, Range))
    return rows, columns


def _emission(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    dst = call.window("dst")
    info, columns = buffers[dst.buffer], dst.shape[-1]
    if isinstance(info.memory, Gmem):
        return _fragment_stores(columns, 1, _edges(dst), ptx.Store)
    last = dst.dims[-1]
    row = literal(info.shape[-1])

    def aligned(elements: int) -> bool:
        return (
            isinstance(last, Range)
            and linear(last.lo).multiple_of(elements)
            and row is not None
            and row % elements == 0
        )

    if info.dtype.bits == 16 and columns % 16 == 0 and aligned(8):
        return _matrix_stores(info.dtype, columns)
    return _fragment_stores(columns, 2 if aligned(2) else 1, None, ptx.Store)


acc_store = Instr(
    name="acc_store",
    params=(
        Param("dst", "window", 2, (Smem, Gmem), (Scalar.F32, Scalar.BF16, Scalar.F16)),
        Param("src", "window", 2, (WgmmaD,), (Scalar.F32,)),
        Param("fn", "fn", optional=True),
    ),
    unit=WARPGROUP,
    footprints=(
        Footprint("dst", Mode.WRITE, Proxy.GENERIC, warp_dim=0),
        Footprint("src", Mode.READ, Proxy.GENERIC, warp_dim=0),
    ),
    aligned=True,
    zero_fill=("dst",),
    contract=_contract,
    alignments=lambda call, buffers: (Alignment("src", -1, 8),),
    meaning=lambda call, buffers: _meaning(call, buffers, assign),
    emission=_emission,
    source="PTX ISA, stmatrix and st; wgmma D fragment layout",
)


def _sums(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    dst = call.window("dst")
    dtype = buffers[dst.buffer].dtype
    return _fragment_stores(dst.shape[-1], 1, _edges(dst), lambda at, values: sum_of(dtype, at, values))


acc_add = Instr(
    name="acc_add",
    params=(
        Param("dst", "window", 2, (Gmem,), (Scalar.F32, Scalar.BF16, Scalar.F16)),
        Param("src", "window", 2, (WgmmaD,), (Scalar.F32,)),
        Param("fn", "fn", optional=True),
    ),
    unit=WARPGROUP,
    footprints=(
        Footprint("dst", Mode.REDUCE, Proxy.GENERIC, warp_dim=0),
        Footprint("src", Mode.READ, Proxy.GENERIC, warp_dim=0),
    ),
    aligned=True,
    zero_fill=("dst",),
    contract=_contract,
    alignments=lambda call, buffers: (Alignment("src", -1, 8),),
    meaning=lambda call, buffers: _meaning(call, buffers, add),
    emission=_sums,
    source="PTX ISA, red.relaxed.gpu.global.add; wgmma D fragment layout",
)
