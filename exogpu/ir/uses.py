"""What a statement itself uses, nested blocks left out: its index expressions, elements, windows and barriers."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.index import Cond, Index
from exogpu.ir.stmt import (
    Arrive,
    Assign,
    Await,
    BarrierRef,
    For,
    If,
    IndexArg,
    InstrCall,
    Point,
    Role,
    Stmt,
    Window,
)
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.source import Span


def values(value: Value) -> Iterator[Value]:
    """Every node of a data expression, outer before inner."""
    yield value
    match value:
        case Arith(_, left, right) | Select(_, left, right):
            yield from values(left)
            yield from values(right)
        case Neg(arg) | Cast(_, arg):
            yield from values(arg)
        case Call(_, args):
            for a in args:
                yield from values(a)
        case Read() | Num() | FromIndex():
            return


def value_indices(value: Value) -> Iterator[Index | Cond]:
    """The index expressions and conditions in a data expression."""
    for node in values(value):
        match node:
            case Read(index=index):
                yield from index
            case Select(cond=cond):
                yield cond
            case FromIndex(index=single):
                yield single
            case _:
                continue


def indices(stmt: Stmt) -> Iterator[Index | Cond]:
    """The index expressions and conditions of a statement."""
    match stmt:
        case For(lo=lo, hi=hi):
            yield from (lo, hi)
        case If(cond=cond):
            yield cond
        case Assign(index=index, rhs=rhs):
            yield from index
            yield from value_indices(rhs)
        case Arrive(tx=tx, ctas=ctas):
            yield from () if tx is None else (tx,)
            yield from () if ctas is None else (ctas.index if isinstance(ctas, Point) else ctas.lo,)
        case Role(index=unit) if unit is not None:
            yield unit
        case InstrCall(operands=operands):
            for _, operand in operands:
                match operand:
                    case Window(dims=dims):
                        yield from (d.index if isinstance(d, Point) else d.lo for d in dims)
                    case IndexArg(value):
                        yield value
                    case _:
                        continue
        case _:
            return


def elements(stmt: Stmt) -> Iterator[tuple[str, int, Span]]:
    """Buffers (or scalar arguments) that a statement names, with the number of dimensions given and the place."""
    match stmt:
        case Assign(buffer=buffer, index=index, rhs=rhs, span=span):
            yield buffer, len(index), span
            for node in values(rhs):
                if isinstance(node, Read):
                    yield node.buffer, len(node.index), node.span
        case InstrCall(operands=operands):
            for _, operand in operands:
                if isinstance(operand, Window):
                    yield operand.buffer, len(operand.dims), operand.span
        case _:
            return


def barriers(stmt: Stmt) -> Iterator[tuple[str, Span]]:
    """Barriers that a statement names, with the place."""
    match stmt:
        case Arrive(barrier=name, span=span) | Await(barrier=name, span=span):
            yield name, span
        case InstrCall(operands=operands):
            yield from ((o.name, o.span) for _, o in operands if isinstance(o, BarrierRef))
        case _:
            return
