"""Two nested loops counted as one: places in them that lie a fixed number of inner iterations apart.

A ring goes round through all iterations of `for tile: for step:`, across the ends of tiles. What happened three slots
ago happened three iterations of the flattened loop ago, however many tiles back that is. A loop in which there is none
counts as it is: another role may walk the same ring in two nested ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exogpu.ir.evaluate import evaluate
from exogpu.ir.linear import literal
from exogpu.ir.walk import index_names
from exogpu.smt.index import to_poly
from exogpu.smt.poly import ONE, ZERO, Poly
from exogpu.verify.instance import Instance, Model
from exogpu.verify.program import Event, LifeAction, Loop, LoopKind, Program

_ROUNDS = (LoopKind.TASK, LoopKind.SEQ)

FARTHEST = 16
"""Largest distance for which each number of rounds that lie between is a case."""


@dataclass(frozen=True, slots=True)
class Laps:
    """The loop around an event, the loops directly in it, and how many of these come before the event; `inner`: it is
    in the next."""

    outer: Loop
    loops: tuple[Loop, ...]
    before: int
    inner: bool

    @property
    def lead(self) -> int:
        """What comes before the first of the inner loops: iterations that were taken out of it."""
        return (literal(self.loops[0].lo) or 0) if self.loops else 0

    @property
    def own(self) -> tuple[Loop, ...]:
        """The loops that tell executions of the event apart."""
        return (self.outer, self.loops[self.before]) if self.inner else (self.outer,)

    @property
    def offset(self) -> int:
        """Where the event is, apart from the iterations before it: outside the inner loops, right after these."""
        if self.inner:
            return self.lead
        return self.lead - 1 if self.before else 0

    def position(self, env: Mapping[str, int]) -> int:
        """The place of an execution in the flattened loop."""
        trips = [max(0, evaluate(loop.hi, env) - evaluate(loop.lo, env)) for loop in self.loops]
        length = sum(trips) + self.lead if self.loops else 1
        place = env[self.outer.var] * length + sum(trips[: self.before]) + self.offset
        if self.inner:
            mine = self.loops[self.before]
            place += env[mine.var] - evaluate(mine.lo, env)
        return place

    def within(self, model: Model, x: Instance) -> Poly:
        """The place of a symbolic execution in its iteration of the outer loop."""
        place = self._start(model)
        if self.inner:
            mine = self.loops[self.before]
            place = place + x[mine.var] - to_poly(model.ctx, mine.lo, model.sizes)
        return place

    def length(self, model: Model) -> Poly:
        """Iterations in one of the outer loop."""
        return sum(self._trips(model), ZERO) + self.lead if self.loops else ONE

    def _start(self, model: Model) -> Poly:
        """The place of the event, or of the first iteration of its loop, in the first iteration of the outer one."""
        return sum(self._trips(model)[: self.before], ZERO) + self.offset

    def _trips(self, model: Model) -> list[Poly]:
        ctx, sizes = model.ctx, model.sizes
        return [ctx.trip(to_poly(ctx, loop.lo, sizes), to_poly(ctx, loop.hi, sizes)) for loop in self.loops]

    def after(self, model: Model, theirs: Laps, x: Instance, distance: int) -> dict[str, Poly]:
        """The iterations in which the event is at, or right after, the place `distance` after that of an execution in
        loops of its own."""
        mine, length = self.length(model), theirs.length(model)
        rounds, outer, within = multiple(mine, length), x[theirs.outer.var], theirs.within(model, x) + distance
        if rounds and abs(distance) <= FARTHEST:
            passed = model.ctx.quotient_among(within, length, range(min(distance, 0), max(distance, 0) + 1))
            begun, within = outer + passed, within - passed * length
            outer = model.ctx.floordiv(begun, rounds)
            skipped = begun - outer * rounds
            model.ctx.spell_out(skipped, length, range(rounds))
            return self._at(model, outer, within + skipped * length)
        place = outer * length + within
        outer = model.ctx.quotient(place, mine)
        return self._at(model, outer, place - outer * mine)

    def _at(self, model: Model, outer: Poly, within: Poly) -> dict[str, Poly]:
        """The iterations of its loops."""
        out = {self.outer.var: outer}
        if self.inner:
            mine = self.loops[self.before]
            out[mine.var] = within - self._start(model) + to_poly(model.ctx, mine.lo, model.sizes)
        return out


def multiple(length: Poly, unit: Poly) -> int:
    """How many times as long one length is as another, if it is whatever the sizes are; else 0."""
    if unit.constant is not None or not unit.terms:
        return 0
    times = length.terms[0][1] // unit.terms[0][1] if length.terms else 0
    return times if times > 0 and length == unit * times else 0


def laps(program: Program, event: Event) -> Laps | None:
    """The nested loops that an event belongs to, or its only one; None if there are more, or bounds are no sizes."""
    return program.once(laps, event, lambda: _laps(program, event))


def _laps(program: Program, event: Event) -> Laps | None:
    own = _sequential(event)
    if not own or event.path[0].loop is not own[0]:
        return None
    if program.sequential:  # all roles share the loops: others beside its own are rounds of other rings
        return Laps(own[0], (own[1],), 0, inner=True) if len(own) > 1 and _of_sizes(program, own[1]) else None
    if len(own) > 2:
        return None
    inside = {e.path[1].position: _sequential(e)[1] for e in program.events if _is_inside(e, own[0])}
    loops = tuple(inside[n] for n in sorted(inside))
    if not all(_of_sizes(program, loop) for loop in loops) or (len(own) == 2 and own[1] not in loops):
        return None
    return Laps(own[0], loops, sum(n < event.path[1].position for n in inside), len(own) == 2)


def _of_sizes(program: Program, loop: Loop) -> bool:
    """The bounds are over sizes alone."""
    return index_names(loop.lo) | index_names(loop.hi) <= set(program.sizes)


def _sequential(event: Event) -> list[Loop]:
    return [loop for loop in event.loops if loop.kind in _ROUNDS]


def _is_inside(event: Event, outer: Loop) -> bool:
    """In exactly one loop that is directly in the outer one, which is the event's first; loops that begin and end
    mbarriers are no rounds of these."""
    if isinstance(event.action, LifeAction):
        return False
    loops = [s.loop for s in event.path[:2] if s.loop is not None and s.loop.kind in _ROUNDS]
    return len(loops) == 2 and loops[0].var == outer.var and len(_sequential(event)) == 2
