"""What a cell holds at a point of a program: the last assignment to it before that point, and the sums since.

Which iteration of which assignment was the last is guessed, by solving the equations of indices; then it is proved that
it writes the cell, comes before the point, and no other does in between. What has no such proof raises `Unresolved`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice, product

import numpy as np

from exogpu.equiv.conditions import Facts, Logic, joined, literals, negation, normal_under
from exogpu.equiv.flat import Flat, Loop, Write, before
from exogpu.equiv.symbolic import Choice, Const, Held, Number, Op, Sum, Sym, Term, stored
from exogpu.ir.buffers import reassociable
from exogpu.ir.index import Cmp, Cond, Index, Int, Var
from exogpu.ir.linear import literal
from exogpu.ir.numeric import compute_dtype
from exogpu.ir.solve import solve
from exogpu.ir.terms import both, subtract
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.value_type import computed, value_type
from exogpu.ir.walk import substitute_cond, substitute_index
from exogpu.source import Span

REPEATS = 4
"""How often a value may depend on one assignment through another; more is a recurrence that is no sum."""
GUESSES = 24
PARTS = 1_000
"""How many elements the values of one procedure may be made of, an element counted each time that it is read."""

Env = Mapping[str, Index]


class Unresolved(Exception):
    """What a cell holds is not known; the reason, and where it was read."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


@dataclass(frozen=True, slots=True)
class Point:
    """Just before an assignment at its values of variables, or the end; with what is known there, and the assignments
    that its value is needed for."""

    write: Write | None
    env: Env
    facts: Facts
    outer: tuple[Write, ...] = ()

    def within(self, write: Write, env: Env, facts: Facts) -> Point:
        """The point of an assignment whose value is needed at this one."""
        return Point(write, env, facts, self.outer if self.write is None else (*self.outer, self.write))


