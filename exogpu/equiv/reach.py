"""What a cell holds at a point of a program: the last assignment to it before that point, and the sums since.

Which iteration of which assignment was the last is guessed, by solving the equations of indices; then it is proved that
it writes the cell, comes before the point, and no other does in between. What has no such proof raises `Unresolved`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice, product

from exogpu.equiv.conditions import Facts, conjuncts, implied, impossible, negation, normal_under, normalised, open_ones
from exogpu.equiv.flat import Flat, Loop, Write, before
from exogpu.equiv.solve import solve
from exogpu.equiv.symbolic import Choice, Const, Held, Number, Op, Sum, Sym, Term, stored
from exogpu.ir.index import Cmp, Cond, Index, Int, Var
from exogpu.ir.interp.plan import reassociable
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.value_type import computed, value_type
from exogpu.ir.walk import substitute_cond, substitute_index
from exogpu.schedule.terms import both, subtract
from exogpu.source import Span

DEEPEST = 60
"""Most reads in one another; more are a recurrence that is no sum."""
GUESSES = 24

Env = Mapping[str, Index]


class Unresolved(Exception):
    """What a cell holds is not known; the reason, and where it was read."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


@dataclass(frozen=True, slots=True)
class Point:
    """Just before an assignment at its values of variables, or the end; with what is known there."""

    write: Write | None
    env: Env
    facts: Facts
    depth: int = 0


