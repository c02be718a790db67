"""Filling the A-operand registers of wgmma: from accumulators, and from shared memory."""

from __future__ import annotations

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.instr import Alignment, Buffers, Footprint, Instr, Mode, Param, Proxy
from exogpu.ir.stmt import InstrCall, Stmt
from exogpu.ir.types import Scalar, Smem, WgmmaA, WgmmaD
from exogpu.ir.value import Read, ScalarFn
from exogpu.isa import ptx
from exogpu.isa.build import apply_fn, assign, element, nest, trails

ROWS, BLOCK = 64, 16
ROW_BYTES = 16
"""Bytes of a row of the 8 x 8 matrices that ldmatrix loads."""


def _shapes(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    dst, src = call.window("dst"), call.window("src")
    problems: list[str] = []
    if dst.shape != src.shape:
        problems.append(f"the fragment window is {dst.shape} but the source {src.shape}")
    if dst.shape[0] != ROWS or dst.shape[1] % BLOCK:
        problems.append(f"the windows must be {ROWS} rows by a multiple of {BLOCK} columns, not {dst.shape}")
    problems += [
        f"{n} must range over the last two dimensions" for n in ("dst", "src") if not trails(call.window(n), 2)
    ]
    fn = call.operand("fn")
    if isinstance(fn, ScalarFn) and len(fn.params) != 1:
        problems.append(f"the per-element function takes one argument, not {len(fn.params)}")
    given, wanted = buffers[src.buffer], buffers[dst.buffer].dtype
    if isinstance(given.memory, Smem) and given.dtype != wanted:
        problems.append(f"a load does not convert: {given.dtype.value} and {wanted.value}")
    return tuple(problems)


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    fn = call.operand("fn")

    def body(e: tuple[Index, ...]) -> Stmt:
        value = Read(src.buffer, element(src, e))
        return assign(dst, e, apply_fn(fn if isinstance(fn, ScalarFn) else None, value))

    return nest(dst.shape, body)


def _convert(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    """Pairs of a thread's D registers are its A registers, in the same order (PTX ISA, wgmma D and A fragments)."""
    dst = call.window("dst")
    part = Var("$part")
    low = Bin("*", Int(2), part)
    values = [ptx.Applied("fn", ptx.Fragment("src", i)) for i in (low, Bin("+", low, Int(1)))]
    pair = ptx.Packed(buffers[dst.buffer].dtype, values[0], values[1])
    return (ptx.Repeat(part, dst.shape[1] // 4, (ptx.Pack(ptx.Fragment("dst", part), pair),)),)


def _load(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    """ldmatrix.x4 for each 16 columns: matrices are rows 0-7 and 8-15 of columns 0-7, then of columns 8-15; lane l
    gives the address of row l % 16 and column 8 * (l // 16)."""
    text = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 $to, [$row];"
    part = Var("$part")
    row = Bin("+", Bin("*", Int(16), ptx.WARP), Bin("%", ptx.LANE, Int(16)))
    column = Bin("+", Bin("*", Int(BLOCK), part), Bin("*", Int(8), Bin("//", ptx.LANE, Int(16))))
    to = ptx.Pairs(ptx.Fragment("dst", Bin("*", Int(4), part)), 4, written=True)
    place = ptx.SharedAddress(ptx.Element("src", (row, column)), ROW_BYTES)
    load = ptx.Asm("ldmatrix_x4", text, (("to", to), ("row", place)))
    return (ptx.Repeat(part, call.window("dst").shape[1] // BLOCK, (load,)),)


acc_convert = Instr(
    name="acc_convert",
    params=(
        Param("dst", "window", 2, (WgmmaA,)),
        Param("src", "window", 2, (WgmmaD,), (Scalar.F32,)),
        Param("fn", "fn", optional=True),
    ),
    unit=WARPGROUP,
    footprints=(
        Footprint("src", Mode.READ, Proxy.GENERIC, warp_dim=0),
        Footprint("dst", Mode.WRITE, Proxy.GENERIC, warp_dim=0),
    ),
    contract=_shapes,
    alignments=lambda call, buffers: (Alignment("dst", -1, BLOCK), Alignment("src", -1, 8)),
    meaning=_meaning,
    emission=_convert,
    source="PTX ISA, wgmma register fragments of D and A; cvt.rn.bf16x2",
)

ldmatrix = Instr(
    name="ldmatrix",
    params=(Param("dst", "window", 2, (WgmmaA,)), Param("src", "window", 2, (Smem,))),
    unit=WARPGROUP,
    footprints=(
        Footprint("src", Mode.READ, Proxy.GENERIC, warp_dim=0),
        Footprint("dst", Mode.WRITE, Proxy.GENERIC, warp_dim=0),
    ),
    aligned=True,
    contract=_shapes,
    alignments=lambda call, buffers: (Alignment("dst", -1, BLOCK), Alignment("src", -1, 8)),
    meaning=_meaning,
    emission=_load,
    source="PTX ISA, ldmatrix",
)
