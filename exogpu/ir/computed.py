"""The index expressions that are computed on the way to a value."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value


def subterms(e: Index) -> Iterator[Index]:
    """Every value that the evaluation of an expression computes on the way."""
    if isinstance(e, Bin):
        yield from subterms(e.left)
        yield from subterms(e.right)
        # ceildiv(a, c) is computed as (a + c - 1) // c
        yield Bin("+", e.left, Bin("-", e.right, Int(1))) if e.op == "ceildiv" else e


def computed_by_value(value: Value, under: tuple[Cond, ...] = ()) -> Iterator[tuple[Index, tuple[Cond, ...]]]:
    """Every index expression that a data expression evaluates, and the conditions under which it does."""
    match value:
        case Read(_, index):
            yield from ((i, under) for i in index)
        case FromIndex(index):
            yield index, under
        case Num():
            return
        case Arith(_, left, right):
            yield from computed_by_value(left, under)
            yield from computed_by_value(right, under)
        case Neg(arg) | Cast(_, arg):
            yield from computed_by_value(arg, under)
        case Call(_, args):
            for a in args:
                yield from computed_by_value(a, under)
        case Select(cond, then, orelse):
            yield from computed_by_cond(cond, under)
            yield from computed_by_value(then, (*under, cond))
            yield from computed_by_value(orelse, (*under, Not(cond)))


def computed_by_cond(cond: Cond, under: tuple[Cond, ...] = ()) -> Iterator[tuple[Index, tuple[Cond, ...]]]:
    """Every index expression that a condition evaluates; `and` and `or` stop at the first decisive part."""
    match cond:
        case Cmp(_, left, right):
            yield left, under
            yield right, under
        case BoolOp(op, args):
            before = under
            for arg in args:
                yield from computed_by_cond(arg, before)
                before = (*before, arg if op == "and" else Not(arg))
        case Not(arg):
            yield from computed_by_cond(arg, under)
        case Bool():
            return
