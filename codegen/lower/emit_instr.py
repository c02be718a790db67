"""Instructions: their emission in the vocabulary of `exogpu.ir.emission` as C++ statements.

Each distinct inline PTX becomes a helper function, so that the kernel reads as calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from exogpu.codegen.counters import Use
from exogpu.codegen.cuda.tree import (
    Apply,
    Branch,
    Convert,
    Do,
    Expr,
    Function,
    Inline,
    IntLit,
    Loop,
    Name,
    Node,
    Parameter,
    Scope,
    Set,
    Subscript,
    Ternary,
    Unary,
)
from exogpu.codegen.fold import Interval, simplify_cond
from exogpu.codegen.lower.operand import Bound, bind, element_index, executing, fragment, register_value
from exogpu.codegen.lower.place import own_part, place, pointer
from exogpu.codegen.lower.state import State
from exogpu.codegen.lower.team import times
from exogpu.codegen.lower.value import narrowed
from exogpu.ir.emission import Asm, CopyAsync, CopyVector, Element, Emission, Guard, Pack, Pin, Repeat, Store
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Var
from exogpu.ir.stmt import InstrCall

_PLACEHOLDER = re.compile(r"\$([A-Za-z_]\w*)")


def lower_instruction(state: State, call: InstrCall, use: Use | None) -> list[Node]:
    """The statements of one instruction; `use` is the slot of its barrier, if it has one."""
    here = executing(state)
    return _block(here, call, call.instr.emission(call, dict(state.buffers)), use)


def _block(state: State, call: InstrCall, emissions: Sequence[Emission], use: Use | None) -> list[Node]:
    return [node for emission in emissions for node in _emission(state, call, emission, use)]


def _emission(state: State, call: InstrCall, emission: Emission, use: Use | None) -> list[Node]:
    match emission:
        case Asm():
            return [_asm(state, call, emission, use)]
        case Pin():
            return [Do(Apply("pin", (Name(name, user=True),))) for name in state.fragments]
        case CopyVector(to, source, size):
            ends = (element_index(call, end) for end in (to, source))
            pointers = tuple(pointer(state, buffer, index, call.span) for buffer, index in ends)
            return [Do(Apply("copy_vector", pointers, (str(size),)))]
        case CopyAsync():
            return [_copy_async(state, call, emission)]
        case Store():
            return [_store(state, call, emission)]
        case Pack(to, pair):
            return [Set(fragment(state, call, to), "=", bind(state, call, pair, use).argument)]
        case Repeat(var, count, body):
            return [_repeat(state, call, var, count, body, use)]
        case Guard(inside, dims, body):
            return _guard(state, call, inside, dims, _block(state, call, body, use))


def _repeat(state: State, call: InstrCall, var: Var, count: int, body: Sequence[Emission], use: Use | None) -> Node:
    if count == 1:
        once = replace(state, facts={**state.facts, var.name: Interval(0, 0)})
        return Scope(tuple(_block(once, call, body, use)))
    name = Name(var.name.removeprefix("$"))
    inside = replace(state.with_variable(var.name, Interval(0, count - 1)), names={**state.names, var.name: name})
    return Loop(name, IntLit(0), IntLit(count), IntLit(1), tuple(_block(inside, call, body, use)), -1)


def _guard(state: State, call: InstrCall, at: Element, dims: Sequence[int], nodes: list[Node]) -> list[Node]:
    buffer, index = element_index(call, at)
    tests: list[Cond] = []
    for dim in dims:
        tests += [Cmp(">=", index[dim], Int(0)), Cmp("<", index[dim], state.buffers[buffer].shape[dim])]
    cond = simplify_cond(BoolOp("and", tuple(tests)), state.facts)
    if isinstance(cond, Bool):
        return nodes if cond.value else []
    return [Branch(state.indices.cond(cond), tuple(nodes))]


def _copy_async(state: State, call: InstrCall, copy: CopyAsync) -> Node:
    """The copy, with the number of source bytes where some may lie outside the tensor."""
    target, index = element_index(call, copy.to)
    own_part(state, target, index, call.span)
    source, start = element_index(call, copy.source)
    ends = (pointer(state, target, index, call.span), pointer(state, source, start, call.span))
    info = state.buffers[source]
    count = copy.size // info.dtype.bytes
    last = (Bin("+", start[-1], Int(count - 1)), info.shape[-1])
    rows = _inside(state, tuple(zip(start[:-1], info.shape[:-1], strict=True)))
    whole = _inside(state, ((start[-1], info.shape[-1]), last))
    if rows == whole == Bool(True):
        return Do(Apply("copy_async", ends, (str(copy.size),)))
    first, extent = state.indices.expr(start[-1]), state.indices.expr(info.shape[-1])
    here: Expr = IntLit(copy.size)
    if whole != Bool(True):
        here = times(Apply("count_inside", (first, extent, IntLit(count))), info.dtype.bytes)
    bytes = here if rows == Bool(True) else Ternary(state.indices.cond(rows), here, IntLit(0))
    return Do(Apply("copy_async", (*ends, bytes), (str(copy.size),)))


def _inside(state: State, places: Sequence[tuple[Index, Index]]) -> Cond:
    """The condition that each index lies inside its extent."""
    tests = (c for i, extent in places for c in (Cmp(">=", i, Int(0)), Cmp("<", i, extent)))
    return simplify_cond(BoolOp("and", tuple(tests)), state.facts) if places else Bool(True)


def _store(state: State, call: InstrCall, store: Store) -> Node:
    buffer, index = element_index(call, store.to)
    dtype = state.buffers[buffer].dtype
    values = [narrowed(register_value(state, call, v), dtype) for v in store.values]
    target = place(state, buffer, index, call.span)
    if len(values) == 1:
        return Set(target, "=", values[0])
    return Do(Apply("store_vector", (Unary("&", target), *values)))


def _asm(state: State, call: InstrCall, asm: Asm, use: Use | None) -> Node:
    bound = [(name, bind(state, call, operand, use)) for name, operand in asm.operands]
    function = _function(asm, bound)
    known = state.gathered.functions
    name, number = function.name, 1
    while known.setdefault(name, replace(function, name=name)) != replace(function, name=name):
        number += 1
        name = f"{function.name}_{number}"
    return Do(Apply(name, tuple(b.argument for _, b in bound if b.literal is None)))


def _function(asm: Asm, bound: list[tuple[str, Bound]]) -> Function:
    """The helper function: registers are numbered in the order outputs, inputs."""
    outputs: list[tuple[str, Expr]] = []
    inputs: list[tuple[str, Expr]] = []
    spelled: dict[str, str] = {}
    for name, b in sorted(((n, b) for n, b in bound if b.registers), key=lambda item: not item[1].written):
        first = len(outputs) + len(inputs)
        sign = ("+" if b.read else "=") if b.written else ""
        listed = [(sign + b.constraint, Subscript(Name(name), IntLit(i))) for i in range(b.registers)]
        outputs += listed if b.written else []
        inputs += [] if b.written else listed
        spelled[name] = "{" + ", ".join(f"%{first + i}" for i in range(b.registers)) + "}"
    before, after = [], []
    for name, b in bound:
        if b.literal is not None:
            spelled[name] = b.literal
        elif not b.registers:
            number = len(outputs) + len(inputs)
            value: Expr = Convert("unsigned", Name(name)) if b.predicate else Name(name)
            inputs.append((b.constraint, value))
            spelled[name] = f"p_{name}" if b.predicate else f"%{number}"
            before += [f".reg .pred p_{name};", f"setp.ne.b32 p_{name}, %{number}, 0;"] if b.predicate else []
    text = _PLACEHOLDER.sub(lambda m: spelled[m.group(1)], asm.text)
    if before:
        before, after = ["{", *before], ["}"]
    params = tuple(Parameter(b.type, Name(name)) for name, b in bound if b.literal is None)
    body = Inline((*before, text, *after), tuple(outputs), tuple(inputs))
    literals = (f"_{name}_{b.literal}" for name, b in bound if b.literal is not None)
    return Function("DEVICE void", asm.name + "".join(literals), params, (body,))
