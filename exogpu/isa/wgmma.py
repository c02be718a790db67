"""Warpgroup matrix multiply-accumulate, both operands in shared memory (PTX ISA, wgmma.mma_async)."""

from __future__ import annotations

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.emission import Accumulator, Asm, Emission, MatrixDescriptor, Predicate
from exogpu.ir.index import Bool, BoolOp, Cmp, Cond, Index, Not
from exogpu.ir.instr import Alignment, Buffers, Footprint, Group, GroupMember, Instr, Mode, Param, Proxy
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Assign, If, IndexArg, InstrCall, Stmt
from exogpu.ir.types import Scalar, Smem, WgmmaD
from exogpu.ir.value import Arith, Cast, Num, Read
from exogpu.isa.build import assign, element, nest, trails

M = 64
K_BYTES = 32
SWIZZLE = 128


def _contract(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    d, a, b = (call.window(name) for name in ("d", "a", "b"))
    types = [buffers[w.buffer].dtype for w in (a, b)]
    problems: list[str] = []
    if types[0] != types[1]:
        problems.append(f"a is {types[0].value} but b is {types[1].value}")
    k = K_BYTES // types[0].bytes
    n = b.shape[0]
    if d.shape != (M, n) or a.shape != (M, k) or b.shape != (n, k):
        problems.append(f"shapes must be d ({M}, N), a ({M}, {k}), b (N, {k}); got {d.shape}, {a.shape}, {b.shape}")
    if n % 8 or not 8 <= n <= 256:
        problems.append(f"N must be a multiple of 8 in 8..256, not {n}")
    if not trails(d, 2):
        problems.append("d must range over the last two dimensions")
    for name, window in (("a", a), ("b", b)):
        if not trails(window, 2):
            problems.append(f"{name} must range over the last two dimensions")
        info = buffers[window.buffer]
        row = (literal(info.shape[-1]) or 0) * info.dtype.bytes
        if not isinstance(info.memory, Smem) or info.memory.swizzle != SWIZZLE or row != SWIZZLE:
            problems.append(f"{name} must lie in rows of {SWIZZLE} bytes with swizzle {SWIZZLE}")
        if len(info.shape) > 2 and (literal(info.shape[-2]) or 0) % 8:
            problems.append(f"the tiles of {name} must have a multiple of 8 rows")
    return tuple(problems)


def _alignments(call: InstrCall, buffers: Buffers) -> tuple[Alignment, ...]:
    """Operands start at a swizzle atom of 8 rows and at a whole instruction-K step inside the 128-byte row; the
    accumulator tile at a fragment block of 8 columns."""
    k = call.window("a").shape[1]
    operands = tuple(need for name in ("a", "b") for need in (Alignment(name, -2, 8), Alignment(name, -1, k)))
    return (Alignment("d", -1, 8), *operands)


def _cond(call: InstrCall) -> Cond | None:
    match call.operand("accumulate"):
        case IndexArg(Cmp() | BoolOp() | Not() | Bool() as cond):
            return cond
        case _:
            return None


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    d, a, b = (call.window(name) for name in ("d", "a", "b"))

    def product(e: tuple[Index, ...]) -> Stmt:
        m, n, k = e
        left = Cast(Scalar.F32, Read(a.buffer, element(a, (m, k))))
        right = Cast(Scalar.F32, Read(b.buffer, element(b, (n, k))))
        return Assign(d.buffer, element(d, (m, n)), "+=", Arith("*", left, right))

    accumulate = nest((M, b.shape[0], a.shape[1]), product)
    cond = _cond(call)
    if cond is None:
        return accumulate
    clear = nest((M, b.shape[0]), lambda e: assign(d, e, Num(0.0)))
    return (If(cond, (), clear), *accumulate)


def _operand(name: str) -> MatrixDescriptor:
    """K-major with 128-byte rows and swizzle: groups of 8 rows are 1024 bytes apart; the leading offset is unused."""
    return MatrixDescriptor(name, leading=1, stride=64, layout=1, atom=8 * SWIZZLE)


def _emission(call: InstrCall, buffers: Buffers) -> tuple[Emission, ...]:
    n, k = call.window("b").shape
    kind = buffers[call.window("a").buffer].dtype.value
    cond = _cond(call) or Bool(True)
    text = f"wgmma.mma_async.sync.aligned.m{M}n{n}k{k}.f32.{kind}.{kind} $d, $a, $b, $accumulate, 1, 1, 0, 0;"
    operands = (
        ("d", Accumulator("d", reads=cond != Bool(False))),
        ("a", _operand("a")),
        ("b", _operand("b")),
        ("accumulate", Predicate(cond)),
    )
    return (Asm(f"wgmma_m{M}n{n}k{k}_{kind}", text, operands),)


wgmma = Instr(
    name="wgmma",
    params=(
        Param("d", "window", 2, (WgmmaD,), (Scalar.F32,)),
        Param("a", "window", 2, (Smem,), (Scalar.BF16, Scalar.F16)),
        Param("b", "window", 2, (Smem,), (Scalar.BF16, Scalar.F16)),
        Param("accumulate", "cond", optional=True),
    ),
    unit=WARPGROUP,
    footprints=(
        Footprint("d", Mode.WRITE, Proxy.REGISTER, warp_dim=0),
        Footprint("a", Mode.READ, Proxy.ASYNC, warp_dim=0),
        Footprint("b", Mode.READ, Proxy.ASYNC),
    ),
    completion=GroupMember(Group.WGMMA),
    aligned=True,
    contract=_contract,
    alignments=_alignments,
    meaning=_meaning,
    emission=_emission,
    pipelined="d",
    source="PTX ISA, wgmma.mma_async.sync.aligned.m64nNk16",
)
