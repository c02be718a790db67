"""Warpgroup matrix multiply-accumulate, `a` in shared memory or in registers, `b` in shared memory (PTX ISA,
wgmma.mma_async).

`a` is (64, k), its rows along k, or for `wgmma_ta` (k, 64), its rows along M. `b` is (N, k), its rows along k, or with
`transpose_b=False` (k, N), its rows along N: then at most 64 columns, or (N / 64, k, 64) blocks of 64 columns.
"""

from __future__ import annotations

from math import prod

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not
from exogpu.ir.instr import Alignment, Buffers, Footprint, Group, GroupMember, Instr, Mode, Param, Proxy
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Assign, If, IndexArg, InstrCall, Stmt
from exogpu.ir.types import Scalar, Smem, WgmmaA, WgmmaD
from exogpu.ir.value import Arith, Cast, Num, Read
from exogpu.isa import ptx
from exogpu.isa.build import assign, element, nest, trails

M = 64
K_BYTES = 32
SWIZZLE = 128
BLOCK = 64
"""Elements of a row."""
DESCRIPTOR_UNIT = 16
ALONG_M = "wgmma_ta"


def _contract(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    d, a, b = (call.window(name) for name in ("d", "a", "b"))
    types = [buffers[w.buffer].dtype for w in (a, b)]
    problems: list[str] = []
    if types[0] != types[1]:
        problems.append(f"a is {types[0].value} but b is {types[1].value}")
    if not isinstance(_flag(call, "transpose_b"), Bool | None):
        problems.append("transpose_b is True or False")
    k, n = K_BYTES // types[0].bytes, d.shape[1]
    left = (k, M) if _along_m(call) else (M, k)
    wanted: list[tuple[int, ...]] = [(n, k)]
    if not _transposes(call):
        wanted = [(k, n)] if n <= BLOCK else [(n // BLOCK, k, BLOCK)]
    if d.shape != (M, n) or a.shape != left or b.shape not in wanted:
        needed = " or ".join(map(str, wanted))
        problems.append(f"shapes must be d ({M}, N), a {left}, b {needed}; got {d.shape}, {a.shape}, {b.shape}")
    if n % 8 or not 8 <= n <= 256:
        problems.append(f"N must be a multiple of 8 in 8..256, not {n}")
    if not trails(d, 2):
        problems.append("d must range over the last two dimensions")
    return (*problems, *_operand_rules(call, buffers, "a"), *_operand_rules(call, buffers, "b"))


def _operand_rules(call: InstrCall, buffers: Buffers, name: str) -> list[str]:
    window = call.window(name)
    info = buffers[window.buffer]
    problems: list[str] = []
    if not trails(window, len(window.shape)):
        problems.append(f"{name} must range over the last dimensions")
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
    k = K_BYTES // buffers[call.window("a").buffer].dtype.bytes
    inner_a, inner_b = (BLOCK if rows else k for rows in (_along_m(call), not _transposes(call)))
    in_shared = [name for name in ("a", "b") if isinstance(buffers[call.window(name).buffer].memory, Smem)]
    rows = tuple(Alignment(name, -2, 8) for name in in_shared)
    return (Alignment("d", -1, 8), Alignment("a", -1, inner_a), Alignment("b", -1, inner_b), *rows)


def _flag(call: InstrCall, name: str) -> Cond | None:
    match call.operand(name):
        case IndexArg(Cmp() | BoolOp() | Not() | Bool() as cond):
            return cond
        case _:
            return None


def _transposes(call: InstrCall) -> bool:
    return _flag(call, "transpose_b") != Bool(False)


def _along_m(call: InstrCall) -> bool:
    return call.instr.name == ALONG_M


def _b_offsets(call: InstrCall, n: Index, k: Index) -> tuple[Index, ...]:
    if _transposes(call):
        return n, k
    if len(call.window("b").shape) == 2:
        return k, n
    return Bin("//", n, Int(BLOCK)), k, Bin("%", n, Int(BLOCK))


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    d, a, b = (call.window(name) for name in ("d", "a", "b"))

    def product(e: tuple[Index, ...]) -> Stmt:
        m, n, k = e
        left = Cast(Scalar.F32, Read(a.buffer, element(a, (k, m) if _along_m(call) else (m, k))))
        right = Cast(Scalar.F32, Read(b.buffer, element(b, _b_offsets(call, n, k))))
        return Assign(d.buffer, element(d, (m, n)), "+=", Arith("*", left, right))

    accumulate = nest((*d.shape, K_BYTES // buffers[a.buffer].dtype.bytes), product)
    cond = _flag(call, "accumulate")
    if cond is None:
        return accumulate
    clear = nest(d.shape, lambda e: assign(d, e, Num(0.0)))
    return (If(cond, (), clear), *accumulate)


def _operand(call: InstrCall, buffers: Buffers, name: str) -> ptx.MatrixDescriptor:
    """128-byte rows with swizzle: groups of 8 rows are 1024 bytes apart. The leading offset is the distance of blocks
    of 64 columns where rows run along N; it is unused where they run along k."""
    leading = 1
    if name == "b" and not _transposes(call):
        leading = (literal(buffers[call.window(name).buffer].shape[-2]) or 0) * SWIZZLE // DESCRIPTOR_UNIT
    return ptx.MatrixDescriptor(name, leading, stride=64, layout=1, atom=8 * SWIZZLE)


def _emission(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    info = buffers[call.window("a").buffer]
    n, k = call.window("d").shape[1], K_BYTES // info.dtype.bytes
    kind = info.dtype.value
    cond = _flag(call, "accumulate") or Bool(True)
    along_m, along_n = int(_along_m(call)), int(not _transposes(call))
    a: ptx.AsmOperand = _operand(call, buffers, "a")
    majors = f"{along_m}, {along_n}"
    if isinstance(info.memory, WgmmaA):
        a = ptx.Pairs(ptx.Fragment("a", Int(0)), k // 4)
        majors = f"{along_n}"
    text = f"wgmma.mma_async.sync.aligned.m{M}n{n}k{k}.f32.{kind}.{kind} $d, $a, $b, $accumulate, 1, 1, {majors};"
    operands = (
        ("d", ptx.Accumulator("d", reads=cond != Bool(False))),
        ("a", a),
        ("b", _operand(call, buffers, "b")),
        ("accumulate", ptx.Predicate(cond)),
    )
    name = f"{call.instr.name}_m{M}n{n}k{k}_{kind}" + "_rows_n" * along_n
    return (ptx.Asm(name, text, operands),)


def _shape(call: InstrCall) -> str:
    """Forms, layouts and types of the operands do not belong to it."""
    m, n = call.window("d").shape
    return f"m{m}n{n}k{prod(call.window('a').shape) // m}"


def _multiply(name: str, a: type[Smem | WgmmaA], access: Footprint) -> Instr:
    return Instr(
        name=name,
        params=(
            Param("d", "window", 2, (WgmmaD,), (Scalar.F32,)),
            Param("a", "window", 2, (a,), (Scalar.BF16, Scalar.F16)),
            Param("b", "window", 0, (Smem,), (Scalar.BF16, Scalar.F16)),
            Param("accumulate", "cond", optional=True),
            Param("transpose_b", "cond", optional=True),
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
        pipelined=_shape,
        source="PTX ISA, wgmma.mma_async.sync.aligned.m64nNk16",
    )


wgmma = _multiply("wgmma", Smem, Footprint("a", Mode.READ, Proxy.ASYNC, warp_dim=0))

wgmma_rs = _multiply("wgmma_rs", WgmmaA, Footprint("a", Mode.READ, Proxy.REGISTER, warp_dim=0))

wgmma_ta = _multiply(ALONG_M, Smem, Footprint("a", Mode.READ, Proxy.ASYNC, warp_dim=1))
