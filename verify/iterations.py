"""The iterations of a loop that its guards choose: an interval, of which periodic guards let some residues pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd, lcm

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.walk import index_names
from exogpu.smt.context import Context
from exogpu.smt.poly import ZERO, Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.bounds_of import Interval, NotAnInterval, narrow
from exogpu.verify.index import Env, to_formula

MOST_RESIDUES = 64
"""Largest period for which residues are counted one by one."""


Cases = tuple[tuple[Formula, Poly], ...]
"""A sum of numbers, each of which counts only where its condition holds."""


def times(ctx: Context, a: Cases, b: Cases) -> Cases:
    """The product of two sums."""
    found = ((ctx.api.conj((p, q)), m * n) for p, m in a for q, n in b)
    return tuple(c for c in found if not ctx.api.is_false(c[0]))


def sum_of(ctx: Context, cases: Cases) -> Poly:
    """The number that a sum stands for."""
    total = ZERO
    for condition, number in cases:
        total = total + ctx.ite(condition, number, ZERO)
    return total


@dataclass(frozen=True, slots=True)
class Iterations:
    """Iterations v of `interval` with `chosen[v mod period]`; every one if the period is 1."""

    ctx: Context
    interval: Interval
    chosen: tuple[Formula, ...] = ()

    def count(self) -> Cases:
        """How many there are; each number as one term, which products with it are then about."""
        return tuple((c, self.ctx.natural(n)) for c, n in self._between(self.interval.hi))

    def before(self, here: Poly) -> Cases:
        """How many come before iteration `here`."""
        return self._between(self.ctx.min(self.interval.hi, here))

    def up_to(self, here: Poly) -> Cases:
        """As `before`, for one of them."""
        return self._ordered(here)

    def _between(self, hi: Poly) -> Cases:
        return self._ordered(self.ctx.max(hi, self.interval.lo))

    def _ordered(self, hi: Poly) -> Cases:
        lo, ctx = self.interval.lo, self.ctx
        if not self.chosen:
            return ((ctx.api.literal(True), hi - lo),)
        cases: list[tuple[Formula, Poly]] = []
        for residue, chosen in enumerate(self.chosen):
            # v = residue (mod period) below n: ceil((n - residue) / period) more than for n = 0
            up = len(self.chosen) - 1 - residue
            some = ctx.floordiv(hi + up, len(self.chosen)) - ctx.floordiv(lo + up, len(self.chosen))
            cases.append((chosen, some))
        return tuple(c for c in cases if not ctx.api.is_false(c[0]))

    def includes(self, here: Poly) -> Formula:
        """Whether iteration `here` is one of them."""
        ctx = self.ctx
        inside = ctx.between(self.interval.lo, here, self.interval.hi)
        if not self.chosen:
            return inside
        residue = ctx.mod(here, len(self.chosen))
        passes = [ctx.api.conj((ctx.eq(residue, r), chosen)) for r, chosen in enumerate(self.chosen)]
        return ctx.api.conj((inside, ctx.api.disj(passes)))


def chosen_iterations(ctx: Context, whole: Interval, var: str, guards: Iterable[Cond], env: Env) -> Iterations:
    """The iterations of `whole` that satisfy every guard; the guards are over `var` and the names of `env`.

    Raises `NotAnInterval` for a guard that selects neither an interval nor residues of a small period.
    """
    interval, periodic, period = whole, list[Cond](), 1
    for guard in guards:
        step = _common_period(guard, var)
        if step is None:
            interval = narrow(ctx, interval, var, (guard,), env)
        else:
            periodic.append(guard)
            period = lcm(period, step)
    if period > MOST_RESIDUES:
        raise NotAnInterval(f"its guards on {var} repeat only after {period} iterations")
    if not periodic:
        return Iterations(ctx, interval)
    passes = (ctx.api.conj(to_formula(ctx, g, {**env, var: lift(r)}) for g in periodic) for r in range(period))
    return Iterations(ctx, interval, tuple(passes))


def _common_period(guard: Cond, var: str) -> int | None:
    """A number of iterations after which a guard on `var` has the same value again; None if none is known."""
    match guard:
        case Bool():
            return 1
        case Not(arg):
            return _common_period(arg, var)
        case BoolOp(_, args):
            periods = [_common_period(a, var) for a in args]
            return None if None in periods else lcm(*(p for p in periods if p is not None))
        case Cmp(_, left, right):
            drift = _drift(Bin("-", left, right), var)
            return drift[0] if drift is not None and drift[1] == 0 else None


def _drift(e: Index, var: str) -> tuple[int, int] | None:
    """(q, d) such that q more iterations always add d to the expression; None if none is known."""
    match e:
        case _ if var not in index_names(e):
            return 1, 0
        case Var():
            return 1, 1
        case Bin("*", left, right):
            factor, rest = (right, left) if isinstance(right, Int) else (left, right)
            drift = _drift(rest, var)
            return (drift[0], drift[1] * factor.value) if drift is not None and isinstance(factor, Int) else None
        case Bin("//" | "ceildiv" | "%" as op, left, Int(divisor)):
            drift = _drift(left, var)
            if drift is None:
                return None
            times = divisor // gcd(divisor, drift[1])
            return drift[0] * times, 0 if op == "%" else drift[1] * times // divisor
        case Bin(op, left, right):
            a, b = _drift(left, var), _drift(right, var)
            return None if a is None or b is None else _combined(op, a, b)
        case Int():
            return 1, 0


def _combined(op: str, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int] | None:
    q = lcm(a[0], b[0])
    left, right = a[1] * q // a[0], b[1] * q // b[0]
    match op:
        case "+":
            return q, left + right
        case "-":
            return q, left - right
        case "min" | "max" if left == right:
            return q, left
        case _:
            return None
