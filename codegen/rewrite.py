"""Rebuilding statements with every index expression and condition rewritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from exogpu.ir.index import Bin, Bool, Cond, Index, Int, Var
from exogpu.ir.stmt import Arrive, Assign, IndexArg, InstrCall, Operand, Point, Range, Stmt, Window
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, ScalarFn, Select, Value


@dataclass(frozen=True, slots=True)
class Rewriter:
    """What to do with an index expression and with a condition."""

    index: Callable[[Index], Index]
    cond: Callable[[Cond], Cond]


def rewrite_value(value: Value, by: Rewriter) -> Value:
    """The data expression with its indices rewritten; a `Select` whose condition becomes constant is resolved."""
    match value:
        case Read(_, index):
            return replace(value, index=tuple(by.index(i) for i in index))
        case Num():
            return value
        case FromIndex(index):
            return replace(value, index=by.index(index))
        case Arith(_, left, right):
            return replace(value, left=rewrite_value(left, by), right=rewrite_value(right, by))
        case Neg(arg) | Cast(_, arg):
            return replace(value, arg=rewrite_value(arg, by))
        case Call(_, args):
            return replace(value, args=tuple(rewrite_value(a, by) for a in args))
        case Select(cond, then, orelse):
            test = by.cond(cond)
            if isinstance(test, Bool):
                return rewrite_value(then if test.value else orelse, by)
            return replace(value, cond=test, then=rewrite_value(then, by), orelse=rewrite_value(orelse, by))


def rewrite_window(window: Window, by: Rewriter) -> Window:
    """The window with its indices rewritten."""
    return replace(window, dims=tuple(_dim(d, by) for d in window.dims))


def _dim(d: Point | Range, by: Rewriter) -> Point | Range:
    return Point(by.index(d.index)) if isinstance(d, Point) else Range(by.index(d.lo), d.extent)


def _operand(operand: Operand, by: Rewriter) -> Operand:
    match operand:
        case Window():
            return rewrite_window(operand, by)
        case IndexArg(value):
            match value:
                case Var() | Int() | Bin():
                    return IndexArg(by.index(value))
                case _:
                    return IndexArg(by.cond(value))
        case ScalarFn(_, _, body):
            return replace(operand, body=rewrite_value(body, by))
        case _:
            return operand


def rewrite_leaf(stmt: Stmt, by: Rewriter) -> Stmt:
    """A statement without nested blocks, rewritten."""
    match stmt:
        case Assign(_, index, _, rhs):
            return replace(stmt, index=tuple(by.index(i) for i in index), rhs=rewrite_value(rhs, by))
        case InstrCall(_, operands):
            return replace(stmt, operands=tuple((name, _operand(arg, by)) for name, arg in operands))
        case Arrive(_, tx, ctas):
            return replace(stmt, tx=None if tx is None else by.index(tx), ctas=_dim(ctas, by) if ctas else None)
        case _:
            return stmt
