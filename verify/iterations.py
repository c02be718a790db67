"""The iterations of a loop that its guards choose: an interval less some others, of which periodic guards let some
residues pass, and guards on unknown numbers those that a function counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import gcd, lcm

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.print_expr import index_text
from exogpu.ir.walk import conjuncts, index_names, substitute_cond, substitute_index
from exogpu.smt.context import Context
from exogpu.smt.functions import Plain
from exogpu.smt.index import Env, to_formula, to_poly
from exogpu.smt.poly import ZERO, Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.bounds_of import Interval, NotAnInterval, narrow
from exogpu.verify.derived import applied
from exogpu.verify.program import Applied

MOST_HOLES = 3
"""Most guards that leave out an interval each."""
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
class Filter:
    """Guards over a loop variable, sizes and unknown numbers at that iteration."""

    var: str
    guards: tuple[Cond, ...]
    applied: tuple[tuple[str, Applied], ...]
    env: tuple[tuple[str, Poly], ...]

    def passes(self, ctx: Context, at: Poly) -> Formula:
        """The guards hold in iteration `at`."""
        env: dict[str, Poly] = {**dict(self.env), self.var: at}
        env.update({name: applied(ctx, meaning, env) for name, meaning in self.applied})
        return ctx.api.conj(to_formula(ctx, g, env) for g in self.guards)

    def below(self, ctx: Context, at: Poly) -> Poly:
        """How many of the iterations 0 .. at - 1 pass; below 0, minus how many of at .. -1. What all guards let pass
        and what all but the last do, which does not, is what all but the last let pass."""
        if not self.guards:
            return at
        *others, last = sorted(self.guards, key=lambda g: isinstance(g, Not))
        if isinstance(last, Not) and not others:
            return at - self._only(conjuncts(last.arg)).below(ctx, at)
        known = (self.key, at) in ctx.functions.counts
        found = ctx.functions.count(ctx, self.key, at, lambda p: self.passes(ctx, p), self._plain(ctx))
        if isinstance(last, Not) and not known:
            rest = self._only((*others, *conjuncts(last.arg))).below(ctx, at)
            ctx.definitions.append(ctx.eq(found + rest, self._only(tuple(others)).below(ctx, at)))
        return found

    def _only(self, guards: tuple[Cond, ...]) -> Filter:
        """With these guards."""
        names = frozenset[str]().union(*(index_names(g) for g in guards))
        tested = tuple(a for a in self.applied if a[0] in names)
        names = names.union(*(_names(meaning) for _, meaning in tested))
        return replace(self, guards=guards, applied=tested, env=tuple(e for e in self.env if e[0] in names))

    def _plain(self, ctx: Context) -> Plain | None:
        """The one unknown number of the iteration that is tested against 0, and whether it is not 0."""
        if len(self.applied) != 1 or (where := self._argument(*self.applied[0][1].args)) is None:
            return None
        name, meaning = self.applied[0]
        before, after = (
            tuple(to_poly(ctx, a, dict(self.env)) for a in args)
            for args in (meaning.args[:where], meaning.args[where + 1 :])
        )
        match self.guards:
            case (Cmp("!=", Var(tested), Int(0)),) if tested == name:
                return Plain(meaning.name, before, after, True)
            case (Not(Cmp("!=", Var(tested), Int(0))),) if tested == name:
                return Plain(meaning.name, before, after, False)
            case _:
                return None

    def _argument(self, *args: Index) -> int | None:
        """Which one of the arguments is the iteration; the others do not depend on it."""
        varying = [n for n, a in enumerate(args) if self.var in index_names(a)]
        return varying[0] if len(varying) == 1 and args[varying[0]] == Var(self.var) else None

    @property
    def key(self) -> Hashable:
        """The same for the same guards on another loop's variable, where all else has the same values."""
        one: dict[str, Index] = {self.var: Var("$v")}
        for name, meaning in self.applied:
            args = ", ".join(index_text(substitute_index(a, one)) for a in meaning.args)
            one[name] = Var(f"{meaning.name}({args})")
        return frozenset(substitute_cond(g, one) for g in self.guards), self.env


