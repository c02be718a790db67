"""Warpgroup matrix multiply-accumulate, `a` in shared memory or in registers, `b` in shared memory (PTX ISA,
wgmma.mma_async)."""

from __future__ import annotations

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.emission import Accumulator, Asm, AsmOperand, Emission, Fragment, MatrixDescriptor, Pairs, Predicate
from exogpu.ir.index import Bool, BoolOp, Cmp, Cond, Index, Int, Not
from exogpu.ir.instr import Alignment, Buffers, Footprint, Group, GroupMember, Instr, Mode, Param, Proxy
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Assign, If, IndexArg, InstrCall, Stmt
from exogpu.ir.types import Scalar, Smem, WgmmaA, WgmmaD
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
    for name in ("a", "b"):
        problems += _operand_rules(call, buffers, name)
    return tuple(problems)


def _operand_rules(call: InstrCall, buffers: Buffers, name: str) -> list[str]:
    window = call.window(name)
    info = buffers[window.buffer]
    problems: list[str] = []
    if not trails(window, 2):
        problems.append(f"{name} must range over the last two dimensions")
    if isinstance(info.memory, WgmmaA):
        return problems
    row = (literal(info.shape[-1]) or 0) * info.dtype.bytes
    if not isinstance(info.memory, Smem) or info.memory.swizzle != SWIZZLE or row != SWIZZLE:
        problems.append(f"{name} must lie in rows of {SWIZZLE} bytes with swizzle {SWIZZLE}")
    if len(info.shape) > 2 and (literal(info.shape[-2]) or 0) % 8:
        problems.append(f"the tiles of {name} must have a multiple of 8 rows")
    return problems


def _alignments(call: InstrCall, buffers: Buffers) -> tuple[Alignment, ...]:
    """Operands start at a swizzle atom of 8 rows and at a whole instruction-K step inside the 128-byte row; the
    accumulator tile at a fragment block of 8 columns, an A fragment at one of 16."""
    k = call.window("a").shape[1]
    in_shared = [name for name in ("a", "b") if isinstance(buffers[call.window(name).buffer].memory, Smem)]
    rows = tuple(Alignment(name, -2, 8) for name in in_shared)
    return (Alignment("d", -1, 8), Alignment("a", -1, k), Alignment("b", -1, k), *rows)


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
    info = buffers[call.window("a").buffer]
    kind = info.dtype.value
    cond = _cond(call) or Bool(True)
    a: AsmOperand = _operand("a")
    transposed = "0, 0"
    if isinstance(info.memory, WgmmaA):
        a = Pairs(Fragment("a", Int(0)), k // 4)
        transposed = "0"
    text = f"wgmma.mma_async.sync.aligned.m{M}n{n}k{k}.f32.{kind}.{kind} $d, $a, $b, $accumulate, 1, 1, {transposed};"
    operands = (
        ("d", Accumulator("d", reads=cond != Bool(False))),
        ("a", a),
        ("b", _operand("b")),
        ("accumulate", Predicate(cond)),
    )
    return (Asm(f"{call.instr.name}_m{M}n{n}k{k}_{kind}", text, operands),)


def _multiply(name: str, a: type[Smem | WgmmaA], access: Footprint) -> Instr:
    return Instr(
        name=name,
        params=(
            Param("d", "window", 2, (WgmmaD,), (Scalar.F32,)),
            Param("a", "window", 2, (a,), (Scalar.BF16, Scalar.F16)),
            Param("b", "window", 2, (Smem,), (Scalar.BF16, Scalar.F16)),
            Param("accumulate", "cond", optional=True),
        ),
        unit=WARPGROUP,
        footprints=(
            Footprint("d", Mode.WRITE, Proxy.REGISTER, warp_dim=0),
            access,
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


wgmma = _multiply("wgmma", Smem, Footprint("a", Mode.READ, Proxy.ASYNC, warp_dim=0))

wgmma_rs = _multiply("wgmma_rs", WgmmaA, Footprint("a", Mode.READ, Proxy.REGISTER, warp_dim=0))
