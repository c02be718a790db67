"""Index expressions and conditions as solver terms."""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
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
