"""mbarriers that end (PTX ISA, mbarrier.inval): what belongs to which life, and that it is over when that life ends.

All lives of a barrier are one sequence of phases. A life is an iteration of the outermost loops (`rounds`), or if every
life has `each` phases, phase p is of life p // each. One thread of a CTA begins its lives and one ends them, slot by
slot; so the n-th execution is for the slot n modulo the ring, in the life n // ring. A barrier that begins only once
has one life, of as many phases as it may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index
from exogpu.smt.index import to_poly
from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import FenceKind, Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.ordinal import count_all
from exogpu.verify.performed import performed
from exogpu.verify.phases import Phases, arrives, awaits, channels, copies
from exogpu.verify.pieces import Piece
from exogpu.verify.program import ArriveAction, AwaitAction, Barrier, Event, ExpectAction, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.flows import Flow, totals
from exogpu.verify.skeleton.rounds import Rounds, abreast, life_at, life_of, starts
from exogpu.verify.skeleton.settle import any_of, obligation, settle

PUBLISHED = (Needs(), Needs(fence=FenceKind.INIT))
"""Ways to learn of an initialisation: as of every write, or behind a fence that is made for it."""


@dataclass(frozen=True, slots=True)
class Lives:
    """What begins and ends the lives of a barrier, both numbered, whose slots are these `elements` of an array; the
    first life of one that is `declared` with a count begins before the roles do. A wait states phases that are `lags`
    behind the first of its life; those that are `waiting` make up phases with their waits."""

    barrier: Barrier
    elements: range
    inits: tuple[Event, ...]
    invals: tuple[Event, ...]
    declared: bool
    each: int | None
    slots: Mapping[int, Index]
    parities: Mapping[int, Index]
    lags: Mapping[int, int]
    rounds: Rounds | None = None
    waiting: tuple[Flow, ...] = ()

    def renewed(self, program: Program) -> Lives:
        """The same with the events as they are in a program."""
        inits, invals = (tuple(program.events[e.id] for e in found) for found in (self.inits, self.invals))
        return replace(self, inits=inits, invals=invals)

    @property
    def several(self) -> bool:
        """There may be more than one life."""
        return self.rounds is not None or self.each is not None

    @property
    def before(self) -> int:
        """How many slots have begun before the roles do."""
        return self.barrier.ring if self.declared else 0

    def slot(self, x: Instance, model: Model) -> Poly:
        """The slot that an instance means."""
        return to_poly(model.ctx, self.slots[x.event.id], x.env)

    def life(self, x: Instance, phases: Phases) -> Poly:
        """The life that a statement belongs to, begins or ends."""
        if self.rounds is not None:
            return life_of(self.rounds, x, phases.model) + self._ahead(x.event)
        if x.event in (*self.inits, *self.invals):
            return phases.model.ctx.floordiv(phases.phase(x), self.barrier.ring)
        if self.each is None:
            return ZERO
        return phases.model.ctx.floordiv(phases.phase(x) + self.lags.get(x.event.id, 0), self.each)

    def number(self, x: Instance, phases: Phases) -> Poly:
        """The number of what begins and ends this life in this slot."""
        return self.life(x, phases) * self.barrier.ring + self.slot(x, phases.model)

    def _ahead(self, event: Event) -> int:
        """The first life begins before the loop that begins the others."""
        return int(self.declared and event in self.inits)

    def number_at(self, u: Unrolling, x: Occurrence) -> int:
        """The same at concrete sizes."""
        return self.life_at(u, x) * self.barrier.ring + evaluate(self.slots[x.event.id], x.env)

    def life_at(self, u: Unrolling, x: Occurrence) -> int:
        """The life at concrete sizes."""
        if self.rounds is not None:
            return life_at(self.rounds, x) + self._ahead(x.event)
        if x.event in (*self.inits, *self.invals):
            return u.number_at(x) // self.barrier.ring
        return 0 if self.each is None else (u.number_at(x) + self.lags.get(x.event.id, 0)) // self.each


def life_pieces(program: Program, lives: Lives, flows: Sequence[Flow]) -> Iterator[Piece]:
    """The obligations of a barrier that ends."""
    barrier = lives.barrier
    yield Piece(4, partial(_by_turns, lives=lives))
    for use in uses(program, barrier):
        yield Piece(6, partial(_alive, lives=lives, use=use))
    for wait in awaits(program, barrier.name) if lives.several else ():
        yield Piece(2, partial(_stated, lives=lives, wait=wait, flows=tuple(flows)))
    if lives.several:
        yield Piece(3, partial(_abreast if lives.rounds is not None else _finished, lives=lives, flows=tuple(flows)))


def uses(program: Program, barrier: Barrier) -> Iterator[Event]:
    yield from (*arrives(program, barrier.name), *awaits(program, barrier.name), *copies(program, barrier.name))
    for event in program.events:
        if isinstance(event.action, ExpectAction) and event.action.barrier == barrier.name:
            yield event


# -- lives one after the other -----------------------------------------------------------------------------------------


def _by_turns(program: Program, lives: Lives) -> Iterator[Obligation]:
    """A life ends before the next in its slot begins, and begins before it ends."""
    barrier, ring = lives.barrier, lives.barrier.ring
    title = f"each mbarrier of {barrier.name} ends before it is initialised again"
    base = obligation(f"lives/{barrier.name}", "mbar.reinit", title, barrier.span)
    parts: list[Goal | Property] = [_in_slots(lives, e) for e in (*lives.inits, *lives.invals)]
    for init in lives.inits:
        parts.append(_once(lives, init) if not lives.several else _enough(program, lives, init, lives.invals, -ring))
        parts += (_next(lives, inval, init, ring) for inval in lives.invals)
    for inval in lives.invals:
        parts.append(_enough(program, lives, inval, lives.inits, -lives.before))
        parts += (_next(lives, init, inval, 0) for init in lives.inits)
    yield settle(program, base, parts)


def _in_slots(lives: Lives, event: Event) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        here = model.ctx.between(0, lives.slot(xs[0], model), lives.barrier.ring)
        turn = model.ctx.eq(phases.phase(xs[0]), lives.number(xs[0], phases))
        return model.ctx.api.negate(model.ctx.api.conj((here, turn)))

    return Property(f"lives/{event.id}/slot", (event,), bad, None)


def _once(lives: Lives, init: Event) -> Property:
    """No slot begins a second life."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.ctx.ge(phases.phase(xs[0]), lives.barrier.ring)

    return Property(f"lives/{init.id}/once", (init,), bad, None)


