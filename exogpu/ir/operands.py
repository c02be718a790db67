"""Rules on instruction calls: operands against the declared parameters, then the instruction's own contract."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.diagnostics import Diagnostic
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Int, Not, Var
from exogpu.ir.instr import BufferInfo, Buffers, Param
from exogpu.ir.stmt import BarrierRef, IndexArg, InstrCall, Operand, Window
from exogpu.ir.types import Gmem, Memory, Rmem, Smem, WgmmaA, WgmmaD
from exogpu.ir.value import ScalarFn
from exogpu.source import Span

MEMORY_NAMES: dict[type[Memory], str] = {
    Gmem: "GMEM",
    Smem: "SMEM",
    Rmem: "RMEM",
    WgmmaD: "WGMMA_D",
    WgmmaA: "WGMMA_A",
}

_WANTED = {
    "window": "a window of a buffer",
    "barrier": "a barrier",
    "named": "a named barrier",
    "int": "a literal integer",
    "cond": "a condition",
    "fn": "a scalar function",
}


def operand_problems(call: InstrCall, buffers: Buffers) -> tuple[Diagnostic, ...]:
    """Violated rules of one call, whose windows name buffers of `buffers` with the right number of dimensions."""
    problems = [*_signature(call)]
    for param in call.instr.params:
        operand = call.operand(param.name)
        if operand is not None:
            problems += _operand(call, param, operand, buffers)
    if problems:
        return tuple(problems)
    broken = call.instr.contract(call, buffers)
    return tuple(Diagnostic("instr.contract", f"`{call.instr.name}`: {text}", call.span) for text in broken)


def _signature(call: InstrCall) -> Iterator[Diagnostic]:
    params = {p.name: p for p in call.instr.params}
    given = [name for name, _ in call.operands]
    for name in given:
        if name not in params or given.count(name) > 1:
            yield Diagnostic("lang.arity", f"`{call.instr.name}` has no parameter `{name}` here", call.span)
    for name, param in params.items():
        if not param.optional and name not in given:
            yield Diagnostic("lang.arity", f"`{call.instr.name}` needs `{name}`", call.span)


def _fits(param: Param, operand: Operand) -> bool:
    match param.kind, operand:
        case ("window", Window()) | ("barrier" | "named", BarrierRef()) | ("fn", ScalarFn()):
            return True
        case ("int", IndexArg(value)):
            return isinstance(value, Int) and value.value >= 0
        case ("cond", IndexArg(value)):
            return isinstance(value, Cmp | BoolOp | Not | Bool)
        case _:
            return False


def _place(call: InstrCall, operand: Operand) -> Span:
    match operand:
        case Window(span=span) | BarrierRef(span=span):
            return span
        case IndexArg(Var(span=span) | Int(span=span) | Bin(span=span) | Cmp(span=span) | BoolOp(span=span)):
            return span
        case _:
            return call.span


OF_A_THREAD = "and needs one for the elements of a thread, as `f32[128, 4] @ RMEM(threads=1)` has"


def _ranges(info: BufferInfo) -> str:
    """How to write a window of the right rank."""
    if isinstance(info.memory, Rmem) and 0 < info.memory.threads >= len(info.shape):
        return f"the buffer has dimensions over threads only, {OF_A_THREAD}"
    return "write `lo : hi` for a range (`i : i + 1` for one element), one index for a point"


def _operand(call: InstrCall, param: Param, operand: Operand, buffers: Buffers) -> Iterator[Diagnostic]:
    subject, span = f"`{param.name}` of `{call.instr.name}`", _place(call, operand)
    if not _fits(param, operand):
        yield Diagnostic("lang.type_mismatch", f"{subject} must be {_WANTED[param.kind]}", span)
        return
    if not isinstance(operand, Window):
        return
    info, rank = buffers[operand.buffer], len(operand.shape)
    if rank != param.rank and param.rank:
        text = f"{subject} ranges over {param.rank} dimension{'s' * (param.rank != 1)}, not {rank}"
        yield Diagnostic("lang.rank", text, span, help=_ranges(info))
    if param.memories and not isinstance(info.memory, param.memories):
        wanted = " or ".join(MEMORY_NAMES[m] for m in param.memories)
        text = f"{subject} must be in {wanted}"
        yield Diagnostic("lang.memory", text, span, f"`{operand.buffer}` is in {MEMORY_NAMES[type(info.memory)]}")
    if param.dtypes and info.dtype not in param.dtypes:
        wanted = " or ".join(d.value for d in param.dtypes)
        text = f"{subject} must be {wanted}"
        yield Diagnostic("lang.type_mismatch", text, span, f"`{operand.buffer}` is {info.dtype.value}")
