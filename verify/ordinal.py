"""Ordinals: how often a statement has been executed by one thread before a given instance, in closed form.

The n-th execution of an allocation picks the ring slot; the k-th arrive and await pick phases; the number of commits
picks the group. All are counts `count_before(statement, instance)`: sums of products of trip counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exogpu.ir.index import Cmp, Cond, Index, Var
from exogpu.ir.walk import index_names
from exogpu.smt.index import Env, to_formula, to_poly
from exogpu.smt.poly import ONE, ZERO, Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.bounds_of import Interval, NotAnInterval
from exogpu.verify.derived import applied
from exogpu.verify.instance import Instance, Model
from exogpu.verify.iterations import Cases, Filter, Iterations, chosen_iterations, sum_of, times
from exogpu.verify.program import Applied, Counter, Event, Loop, LoopKind

SIMULTANEOUS = (LoopKind.THREADS, LoopKind.CTAS)
"""Loops whose iterations are executions by different threads, or for different CTAs: one of each is counted."""


class NoClosedForm(Exception):
    """The execution count of a statement has no closed form that we know; carries the reason."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The thread whose executions are counted, and its unit among those that take turns at the statement. `alone`:
    without what the other units execute."""

    thread: Poly
    unit: Poly
    alone: bool = False


def count_before(model: Model, statement: Event, at: Instance, who: Actor | None = None, *, within: int = 0) -> Poly:
    """Executions of `statement`, by one of the threads that execute it, strictly before the instance `at`; of its first
    `within` loops in the current iteration alone.

    `who` says by which, if that makes a difference. Units that take turns at it count as one, unless it is `alone`.
    """
    counter = _Count(model, statement, who, within)
    return model.ctx.ite(counter.global_guard, counter.before(at, 0), ZERO)


def count_all(model: Model, statement: Event, thread: int) -> Poly:
    """All executions of `statement` by a thread."""
    return count_total(model, statement, actor(statement, thread))


def count_total(model: Model, statement: Event, who: Actor) -> Poly:
    """All executions of `statement` by a thread that may be symbolic."""
    counter = _Count(model, statement, who)
    return model.ctx.ite(counter.global_guard, sum_of(model.ctx, counter.total(0)), ZERO)


def loop_filter(model: Model, statement: Event, loop: Loop) -> Filter:
    """The iterations of a loop of a statement that unknown numbers let pass."""
    found = _Count(model, statement)._iterations(loop).filter
    if found is None:
        raise NoClosedForm(f"no unknown number decides about iterations of {loop.var}")
    return found


def count_until(model: Model, statements: Iterable[Event], at: Instance, thread: int) -> Poly:
    """Executions of any of `statements` strictly before `at`, by a thread that executes them all."""
    total = ZERO
    for s in statements:
        total = total + count_before(model, s, at, actor(s, thread))
    return total


def actor(statement: Event, thread: int) -> Actor:
    """A known thread, for all units that take turns with its own."""
    turns = statement.selection
    return Actor(lift(thread), lift(0 if turns is None else (thread % turns.cta - turns.base) // turns.size))


class _Count:
    def __init__(self, model: Model, statement: Event, who: Actor | None = None, within: int = 0) -> None:
        self.model = model
        self.ctx = model.ctx
        self.statement = statement
        self.within = within
        self.env: dict[str, Poly] = dict(model.sizes)
        self.by_loop: dict[str, list[Cond]] = {}
        constant: list[Formula] = []
        guards = list(mixed_guards(statement))
        if who is not None and guards:
            self.env.update(self._thread_iterations(who))
        guards += _sequential_guards(statement)
        if who is not None and who.alone and statement.selection is not None:
            self.env[_UNIT] = who.unit
            guards.append(Cmp("==", statement.selection.index, Var(_UNIT)))
        for guard in guards:
            owner = self._owner(guard)
            if owner is None:
                constant.append(to_formula(self.ctx, guard, self._with_unknown(guard)))
            else:
                self.by_loop.setdefault(owner, []).append(guard)
        self.global_guard = self.ctx.api.conj(constant)

    def _thread_iterations(self, who: Actor) -> dict[str, Poly]:
        """The iterations of the statement's thread loops in which a thread executes it."""
        turns, values = self.statement.selection, dict[str, Poly]()
        for loop in self.statement.loops:
            if loop.kind is not LoopKind.THREADS or loop.base is None:
                continue
            some = dict.fromkeys(index_names(loop.base), ZERO) | values
            base = to_poly(self.ctx, loop.base, some)
            if turns is not None and loop.unit < turns.cta:
                unit = to_poly(self.ctx, turns.index, dict.fromkeys(index_names(turns.index), ZERO) | values)
                base = base + (who.unit - unit) * turns.size
            values[loop.var] = self.ctx.floordiv(who.thread - base, loop.unit)
        return values

    def _owner(self, guard: Cond) -> str | None:
        """The one sequential loop variable that a guard tests; None if it tests sizes only."""
        kinds = {loop.var: loop.kind for loop in self.statement.loops}
        tested = sorted(v for v in self._tested(guard) if v not in self.env)
        if not tested:
            return None
        if len(tested) > 1 or kinds.get(tested[0]) not in (LoopKind.SEQ, LoopKind.TASK):
            raise NoClosedForm(f"its guard tests {', '.join(sorted(tested))}")
        return tested[0]

    def _with_unknown(self, guard: Cond) -> Env:
        """The known values, and those of the unknown numbers of a guard."""
        env = dict(self.env)
        for name in index_names(guard):
            meaning = self.model.program.derived.get(name)
            if isinstance(meaning, Applied):
                env[name] = applied(self.ctx, meaning, env)
        return env

    def _tested(self, e: Cond | Index) -> frozenset[str]:
        """The variables that a guard tests, also through unknown numbers."""
        out = frozenset[str]()
        for name in index_names(e):
            match self.model.program.derived.get(name):
                case Applied(args=args):
                    out = out.union(*(self._tested(a) for a in args))
                case Counter():
                    raise NoClosedForm(f"its guard tests the counter {name}")
                case None:
                    out |= {name}
        return out

    def _iterations(self, loop: Loop) -> Iterations:
        names = index_names(loop.lo) | index_names(loop.hi)
        if not names <= set(self.model.sizes):
            raise NoClosedForm(f"the bounds of loop {loop.var} depend on {', '.join(sorted(names))}")
        whole = _whole(self, loop)
        guards = self.by_loop.get(loop.var, [])
        unknown = {n: a for n, a in self.model.program.derived.items() if isinstance(a, Applied)}
        try:
            return chosen_iterations(self.ctx, whole, loop.var, guards, self.env, unknown)
        except NotAnInterval as error:
            raise NoClosedForm(str(error)) from error

    def total(self, level: int) -> Cases:
        """Executions inside one execution of the block at `level`."""
        loop = self.statement.path[level].loop
        if loop is None:
            return ((self.ctx.api.literal(True), ONE),)
        inner = self.total(level + 1)
        return inner if loop.kind in SIMULTANEOUS else times(self.ctx, self._iterations(loop).count(), inner)

    def before(self, at: Instance, level: int) -> Poly:
        mine, theirs = self.statement.path[level], at.event.path[level]
        if mine.position != theirs.position:
            return sum_of(self.ctx, self.total(level)) if mine.position < theirs.position else ZERO
        loop = mine.loop
        if loop is None:
            return ZERO
        if loop.kind in SIMULTANEOUS:
            return self.before(at, level + 1)
        if sum(s.loop is not None for s in at.event.path[:level]) < self.within:
            return self._now(loop, at, level)
        return self._inside(loop, at, level)

    def _now(self, loop: Loop, at: Instance, level: int) -> Poly:
        """The loop is common, and only its current iteration counts, in which the statement may not be executed."""
        if self._known_at(at, loop):
            return self.before(at, level + 1)
        return self.ctx.ite(self._iterations(loop).includes(at[loop.var]), self.before(at, level + 1), ZERO)

    def _inside(self, loop: Loop, at: Instance, level: int) -> Poly:
        """The loop is common: whole iterations before, then the part of this one."""
        ctx = self.ctx
        iterations = self._iterations(loop)
        here = at[loop.var]
        whole = _whole(self, loop)
        inside: Formula = ctx.api.literal(True)
        if iterations == Iterations(ctx, whole):
            done: Cases = ((inside, here - whole.lo),)
        elif self._known_at(at, loop):
            done = iterations.up_to(here)
        else:
            done = iterations.before(here)
            inside = iterations.includes(here)
        partial = ctx.ite(inside, self.before(at, level + 1), ZERO)
        return sum_of(ctx, times(ctx, done, self.total(level + 1))) + partial

    def _known_at(self, at: Instance, loop: Loop) -> bool:
        """The statement's guards on the loop hold where `at` is executed, since it has the same."""
        mixed = mixed_guards(self.statement)
        return all(g in at.event.guards and g not in mixed for g in self.by_loop.get(loop.var, []))


def _whole(count: _Count, loop: Loop) -> Interval:
    env: Env = count.model.sizes
    return Interval(to_poly(count.ctx, loop.lo, env), to_poly(count.ctx, loop.hi, env))


def _thread_names(event: Event) -> frozenset[str]:
    return frozenset(loop.var for loop in event.loops if loop.kind is LoopKind.THREADS)


def thread_guards(event: Event) -> list[Cond]:
    """The guards that choose threads and test nothing else."""
    names = _thread_names(event)
    return [g for g in event.guards if index_names(g) & names and index_names(g) <= names]


def mixed_guards(event: Event) -> list[Cond]:
    """The guards that choose different executions for different threads."""
    names = _thread_names(event)
    return [g for g in event.guards if index_names(g) & names and not index_names(g) <= names]


def _sequential_guards(event: Event) -> list[Cond]:
    return [g for g in event.guards if not index_names(g) & _thread_names(event)]


_UNIT = "$unit"