@dataclass
class Reach:
    """The values of one procedure's cells."""

    flat: Flat
    logic: Logic
    names: Iterator[int] = field(default_factory=count)
    parts: int = 0

    def final(self, tensor: str, cell: tuple[Index, ...], facts: Facts) -> Sym:
        """What a tensor's element holds at the end."""
        return self._held(tensor, cell, Point(None, {}, facts), self.flat.last(tensor))

    def _held(self, buffer: str, cell: tuple[Index, ...], at: Point, span: Span) -> Sym:
        self.parts += 1
        if self.parts > PARTS:
            raise Unresolved(f"the values of `{buffer}` are made of more than {PARTS} parts", span)
        if at.write is not None and at.outer.count(at.write) >= REPEATS:
            raise Unresolved(f"the values of `{buffer}` are a recurrence that is no sum", span)
        writes = [w for w in self.flat.writes if w.stmt.buffer == buffer]
        plain = [w for w in writes if w.folds is None]
        return self._latest(
            _Place(buffer, cell, at, span, tuple(plain), tuple(writes)), list(reversed(plain)), at.facts
        )

    # -- the last assignment -------------------------------------------------------------------------------------

    def _latest(self, place: _Place, left: Sequence[Write], facts: Facts) -> Sym:
        """The value if the last plain assignment is one of those left, or none."""
        for n, write in enumerate(left):
            for env in islice(self._guesses(place, write, facts), GUESSES):
                conds = self.logic.open_ones(facts, self._hits(place, write, env))
                known = (*facts, *conds)
                if (conds and self.logic.impossible(known)) or not self._is_last(place, write, env, known):
                    continue
                value = self._since(place, write, env, known)
                others = joined(facts, (negation(both(conds)),))
                if not conds or self.logic.impossible(others):
                    return value
                return Choice(both(conds), value, self._latest(place, left[n:], others))
        for write in place.plain:
            _, env = self._another(place, write)
            if not self.logic.impossible(joined(facts, self._hits(place, write, env))):
                raise Unresolved(f"which assignment to `{place.buffer}` comes last is not clear", place.span)
        return self._since(place, None, {}, facts)

    def _hits(self, place: _Place, write: Write, env: Env) -> Facts:
        """An assignment at these values writes the cell, before the point."""
        cells = (Cmp("==", i, c) for i, c in zip(write.cell(env), place.cell, strict=True))
        earlier = before(write, env, place.at.write, place.at.env)
        return (*write.happens(env), *cells, *literals(earlier))

    def _is_last(self, place: _Place, write: Write, env: Env, facts: Facts) -> bool:
        """No other plain assignment to the cell comes between this one and the point."""
        for other in place.plain:
            _, another = self._another(place, other)
            hits = self._hits(place, other, another)
            if not self.logic.impossible(joined(facts, (*hits, before(write, env, other, another)))):
                return False
        return True

    def _shared(self, place: _Place, write: Write) -> dict[str, Index]:
        """The variables around the allocation: both sides mean the same execution of it."""
        scope = self.flat.scopes.get(place.buffer, frozenset())
        return {loop.var: place.at.env[loop.var] for loop in write.loops if loop.var in scope}

    def _another(self, place: _Place, write: Write) -> tuple[tuple[Loop, ...], dict[str, Index]]:
        """Any execution of an assignment to the same buffer: the loops that it is free in, and its variables."""
        env = self._shared(place, write)
        free = tuple(loop for loop in write.loops if loop.var not in env)
        return free, env | {loop.var: Var(f"{loop.var}'{next(self.names)}") for loop in free}

    def _guesses(self, place: _Place, write: Write, facts: Facts) -> Iterator[dict[str, Index]]:
        """Values of an assignment's variables at which it may be the last to write the cell."""
        known = self._shared(place, write)
        free = [loop for loop in write.loops if loop.var not in known]
        pinned = list(_pinned(write, free))
        exact = [(i, c) for i, c in zip(write.stmt.index, place.cell, strict=True)]
        for some in ([*pinned, *exact], exact) if pinned else (exact,):
            found = known | _solved(some, free, known)
            open_loops = [loop for loop in free if loop.var not in found]
            for values in product(*(self._ends(loop, place.at) for loop in open_loops)):
                env = dict(found)
                for loop, value in zip(open_loops, values, strict=True):
                    env[loop.var] = substitute_index(value, env)
                normal = normal_under(facts)
                yield {name: normal.index(value) for name, value in _closed(env, free).items()}

    def _ends(self, loop: Loop, at: Point) -> Iterator[Index]:
        """Iterations that may be the last of a loop before the point: this one, the one before, the last of all."""
        if loop.var in at.env:
            yield at.env[loop.var]
            yield subtract(at.env[loop.var], Int(1))
        yield subtract(loop.hi, Int(1))
        yield loop.lo

    # -- sums ----------------------------------------------------------------------------------------------------

    def _since(self, place: _Place, write: Write | None, env: Env, facts: Facts) -> Sym:
        """The value at the point if the last plain assignment is this one (None: what was there at the start)."""
        dtype = self.flat.types[place.buffer]
        start = self._start(place, write, env, facts)
        sums = [w for w in place.writes if w.folds is not None]
        terms = [(w, t) for w in sums for t in self._terms(place, w, write, env, facts)]
        if not terms:
            return start
        kinds = {self._kind(w) for w, _ in terms}
        fold = terms[0][0].folds or "+"
        match terms:
            case [(_, Term((), guards, value))]:
                (kind,) = kinds
                once = stored(dtype, Op(fold, kind, (stored(kind, start), value)))
                return once if not guards else Choice(both(guards), once, start)
        if kinds != {computed(dtype)}:
            raise Unresolved(f"sums in {dtype.value} of values of a wider type are rounded at every step", place.span)
        if reassociable(dtype, False):
            return stored(dtype, Sum(computed(dtype), start, tuple(t for _, t in terms), fold))
        if len(terms) > 1:
            raise Unresolved(f"several sums in {dtype.value} are rounded at every step", place.span)
        return Sum(dtype, start, (terms[0][1],))

    def _start(self, place: _Place, write: Write | None, env: Env, facts: Facts) -> Sym:
        """What the last plain assignment left, or what was there at the start."""
        dtype = self.flat.types[place.buffer]
        if write is not None:
            at = place.at.within(write, env, facts)
            return stored(dtype, self._widened(write.value, at, self._kind(write)))
        if place.buffer in self.flat.tensors:
            return Held(place.buffer, place.cell, dtype)
        raise Unresolved(f"`{place.buffer}` is read where nothing is known to have been written to it", place.span)

    def _kind(self, write: Write) -> Scalar:
        """The type that an assignment is computed in."""
        stmt = write.stmt
        whole = Arith("+", Read(stmt.buffer, stmt.index), stmt.rhs) if stmt.op == "+=" else stmt.rhs
        return value_type(whole, self.flat.types) or computed(self.flat.types[stmt.buffer])

    def _terms(self, place: _Place, added: Write, since: Write | None, env: Env, facts: Facts) -> Iterator[Term]:
        """What a `+=` adds to the cell between an assignment and the point."""
        free, any_env = self._another(place, added)
        hits = joined(facts, self._added(place, added, any_env, since, env))
        if self.logic.impossible(hits):
            return
        known = self._shared(place, added)
        once = {loop.var: loop.lo for loop in free if literal(subtract(loop.hi, loop.lo)) == 1}
        found = once | _solved(zip(added.stmt.index, place.cell, strict=True), free, known)
        exact = {n: v for n, v in found.items() if self.logic.implied(hits, _at(n, v, any_env))}
        named = {loop.var: f"{loop.var}~{next(self.names)}" for loop in free if loop.var not in exact}
        normal = normal_under(facts)
        at = {
            n: normal.index(v) for n, v in _closed(known | exact | {v: Var(n) for v, n in named.items()}, free).items()
        }
        ranges = tuple(
            (named[loop.var], substitute_index(loop.lo, at), substitute_index(loop.hi, at))
            for loop in free
            if loop.var in named
        )
        inside = joined(facts, (c for loop in free if loop.var in named for c in loop.inside(at)))
        guards = self.logic.open_ones(inside, self._added(place, added, at, since, env))
        value = self._widened(added.value, place.at.within(added, at, (*inside, *guards)), self._kind(added))
        yield Term(ranges, guards, value)

    def _added(self, place: _Place, added: Write, at: Env, since: Write | None, env: Env) -> Facts:
        """A `+=` adds to the cell, after an assignment and before the point."""
        after = () if since is None else literals(before(since, env, added, at))
        return (*self._hits(place, added, at), *after)

    # -- right-hand sides ----------------------------------------------------------------------------------------

    def _widened(self, value: Value, at: Point, kind: Scalar) -> Sym:
        """A value as an operand of an operation in this type, which it adapts to if it has none of its own."""
        return stored(kind, self._value(value, at, kind))

    def _value(self, value: Value, at: Point, expected: Scalar) -> Sym:
        kind = value_type(value, self.flat.types) or expected
        match value:
            case Read(buffer, index, span):
                if not index and buffer not in self.flat.scopes and buffer not in self.flat.tensors:
                    return Held(buffer, (), self.flat.types[buffer])
                normal = normal_under(at.facts)
                cell = tuple(normal.index(substitute_index(i, at.env)) for i in index)
                return self._held(buffer, cell, at, span)
            case Num(number):
                return Const(float(np.asarray(number, compute_dtype(kind))), kind)
            case FromIndex(index):
                return Number(substitute_index(index, at.env))
            case Cast(to, arg):
                return stored(to, self._widened(arg, at, value_type(arg, self.flat.types) or Scalar.F64))
            case Select(cond, then, orelse):
                return self._select(substitute_cond(cond, at.env), then, orelse, at, kind)
            case Neg(arg):
                return Op("neg", kind, (self._widened(arg, at, kind),))
            case Arith(op, left, right):
                return Op(op, kind, (self._widened(left, at, kind), self._widened(right, at, kind)))
            case Call(fn, args):
                return Op(fn, kind, tuple(self._widened(a, at, kind) for a in args))

    def _select(self, cond: Cond, then: Value, orelse: Value, at: Point, kind: Scalar) -> Sym:
        yes = self.logic.open_ones(at.facts, literals(cond))
        if not yes:
            return self._widened(then, at, kind)
        if self.logic.implied(at.facts, negation(cond)):
            return self._widened(orelse, at, kind)
        one, other = (replace(at, facts=joined(at.facts, (c,))) for c in (both(yes), negation(both(yes))))
        return Choice(both(yes), self._widened(then, one, kind), self._widened(orelse, other, kind))


