"""Index expressions to solver terms, and small facts about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.smt.context import Context
from exogpu.smt.poly import Poly, lift
from exogpu.smt.terms import Formula

Env = Mapping[str, Poly]


def to_poly(ctx: Context, e: Index, env: Env) -> Poly:
    """The polynomial of an index expression; KeyError for an unbound name."""
    match e:
        case Var(name):
            return env[name]
        case Int(value):
            return lift(value)
        case Bin(op, left, right):
            a, b = to_poly(ctx, left, env), to_poly(ctx, right, env)
            match op:
                case "+":
                    return a + b
                case "-":
                    return a - b
                case "*":
                    return a * b
                case "//":
                    return ctx.floordiv(a, _divisor(b))
                case "%":
                    return ctx.mod(a, _divisor(b))
                case "ceildiv":
                    return ctx.floordiv(a + (_divisor(b) - 1), _divisor(b))
                case "min":
                    return ctx.min(a, b)
                case "max":
                    return ctx.max(a, b)


def to_formula(ctx: Context, c: Cond, env: Env) -> Formula:
    """The formula of a condition."""
    match c:
        case Bool(value):
            return ctx.api.literal(value)
        case Not(arg):
            return ctx.api.negate(to_formula(ctx, arg, env))
        case BoolOp(op, args):
            parts = [to_formula(ctx, a, env) for a in args]
            return ctx.api.conj(parts) if op == "and" else ctx.api.disj(parts)
        case Cmp(op, left, right):
            a, b = to_poly(ctx, left, env), to_poly(ctx, right, env)
            match op:
                case "<":
                    return ctx.lt(a, b)
                case "<=":
                    return ctx.le(a, b)
                case ">":
                    return ctx.lt(b, a)
                case ">=":
                    return ctx.le(b, a)
                case "==":
                    return ctx.eq(a, b)
                case "!=":
                    return ctx.api.negate(ctx.eq(a, b))


def _divisor(p: Poly) -> int:
    if p.constant is None or p.constant <= 0:
        raise ValueError("a divisor must be a positive literal")
    return p.constant


def const(e: Index | Cond) -> int:
    """The value of a literal expression."""
    if isinstance(e, Var | Int | Bin):
        return evaluate(e, {})
    raise TypeError("an integer literal was expected")


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
