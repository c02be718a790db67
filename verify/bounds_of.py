"""Guards on one loop variable as a narrower iteration interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exogpu.ir.index import OPPOSITE, Bin, BoolOp, Cmp, Cond, Index, Not
from exogpu.ir.walk import index_names
from exogpu.smt.context import Context
from exogpu.smt.index import Env, to_poly
from exogpu.smt.poly import Poly, symbol


class NotAnInterval(Exception):
    """The guard does not select one interval of iterations."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Iterations `lo <= v < hi`."""

    lo: Poly
    hi: Poly


def narrow(ctx: Context, interval: Interval, var: str, guards: Iterable[Cond], sizes: Env) -> Interval:
    """The iterations of `interval` that satisfy every guard; the guards are over `var` and sizes."""
    for guard in guards:
        interval = _narrow(ctx, interval, var, guard, sizes)
    return interval


def _narrow(ctx: Context, interval: Interval, var: str, guard: Cond, sizes: Env) -> Interval:
    match guard:
        case BoolOp("and", args):
            return narrow(ctx, interval, var, args, sizes)
        case Not(BoolOp("or", args)):
            return narrow(ctx, interval, var, [Not(a) for a in args], sizes)
        case Not(Not(arg)):
            return _narrow(ctx, interval, var, arg, sizes)
        case Not(Cmp(op, left, right)):
            return _narrow(ctx, interval, var, Cmp(OPPOSITE[op], left, right), sizes)
        case Cmp(op, left, right) if op != "!=":
            return _compare(ctx, interval, var, op, left, right, sizes)
        case _:
            raise NotAnInterval(f"its guard on {var} is not an interval")


def _rounded(e: Index, var: str) -> bool:
    """`var` occurs under a division, remainder, minimum or maximum."""
    match e:
        case Bin("+" | "-" | "*", left, right):
            return _rounded(left, var) or _rounded(right, var)
        case Bin():
            return var in index_names(e)
        case _:
            return False


def _compare(ctx: Context, interval: Interval, var: str, op: str, left: Index, right: Index, sizes: Env) -> Interval:
    for side in (left, right):
        if _rounded(side, var):
            raise NotAnInterval(f"its guard tests a rounded value of {var}")
    env = {**sizes, var: symbol(_VAR)}
    p = to_poly(ctx, right, env) - to_poly(ctx, left, env)
    coefficient = dict(p.terms).get((_VAR,), 0)
    rest = p - symbol(_VAR) * coefficient
    if abs(coefficient) != 1 or _VAR in set(rest.symbols()):
        raise NotAnInterval(f"its guard on {var} is not linear with factor 1")
    # left op right  <=>  0 op rest + coefficient * v
    bound = -rest * coefficient
    flipped = coefficient < 0
    match op:
        case "==":
            return Interval(ctx.max(interval.lo, bound), ctx.min(interval.hi, bound + 1))
        case "<" | "<=":
            lower, strict = not flipped, op == "<"
        case _:
            lower, strict = flipped, op == ">"
    if lower:
        return Interval(ctx.max(interval.lo, bound + (1 if strict else 0)), interval.hi)
    return Interval(interval.lo, ctx.min(interval.hi, bound + (0 if strict else 1)))


_VAR = "$v"