def _enough(program: Program, lives: Lives, event: Event, others: Sequence[Event], offset: int) -> Property:
    """The other end of an event's life, or the end of the life before, is executed; of `others`, that is the one with
    the event's number, `offset` further on."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx, wanted = model.ctx, phases.phase(xs[0]) + offset
        ways = [
            ctx.api.conj((ctx.eq(phases.own_cta(xs[0]), cta), ctx.le(total, wanted)))
            for cta, total in in_ctas(model, others, _ctas(program, event))
        ]
        return ctx.api.conj((ctx.ge(wanted, 0), ctx.api.disj(ways)))

    return Property(f"lives/{event.id}/enough", (event,), bad, None)


def in_ctas(model: Model, events: Sequence[Event], ctas: Sequence[int]) -> Iterator[tuple[int, Poly]]:
    """All executions of some events in each CTA."""
    for cta in ctas:
        mine = [(e, t) for e in events for t, c in channels(model.program, e) if c == cta]
        yield cta, sum((count_all(model, e, t) for e, t in mine), ZERO)


def _ctas(program: Program, event: Event) -> list[int]:
    return sorted({cta for _, cta in channels(program, event)})


def _next(lives: Lives, earlier: Event, later: Event, behind: int) -> Goal:
    """What begins or ends a life comes before what ends or begins one, `behind` numbers later."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx = model.ctx
        here = ctx.eq(phases.own_cta(x), phases.own_cta(y))
        return ctx.api.conj((here, ctx.eq(lives.number(x, phases) + behind, lives.number(y, phases))))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return _same_cta(u, x, y) and lives.number_at(u, x) + behind == lives.number_at(u, y)

    return Goal(f"lives/{earlier.id}-{later.id}", earlier, later, condition, check, Needs())