@dataclass(frozen=True, slots=True)
class Iterations:
    """Iterations v of `interval` with `chosen[v mod period]` (every one if the period is 1) that pass the filter and
    lie in no hole; `signed` counts those in holes by inclusion and exclusion: with a minus, what lies in one of them,
    with a plus, what lies in two, and so on."""

    ctx: Context
    interval: Interval
    chosen: tuple[Formula, ...] = ()
    filter: Filter | None = None
    holes: tuple[Interval, ...] = ()
    signed: tuple[tuple[int, Interval], ...] = ()

    def count(self) -> Cases:
        """How many there are; each number as one term, which products with it are then about."""
        return tuple((c, self.ctx.natural(n)) for c, n in self._less(self._between(self.interval), None))

    def before(self, here: Poly) -> Cases:
        """How many come before iteration `here`."""
        return self._less(self._between(self._until(self.interval, here)), here)

    def up_to(self, here: Poly) -> Cases:
        """As `before`, for one of them."""
        return self._less(self._ordered(self.interval.lo, here), here)

    def _less(self, whole: Cases, here: Poly | None) -> Cases:
        """Without those in holes, before `here` if that is given."""
        for sign, hole in self.signed:
            found = self._between(hole if here is None else self._until(hole, here))
            whole = tuple((c, n + m * sign) for (c, n), (_, m) in zip(whole, found, strict=True))
        return whole

    def _until(self, interval: Interval, here: Poly) -> Interval:
        return Interval(interval.lo, self.ctx.min(interval.hi, here))

    def _between(self, interval: Interval) -> Cases:
        return self._ordered(interval.lo, self.ctx.max(interval.hi, interval.lo))

    def _ordered(self, lo: Poly, hi: Poly) -> Cases:
        ctx = self.ctx
        if self.filter is not None:
            return ((ctx.api.literal(True), self.filter.below(ctx, hi) - self.filter.below(ctx, lo)),)
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
        outside = (ctx.api.negate(ctx.between(hole.lo, here, hole.hi)) for hole in self.holes)
        inside = ctx.api.conj((ctx.between(self.interval.lo, here, self.interval.hi), *outside))
        if self.filter is not None:
            return ctx.api.conj((inside, self.filter.passes(ctx, here)))
        if not self.chosen:
            return inside
        residue = ctx.mod(here, len(self.chosen))
        passes = [ctx.api.conj((ctx.eq(residue, r), chosen)) for r, chosen in enumerate(self.chosen)]
        return ctx.api.conj((inside, ctx.api.disj(passes)))


def chosen_iterations(
    ctx: Context, whole: Interval, var: str, guards: Iterable[Cond], env: Env, unknown: Mapping[str, Applied]
) -> Iterations:
    """The iterations of `whole` that satisfy every guard; the guards are over `var`, the names of `env` and unknown
    numbers.

    Raises `NotAnInterval` for a guard that selects neither an interval nor residues of a small period.
    """
    interval, periodic, period = whole, list[Cond](), 1
    filtering = [g for g in guards if index_names(g) & unknown.keys()]
    others = [g for g in guards if g not in filtering]
    splitting = [g for g in others if common_period(g, var) is None and _splits(g)]
    for guard in others:
        step = common_period(guard, var)
        if guard in splitting:
            continue
        if step is None:
            interval = narrow(ctx, interval, var, (guard,), env)
        else:
            periodic.append(guard)
            period = lcm(period, step)
    if filtering:
        return Iterations(ctx, interval, filter=_filter(var, (*filtering, *periodic, *splitting), env, unknown))
    if period > MOST_RESIDUES:
        raise NotAnInterval(f"its guards on {var} repeat only after {period} iterations")
    if len(splitting) > MOST_HOLES:
        raise NotAnInterval(f"its guards on {var} leave out more than {MOST_HOLES} intervals")
    holes = tuple(narrow(ctx, interval, var, (Not(g),), env) for g in splitting)
    signed = tuple(
        (-1 if len(some) % 2 else 1, narrow(ctx, interval, var, map(Not, some), env))
        for k in range(1, len(splitting) + 1)
        for some in combinations(splitting, k)
    )
    if not periodic:
        return Iterations(ctx, interval, holes=holes, signed=signed)
    passes = (ctx.api.conj(to_formula(ctx, g, {**env, var: lift(r)}) for g in periodic) for r in range(period))
    return Iterations(ctx, interval, tuple(passes), holes=holes, signed=signed)


def _splits(guard: Cond) -> bool:
    """What the guard leaves out may be an interval, rather than what it lets pass."""
    match guard:
        case Cmp("!=") | Not(Cmp("==")) | BoolOp("or") | Not(BoolOp("and")):
            return True
        case Not(Not(arg)):
            return _splits(arg)
        case _:
            return False


def _names(meaning: Applied) -> frozenset[str]:
    """What has to be known to say an unknown number, and what holds of it."""
    return index_names(meaning.holds).union(*(index_names(a) for a in meaning.args))


def _filter(var: str, guards: tuple[Cond, ...], env: Env, unknown: Mapping[str, Applied]) -> Filter:
    names = frozenset[str]().union(*(index_names(g) for g in guards))
    tested = tuple((n, unknown[n]) for n in sorted(names & unknown.keys()))
    if any(index_names(a) & unknown.keys() for _, meaning in tested for a in meaning.args):
        raise NotAnInterval("an unknown number depends on another one")
    others = names.union(*(_names(meaning) for _, meaning in tested))
    known = tuple((n, env[n]) for n in sorted(others & env.keys()))
    return Filter(var, tuple(sorted(dict.fromkeys(guards), key=repr)), tested, known)


def common_period(guard: Cond, var: str) -> int | None:
    """A number of iterations after which a guard on `var` has the same value again; None if none is known."""
    match guard:
        case Bool():
            return 1
        case Not(arg):
            return common_period(arg, var)
        case BoolOp(_, args):
            periods = [common_period(a, var) for a in args]
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