@dataclass
class Reach:
    """The values of one procedure's cells."""

    flat: Flat
    names: Iterator[int] = field(default_factory=count)

    def final(self, tensor: str, cell: tuple[Index, ...], facts: Facts) -> Sym:
        """What a tensor's element holds at the end."""
        return self._held(tensor, cell, Point(None, {}, facts), self.flat.proc.span)

    def _held(self, buffer: str, cell: tuple[Index, ...], at: Point, span: Span) -> Sym:
        if at.depth > DEEPEST:
            raise Unresolved(f"the values of `{buffer}` are a recurrence that is no sum", span)
        writes = [w for w in self.flat.writes if w.stmt.buffer == buffer]
        plain = [w for w in writes if w.stmt.op == "="]
        return self._latest(
            _Place(buffer, cell, at, span, tuple(plain), tuple(writes)), list(reversed(plain)), at.facts
        )

    # -- the last assignment -------------------------------------------------------------------------------------

    def _latest(self, place: _Place, left: list[Write], facts: Facts) -> Sym:
        """The value if the last plain assignment is one of those left, or none."""
        for n, write in enumerate(left):
            for env in islice(self._guesses(place, write, facts), GUESSES):
                conds = open_ones(facts, self._hits(place, write, env))
                known = (*facts, *conds)
                if impossible(known) or not self._is_last(place, write, env, known):
                    continue
                value = self._since(place, write, env, known)
                if not conds:
                    return value
                rest = [*left[n:]]
                others = (*facts, negation(both(conds)))
                if impossible(others):
                    return value
                return Choice(both(conds), value, self._latest(place, rest, others))
        for write in place.plain:
            _, env = self._another(place, write)
            if not impossible((*facts, *normalised(facts, self._hits(place, write, env)))):
                raise Unresolved(f"which assignment to `{place.buffer}` comes last is not clear", place.span)
        return self._since(place, None, {}, facts)

    def _hits(self, place: _Place, write: Write, env: Env) -> Facts:
        """An assignment at these values writes the cell, before the point."""
        cells = (Cmp("==", i, c) for i, c in zip(write.cell(env), place.cell, strict=True))
        earlier = before(write, env, place.at.write, place.at.env)
        return (*write.happens(env), *cells, *conjuncts(earlier))

    def _is_last(self, place: _Place, write: Write, env: Env, facts: Facts) -> bool:
        """No other plain assignment to the cell comes between this one and the point."""
        for other in place.plain:
            _, another = self._another(place, other)
            hits = self._hits(place, other, another)
            if not impossible((*facts, *normalised(facts, (*hits, before(write, env, other, another))))):
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
        for some in (exact, [*pinned, *exact]):
            found = known | solve(some, free, known)
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
        at = place.at
        if write is not None:
            start = stored(dtype, self._value(write.stmt.rhs, Point(write, env, facts, at.depth + 1), dtype))
        elif place.buffer in self.flat.tensors:
            start = Held(place.buffer, place.cell, dtype)
        else:
            start = None
        terms = [t for w in place.writes if w.stmt.op == "+=" for t in self._terms(place, w, write, env, facts)]
        if start is None:
            raise Unresolved(f"`{place.buffer}` is read where nothing is known to have been written to it", place.span)
        if not terms:
            return start
        if not reassociable(dtype, False):
            raise Unresolved(f"sums in {dtype.value} are rounded at every step", place.span)
        return Sum(computed(dtype), start, tuple(terms))

    def _terms(self, place: _Place, added: Write, since: Write | None, env: Env, facts: Facts) -> Iterator[Term]:
        """What a `+=` adds to the cell between an assignment and the point."""
        free, any_env = self._another(place, added)
        hits = self._hits(place, added, any_env)
        if since is not None:
            hits += conjuncts(before(since, env, added, any_env))
        hits = normalised(facts, hits)
        if impossible((*facts, *hits)):
            return
        known = self._shared(place, added)
        found = solve(list(zip(added.stmt.index, place.cell, strict=True)), free, known)
        exact = {
            n: v
            for n, v in found.items()
            if implied((*facts, *hits), Cmp("==", any_env[n], substitute_index(v, any_env)))
        }
        named = {loop.var: f"{loop.var}~{next(self.names)}" for loop in free if loop.var not in exact}
        at = _closed(known | exact | {v: Var(n) for v, n in named.items()}, free)
        ranges = tuple(
            (named[loop.var], substitute_index(loop.lo, at), substitute_index(loop.hi, at))
            for loop in free
            if loop.var in named
        )
        inside = tuple(c for loop in free if loop.var in named for c in loop.inside(at))
        conds = self._hits(place, added, at)
        if since is not None:
            conds += conjuncts(before(since, env, added, at))
        guards = open_ones((*facts, *inside), conds)
        here = (*facts, *inside, *guards)
        dtype = self.flat.types[place.buffer]
        value = stored(computed(dtype), self._value(added.stmt.rhs, Point(added, at, here, place.at.depth + 1), dtype))
        yield Term(ranges, guards, value)

    # -- right-hand sides ----------------------------------------------------------------------------------------

    def _value(self, value: Value, at: Point, target: Scalar) -> Sym:
        kind = value_type(value, self.flat.types) or computed(target)
        match value:
            case Read(buffer, index, span):
                if not index and buffer not in self.flat.scopes and buffer not in self.flat.tensors:
                    return Held(buffer, (), self.flat.types[buffer])
                cell = tuple(substitute_index(i, at.env) for i in index)
                return self._held(buffer, cell, at, span)
            case Num(number):
                return stored(kind, Const(number))
            case FromIndex(index):
                return Number(substitute_index(index, at.env))
            case Cast(to, arg):
                return stored(to, self._value(arg, at, value_type(arg, self.flat.types) or Scalar.F64))
            case Select(cond, then, orelse):
                return self._select(substitute_cond(cond, at.env), then, orelse, at, kind)
            case Neg(arg):
                return Op("neg", kind, (self._value(arg, at, kind),))
            case Arith(op, left, right):
                return Op(op, kind, (self._value(left, at, kind), self._value(right, at, kind)))
            case Call(fn, args):
                return Op(fn, kind, tuple(self._value(a, at, kind) for a in args))

    def _select(self, cond: Cond, then: Value, orelse: Value, at: Point, kind: Scalar) -> Sym:
        yes, no = open_ones(at.facts, conjuncts(cond)), negation(cond)
        if not yes:
            return self._value(then, at, kind)
        if implied(at.facts, no):
            return self._value(orelse, at, kind)
        one, other = (Point(at.write, at.env, (*at.facts, c), at.depth) for c in (both(yes), negation(both(yes))))
        return Choice(both(yes), self._value(then, one, kind), self._value(orelse, other, kind))


@dataclass(frozen=True, slots=True)
class _Place:
    """A cell that is read at a point; the plain assignments to its buffer, and all."""

    buffer: str
    cell: tuple[Index, ...]
    at: Point
    span: Span
    plain: tuple[Write, ...]
    writes: tuple[Write, ...]


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