def _same_cta(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
    return cta_meant(u.program, x) == cta_meant(u.program, y)


# -- uses --------------------------------------------------------------------------------------------------------------


def _alive(program: Program, lives: Lives, use: Event) -> Iterator[Obligation]:
    """A use comes after the beginning of its life and is over at the end."""
    title = f"{use.label} (line {use.span.line}) comes while its mbarrier is initialised"
    base = obligation(f"alive/{lives.barrier.name}/{use.id}", "mbar.uninit", title, use.span)
    found = settle(program, base, [_begun(program, lives, use), *(_over(lives, use, v) for v in lives.invals)])
    for init in lives.inits:
        if found.status is Status.PROVED:
            shown = any_of(program, base, [*_learning(lives, init, use)])
            found = found if shown.status is Status.PROVED else shown
    yield found


def _learning(lives: Lives, init: Event, use: Event) -> Iterator[list[Goal | Property]]:
    """Ways to learn of a beginning. The first waits of a later life, which pass at once, count as waits for the life
    before; so its beginning has to tell them of all that was before it, which a fence for mbarriers does not."""
    for needs in PUBLISHED:
        if not lives.several or needs.fence is None:
            yield [_known(lives, init, use, needs)]
        else:
            yield [_known(lives, init, use, needs, first=True), _known(lives, init, use, Needs(), first=False)]


def _begun(program: Program, lives: Lives, use: Event) -> Property:
    """The life of a use begins at all."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx, wanted = model.ctx, lives.number(xs[0], phases) - lives.before
        outside = ctx.api.negate(ctx.between(0, lives.slot(xs[0], model), lives.barrier.ring))
        ways = [
            ctx.api.conj((ctx.eq(phases.cta(xs[0]), cta), ctx.ge(wanted, 0), ctx.le(total, wanted)))
            for cta, total in in_ctas(model, lives.inits, _ctas(program, use))
        ]
        return ctx.api.disj((outside, ctx.lt(lives.life(xs[0], phases), 0), *ways))

    return Property(f"alive/{use.id}/begun", (use,), bad, None)


def _known(lives: Lives, init: Event, use: Event, needs: Needs, *, first: bool | None = None) -> Goal:
    """In every life, in the `first` one, or in all others."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx = model.ctx
        parts = [ctx.eq(phases.own_cta(x), phases.cta(y)), ctx.eq(lives.number(x, phases), lives.number(y, phases))]
        if first is not None:
            at_first = ctx.eq(lives.life(x, phases), 0)
            parts.append(at_first if first else ctx.api.negate(at_first))
        return ctx.api.conj(parts)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        here = first is None or first == (lives.life_at(u, x) == 0)
        return here and _same_cta(u, x, y) and lives.number_at(u, x) == lives.number_at(u, y)

    part = "" if first is None else "/first" if first else "/later"
    return Goal(f"alive/{init.id}-{use.id}{part}", init, use, condition, check, needs)


def _over(lives: Lives, use: Event, inval: Event) -> Goal:
    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        here = model.ctx.eq(phases.cta(x), phases.own_cta(y))
        return model.ctx.api.conj((here, model.ctx.eq(lives.number(x, phases), lives.number(y, phases))))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return _same_cta(u, x, y) and lives.number_at(u, x) == lives.number_at(u, y)

    needs, also = performed(use)
    if isinstance(use.action, AwaitAction) or use.completion is not None:
        needs, also = Needs(), None
    elif any(lives.lags.values()) and isinstance(use.action, ArriveAction) and not use.action.relaxed:
        needs, also = Needs(), None  # waits of the next life are taken to hear of it (`_learning`)
    return Goal(f"alive/{use.id}-{inval.id}", use, inval, condition, check, needs, also=also)


def _finished(program: Program, lives: Lives, flows: Sequence[Flow]) -> Iterator[Obligation]:
    """A life ends when its last phase in the slot is over: everybody who signals has gone as far."""
    barrier, each = lives.barrier, lives.each
    assert each is not None
    title = f"every life of {barrier.name} has all its phases"
    base = obligation(f"lives/{barrier.name}/all", "mbar.reinit", title, barrier.span)

    def short(inval: Event, flow: Flow) -> Property:
        def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
            ctx, number = model.ctx, phases.phase(xs[0])
            last = ctx.floordiv(number, barrier.ring) * each + each - barrier.ring + ctx.mod(number, barrier.ring)
            here = ctx.api.disj(ctx.eq(phases.own_cta(xs[0]), cta) for cta in sorted(flow.ctas))
            less = (ctx.lt(total, (last + 1) * flow.rate) for total in totals(model, flow))
            return ctx.api.conj((here, ctx.api.disj(less)))

        return Property(f"lives/{inval.id}/{flow.statements[0].id}", (inval,), bad, None)

    yield settle(program, base, [short(v, f) for v in lives.invals for f in flows if f.numbers is None])


def _abreast(program: Program, lives: Lives, flows: Sequence[Flow]) -> Iterator[Obligation]:
    """A life has the phases that were not over before."""
    title = f"everybody has come equally far when a life of {lives.barrier.name} begins"
    base = obligation(f"lives/{lives.barrier.name}/start", "mbar.reinit", title, lives.barrier.span)
    assert lives.rounds is not None
    counted = [*(f for f in flows if f.numbers is None), *lives.waiting]
    parts = [p for init in lives.inits for p in abreast(lives.rounds, lives.barrier.ring, init, counted)]
    yield settle(program, base, parts)


def _stated(program: Program, lives: Lives, wait: Event, flows: Sequence[Flow]) -> Iterator[Obligation]:
    """The parity that a wait tests is that of its phase, counted from the beginning of its life."""
    title = f"the parity at line {wait.span.line} is that of a phase of one life of {lives.barrier.name}"
    base = obligation(f"stated/{lives.barrier.name}/{wait.id}", "mbar.parity_alias", title, wait.span)
    ring = lives.barrier.ring

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        inside = phases.phase(x) - _first(lives, flows, x, phases)
        tested = to_poly(ctx, lives.parities[wait.id], x.env)
        turn = ctx.eq(ctx.mod(inside, ring), lives.slot(x, model))
        parity = ctx.eq(ctx.mod(tested - ctx.floordiv(inside, ring), 2), 0)
        return ctx.api.negate(ctx.api.conj((turn, parity, ctx.ge(inside, -ring))))

    yield settle(program, base, [Property(base.name, (wait,), bad, None)])


def _first(lives: Lives, flows: Sequence[Flow], x: Instance, phases: Phases) -> Poly:
    """The first phase of a use's life."""
    life = lives.life(x, phases)
    if lives.rounds is None:
        return life * (lives.each or 0)
    leading = next(f for f in flows if f.numbers is None)
    return phases.model.ctx.floordiv(starts(phases.model, lives.rounds, leading, life)[0], leading.rate)
