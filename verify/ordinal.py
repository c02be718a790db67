"""Ordinals: how often a statement has been executed by one thread before a given instance, in closed form.

The n-th execution of an allocation picks the ring slot; the k-th arrive and await pick phases; the number of commits
picks the group. All are counts `count_before(statement, instance)`: sums of products of trip counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from exogpu.ir.index import Cond
from exogpu.ir.walk import index_names
from exogpu.smt.poly import ONE, ZERO, Poly
from exogpu.smt.terms import Formula
from exogpu.verify.bounds_of import Interval, NotAnInterval, narrow
from exogpu.verify.index import Env, to_formula, to_poly
from exogpu.verify.instance import Instance, Model
from exogpu.verify.program import Event, Loop, LoopKind

SIMULTANEOUS = (LoopKind.THREADS, LoopKind.CTAS)
"""Loops whose iterations are executions by different threads, or for different CTAs: one of each is counted."""


class NoClosedForm(Exception):
    """The execution count of a statement has no closed form that we know; carries the reason."""


def count_before(model: Model, statement: Event, at: Instance) -> Poly:
    """Executions of `statement`, by one of the threads that execute it, strictly before the instance `at`."""
    counter = _Count(model, statement)
    return model.ctx.ite(counter.global_guard, counter.before(at, 0), ZERO)


def count_all(model: Model, statement: Event) -> Poly:
    """All executions of `statement` by one of its threads."""
    counter = _Count(model, statement)
    return model.ctx.ite(counter.global_guard, counter.total(0), ZERO)


def count_until(model: Model, statements: Iterable[Event], at: Instance) -> Poly:
    """Executions of any of `statements` strictly before `at`, by one thread that executes them all."""
    total = ZERO
    for s in statements:
        total = total + count_before(model, s, at)
    return total


class _Count:
    def __init__(self, model: Model, statement: Event) -> None:
        self.model = model
        self.ctx = model.ctx
        self.statement = statement
        self.by_loop: dict[str, list[Cond]] = {}
        constant: list[Formula] = []
        threads = {loop.var for loop in statement.loops if loop.kind is LoopKind.THREADS}
        for guard in statement.guards:
            if index_names(guard) & threads:
                continue  # it chooses the executing threads: `phases.executors` has read it
            owner = self._owner(guard)
            if owner is None:
                constant.append(to_formula(self.ctx, guard, model.sizes))
            else:
                self.by_loop.setdefault(owner, []).append(guard)
        self.global_guard = self.ctx.api.conj(constant)

    def _owner(self, guard: Cond) -> str | None:
        """The one sequential loop variable that a guard tests; None if it tests sizes only."""
        names = index_names(guard)
        kinds = {loop.var: loop.kind for loop in self.statement.loops}
        tested = [v for v in names if v not in self.model.sizes]
        if not tested:
            return None
        if len(tested) > 1 or kinds.get(tested[0]) is not LoopKind.SEQ:
            raise NoClosedForm(f"its guard tests {', '.join(sorted(tested))}")
        return tested[0]

    def _interval(self, loop: Loop) -> Interval:
        names = index_names(loop.lo) | index_names(loop.hi)
        if not names <= set(self.model.sizes):
            raise NoClosedForm(f"the bounds of loop {loop.var} depend on {', '.join(sorted(names))}")
        lo = to_poly(self.ctx, loop.lo, self.model.sizes)
        hi = to_poly(self.ctx, loop.hi, self.model.sizes)
        try:
            return narrow(self.ctx, Interval(lo, hi), loop.var, self.by_loop.get(loop.var, []), self.model.sizes)
        except NotAnInterval as error:
            raise NoClosedForm(str(error)) from error

    def total(self, level: int) -> Poly:
        """Executions inside one execution of the block at `level`."""
        loop = self.statement.path[level].loop
        if loop is None:
            return ONE
        inner = self.total(level + 1)
        if loop.kind in SIMULTANEOUS:
            return inner
        interval = self._interval(loop)
        return self.ctx.trip(interval.lo, interval.hi) * inner

    def before(self, at: Instance, level: int) -> Poly:
        mine, theirs = self.statement.path[level], at.event.path[level]
        if mine.position != theirs.position:
            return self.total(level) if mine.position < theirs.position else ZERO
        loop = mine.loop
        if loop is None:
            return ZERO
        if loop.kind in SIMULTANEOUS:
            return self.before(at, level + 1)
        return self._inside(loop, at, level)

    def _inside(self, loop: Loop, at: Instance, level: int) -> Poly:
        """The loop is common: whole iterations before, then the part of this one."""
        ctx = self.ctx
        interval = self._interval(loop)
        here = at[loop.var]
        lo, hi = _plain(self, loop)
        if interval == Interval(lo, hi):
            done: Poly = here - lo
            inside: Formula = ctx.api.literal(True)
        else:
            done = ctx.trip(interval.lo, ctx.min(interval.hi, here))
            inside = ctx.between(interval.lo, here, interval.hi)
        partial = ctx.ite(inside, self.before(at, level + 1), ZERO)
        return done * self.total(level + 1) + partial


def _plain(count: _Count, loop: Loop) -> tuple[Poly, Poly]:
    env: Env = count.model.sizes
    return to_poly(count.ctx, loop.lo, env), to_poly(count.ctx, loop.hi, env)