@dataclass(frozen=True, slots=True)
class _Place:
    """A cell that is read at a point; the plain assignments to its buffer, and all."""

    buffer: str
    cell: tuple[Index, ...]
    at: Point
    span: Span
    plain: tuple[Write, ...]
    writes: tuple[Write, ...]


def _at(name: str, value: Index, env: Env) -> Cond:
    """A variable has a value that others may be part of."""
    return Cmp("==", env[name], substitute_index(value, env))


def _pinned(write: Write, free: list[Loop]) -> Iterator[tuple[Index, Index]]:
    """Equations that the conditions around an assignment suggest: `v <= n` for a loop that starts at n."""
    for loop in free:
        for guard in write.guards:
            match guard:
                case Cmp("<=" | "==", Var(name), bound) if name == loop.var:
                    yield Var(name), bound
                case Cmp("<", Var(name), bound) if name == loop.var:
                    yield Var(name), subtract(bound, Int(1))
                case _:
                    pass


def _closed(env: Mapping[str, Index], free: list[Loop] | tuple[Loop, ...]) -> dict[str, Index]:
    """Values in which none of the free variables occurs: they may name each other."""
    out = dict(env)
    for _ in free:
        out = {
            name: substitute_index(value, {n: v for n, v in out.items() if n != name}) for name, value in out.items()
        }
    return out


def _solved(equations: Iterable[tuple[Index, Index]], free: Sequence[Loop], known: Env) -> dict[str, Index]:
    """Values of some of the free variables, such that the equations may hold with the known ones."""
    return solve(((substitute_index(e, known), target) for e, target in equations), {loop.var for loop in free})
