"""Statements with variables replaced by index expressions, or with names replaced by other names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from exogpu.ir.index import Bin, Cond, Index, Int, Var
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    Block,
    Fence,
    For,
    If,
    IndexArg,
    InstrCall,
    Operand,
    Point,
    Range,
    Role,
    Stmt,
    Window,
)
from exogpu.ir.value import FromIndex, Read, Select, Value
from exogpu.ir.walk import children, map_value, substitute_cond, substitute_index


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of every index expression, condition, name of a buffer or loop variable, and part of a value."""

    index: Callable[[Index], Index] = lambda index: index
    cond: Callable[[Cond], Cond] = lambda cond: cond
    name: Callable[[str], str] = lambda name: name
    value: Callable[[Value], Value] = lambda value: value


def substitute(block: Block, env: Mapping[str, Index]) -> Block:
    """A block with variables replaced; they are free in it, and no loop in it captures what replaces them."""
    return change(block, Change(lambda e: substitute_index(e, env), lambda c: substitute_cond(c, env)))


def rename(block: Block, names: Mapping[str, str]) -> Block:
    """A block with variables and buffers renamed, those that it declares included."""
    env = {old: Var(new) for old, new in names.items()}
    return change(
        block,
        Change(
            lambda e: substitute_index(e, env), lambda c: substitute_cond(c, env), lambda name: names.get(name, name)
        ),
    )


def declared(block: Block) -> tuple[str, ...]:
    """The loop variables and buffers that a block declares, in order."""
    out: list[str] = []
    for stmt in block:
        match stmt:
            case For(var=name) | Alloc(name=name):
                out.append(name)
            case _:
                pass
        for inner in children(stmt):
            out += declared(inner)
    return tuple(out)


def change(block: Block, to: Change) -> Block:
    """A block with every expression and name changed."""
    return tuple(_statement(stmt, to) for stmt in block)


def _statement(stmt: Stmt, to: Change) -> Stmt:
    match stmt:
        case Assign():
            index = tuple(to.index(i) for i in stmt.index)
            return replace(stmt, buffer=to.name(stmt.buffer), index=index, rhs=change_value(stmt.rhs, to))
        case Alloc():
            return replace(stmt, name=to.name(stmt.name))
        case For():
            body = change(stmt.body, to)
            return replace(stmt, var=to.name(stmt.var), lo=to.index(stmt.lo), hi=to.index(stmt.hi), body=body)
        case If():
            return replace(stmt, cond=to.cond(stmt.cond), then=change(stmt.then, to), orelse=change(stmt.orelse, to))
        case Role():
            unit = None if stmt.index is None else to.index(stmt.index)
            return replace(stmt, body=change(stmt.body, to), index=unit)
        case InstrCall():
            return replace(stmt, operands=tuple((name, _operand(arg, to)) for name, arg in stmt.operands))
        case Arrive():
            ctas = None if stmt.ctas is None else _dimension(stmt.ctas, to)
            return replace(stmt, tx=None if stmt.tx is None else to.index(stmt.tx), ctas=ctas)
        case Fence() | Await():
            return stmt


def change_value(value: Value, to: Change) -> Value:
    """A data expression with every index expression and buffer name changed."""

    def node(v: Value) -> Value:
        match v:
            case Read():
                v = replace(v, buffer=to.name(v.buffer), index=tuple(to.index(i) for i in v.index))
            case Select():
                v = replace(v, cond=to.cond(v.cond))
            case FromIndex():
                v = replace(v, index=to.index(v.index))
            case _:
                pass
        return to.value(v)

    return map_value(value, node)


def _operand(operand: Operand, to: Change) -> Operand:
    match operand:
        case Window():
            dims = tuple(_dimension(d, to) for d in operand.dims)
            return replace(operand, buffer=to.name(operand.buffer), dims=dims)
        case IndexArg(value):
            return IndexArg(_either(value, to))
        case _:
            return operand


def _either(value: Index | Cond, to: Change) -> Index | Cond:
    return to.index(value) if isinstance(value, Var | Int | Bin) else to.cond(value)


def _dimension(dim: Point | Range, to: Change) -> Point | Range:
    match dim:
        case Point(index):
            return Point(to.index(index))
        case Range(lo, extent):
            return Range(to.index(lo), extent)


def alike(a: Block, b: Block) -> bool:
    """Whether two blocks differ at most in the names that they declare."""
    first, second = declared(a), declared(b)
    if len(first) != len(second):
        return False
    return rename(a, {name: f"#{n}" for n, name in enumerate(first)}) == rename(
        b, {name: f"#{n}" for n, name in enumerate(second)}
    )
