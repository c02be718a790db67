"""A procedure as surface text that the front end reads back to an equal procedure (spans apart)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.index import Bin, Int, Var
from exogpu.ir.print_expr import cond_text, index_text, value_text
from exogpu.ir.proc import (
    UNSCHEDULED,
    Arg,
    BarrierDecl,
    Launch,
    NamedBarrier,
    Proc,
    RoleDecl,
    ScalarArg,
    SizeArg,
    TensorArg,
)
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    BarrierRef,
    Fence,
    For,
    If,
    IndexArg,
    InstrCall,
    Operand,
    Point,
    Range,
    Role,
    Seq,
    Stmt,
    Tasks,
    Threads,
    Unroll,
    Window,
)
from exogpu.ir.types import Gmem, Memory, Rmem, Smem, WgmmaA, WgmmaD
from exogpu.ir.value import ScalarFn
from exogpu.ir.walk import walk
from exogpu.source import shortened

WIDTH = 120
STEP = "    "

Shapes = Mapping[str, tuple[int, ...]]


def to_source(proc: Proc) -> str:
    """The text of a file that defines `proc`. Instructions outside `exogpu.isa` are named, not defined."""
    shapes = _shapes(proc)
    args = [f"{STEP}{_argument(a)}," for a in proc.args]
    head = ["from __future__ import annotations", "", "from exogpu.lang import *", "", ""]
    body = [f"require({cond_text(r.cond)})" for r in proc.requires]
    body += [] if proc.block == UNSCHEDULED else [_block(proc.block)]
    body += [*map(declaration, proc.barriers), *map(declaration, proc.named)]
    body += _statements(proc.body, shapes)
    decorator = "@algorithm" if proc.block == UNSCHEDULED else "@proc"
    signature = [decorator, f"def {proc.name}(", *args, "):"] if args else [decorator, f"def {proc.name}():"]
    lines = [*head, *_functions(proc), *signature, *(STEP + line for line in body)]
    return "\n".join(lines) + "\n"


def declaration(barrier: BarrierDecl | NamedBarrier) -> str:
    """The text that declares a barrier."""
    if isinstance(barrier, NamedBarrier):
        return f"{barrier.name} = named_barrier(count={barrier.count})"
    return f"{barrier.name} = mbarrier(ring={barrier.ring}, count={barrier.count})"


def statement_lines(proc: Proc, stmt: Stmt) -> list[str]:
    """The text of one statement of `proc`, not indented."""
    return list(_statement(stmt, _shapes(proc)))


def statement_text(stmt: Stmt) -> str:
    """A statement, or what stands before its block, in a few words."""
    lines = _statement(stmt, {})
    return shortened(lines if isinstance(stmt, InstrCall) else [next(lines)])


def _shapes(proc: Proc) -> Shapes:
    return {s.name: s.shape for s in walk(proc.body) if isinstance(s, Alloc)}


def signature(proc: Proc) -> str:
    """The name and the arguments of `proc` on one line."""
    return f"{proc.name}({', '.join(_argument(a) for a in proc.args)})"


def _functions(proc: Proc) -> list[str]:
    calls = (s for s in walk(proc.body) if isinstance(s, InstrCall))
    fns = {o.name: o for call in calls for _, o in call.operands if isinstance(o, ScalarFn)}
    lines: list[str] = []
    for fn in fns.values():
        params = ", ".join(f"{p}: f32" for p in fn.params)
        lines += ["@scalar", f"def {fn.name}({params}):", f"{STEP}return {value_text(fn.body)}", "", ""]
    return lines


def _argument(arg: Arg) -> str:
    match arg:
        case SizeArg(name):
            return f"{name}: size"
        case ScalarArg(name, dtype):
            return f"{name}: {dtype.value}"
        case TensorArg(name, dtype, shape):
            return f"{name}: {dtype.value}[{', '.join(index_text(e) for e in shape)}] @ GMEM"


def _block(block: Launch) -> str:
    parts = [_role(r) for r in block.roles] or [str(block.threads)]
    if block.persistent:
        parts.append("persistent=True")
    if block.raster != 1:
        parts.append(f"raster={block.raster}")
    if block.clustered:
        parts.append(f"cluster={block.cluster}")
    return f"block({', '.join(parts)})"


def _role(role: RoleDecl) -> str:
    word = "warps" if role.unit == WARP else "warpgroups"
    regs = "" if role.regs is None else f", regs={role.regs}"
    return f"{role.name}={word}({role.threads // role.unit}{regs})"


def memory_text(memory: Memory) -> str:
    """A memory with its options."""
    match memory:
        case Gmem():
            return "GMEM"
        case Smem(swizzle, ring, pool, offset):
            options = [f"swizzle={swizzle}"] * (swizzle != 0) + [f"ring={ring}"] * (ring != 1)
            options += [f'pool="{pool}"'] * (pool is not None) + [f"offset={offset}"] * (offset != 0)
            return f"SMEM({', '.join(options)})" if options else "SMEM"
        case Rmem(threads):
            return f"RMEM(threads={threads})" if threads else "RMEM"
        case WgmmaD():
            return "WGMMA_D"
        case WgmmaA():
            return "WGMMA_A"


def _statements(block: tuple[Stmt, ...], shapes: Shapes) -> Iterator[str]:
    for stmt in block:
        yield from _statement(stmt, shapes)


def _nested(header: str, block: tuple[Stmt, ...], shapes: Shapes) -> Iterator[str]:
    yield header
    yield from (STEP + line for line in _statements(block, shapes))
    if not block:
        yield STEP + "pass"


def _statement(stmt: Stmt, shapes: Shapes) -> Iterator[str]:
    match stmt:
        case Assign(buffer, index, op, rhs):
            yield f"{buffer}[{', '.join(index_text(i) for i in index)}] {op} {value_text(rhs)}"
        case Alloc(name, dtype, shape, memory):
            yield f"{name}: {dtype.value}[{', '.join(map(str, shape))}] @ {memory_text(memory)}"
        case For(body=body):
            yield from _nested(f"for {stmt.var} in {_loop(stmt)}:", body, shapes)
        case If():
            yield from _if(stmt, shapes, "if")
        case Role(name, body):
            unit = "" if stmt.index is None else f"[{index_text(stmt.index)}]"
            yield from _nested(f"with role({name}{unit}):", body, shapes)
        case InstrCall():
            yield from _call(stmt, shapes)
        case Fence():
            yield "Fence()"
        case Arrive(barrier, tx, ctas, relaxed):
            owner = barrier if ctas is None else f"{barrier}[{_dimension(ctas, None)}]"
            options = [] if tx is None else [f"tx={index_text(tx)}"]
            yield f"Arrive({', '.join((owner, *options, *(['relaxed=True'] if relaxed else [])))})"
        case Await(barrier, lag):
            yield f"Await({barrier}, lag={lag})" if lag else f"Await({barrier})"


def _if(stmt: If, shapes: Shapes, keyword: str) -> Iterator[str]:
    yield from _nested(f"{keyword} {cond_text(stmt.cond)}:", stmt.then, shapes)
    match stmt.orelse:
        case ():
            return
        case (If() as only,):
            yield from _if(only, shapes, "elif")
        case orelse:
            yield from _nested("else:", orelse, shapes)


def _loop(stmt: For) -> str:
    lo, hi = index_text(stmt.lo), index_text(stmt.hi)
    match stmt.mode:
        case Seq():
            return f"seq({lo}, {hi})"
        case Unroll():
            return f"unroll({lo}, {hi})"
        case Tasks():
            return f"tasks({lo}, {hi})"
        case Threads(unit):
            words = {1: "", WARP: ", unit=warp", WARPGROUP: ", unit=warpgroup"}
            bounds = hi if stmt.lo == Int(0) else f"{lo}, {hi}"
            return f"threads({bounds}{words.get(unit, f', unit={unit}')})"


def _call(call: InstrCall, shapes: Shapes) -> Iterator[str]:
    optional = {p.name for p in call.instr.params if p.optional and p.kind != "barrier"}
    given = [(f"{name}=" if name in optional else "") + _operand(arg, shapes) for name, arg in call.operands]
    line = f"{call.instr.name}({', '.join(given)})"
    if len(line) <= WIDTH - 8 * len(STEP):
        yield line
        return
    yield f"{call.instr.name}("
    yield from (f"{STEP}{text}," for text in given)
    yield ")"


def operand_text(operand: Operand) -> str:
    """An operand, with every range written out."""
    return _operand(operand, {})


def _operand(operand: Operand, shapes: Shapes) -> str:
    match operand:
        case Window(buffer, dims):
            extents = shapes.get(buffer, (None,) * len(dims))
            return f"{buffer}[{', '.join(_dimension(d, e) for d, e in zip(dims, extents, strict=True))}]"
        case BarrierRef(name) | ScalarFn(name=name):
            return name
        case IndexArg(value):
            return index_text(value) if isinstance(value, Var | Int | Bin) else cond_text(value)


def _dimension(dim: Point | Range, extent: int | None) -> str:
    match dim:
        case Point(index):
            return index_text(index)
        case Range(Int(lo), length):
            return ":" if lo == 0 and length == extent else f"{lo} : {lo + length}"
        case Range(lo, length):
            return f"{index_text(lo)} : {index_text(lo)} + {length}"
