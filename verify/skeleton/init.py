"""Initialisation of mbarriers by statements: once each, before every use, visibly to it (PTX ISA, mbarrier.init)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index
from exogpu.smt.index import to_poly
from exogpu.smt.poly import ZERO
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import FenceKind, Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.ordinal import count_all
from exogpu.verify.phases import Phases, arrives, awaits, channels, copies
from exogpu.verify.pieces import Piece
from exogpu.verify.program import Barrier, Event, ExpectAction, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.settle import any_of, obligation, settle

PUBLISHED = (Needs(), Needs(fence=FenceKind.INIT))
"""Ways to learn of an initialisation: as of every write, or behind a fence that is made for it."""


def initialisation(
    program: Program, barrier: Barrier, inits: tuple[Event, ...], slots: Mapping[int, Index]
) -> Iterator[Piece]:
    """The obligations of a barrier that statements initialise."""
    if not inits and barrier.count:
        return
    uses = [*arrives(program, barrier.name), *awaits(program, barrier.name), *copies(program, barrier.name)]
    uses += [e for e in program.events if isinstance(e.action, ExpectAction) and e.action.barrier == barrier.name]
    yield Piece(2, partial(_complete, barrier=barrier, inits=inits, uses=uses, slots=slots))
    for init in inits:
        for use in uses:
            yield Piece(4, partial(_before, barrier=barrier, init=init, use=use, slots=slots))


def _complete(
    program: Program, barrier: Barrier, inits: tuple[Event, ...], uses: list[Event], slots: Mapping[int, Index]
) -> Iterator[Obligation]:
    """Every slot of every CTA whose barrier is used is initialised, and none twice."""
    base = obligation(f"init/{barrier.name}", "mbar.reinit", f"{barrier.name} is initialised once", barrier.span)
    parts = [_slot(barrier, init, slots[init.id]) for init in inits]
    parts += [_twice(a, b, slots) for n, a in enumerate(inits) for b in inits[n:]]
    yield settle(program, base, parts)
    missing = obligation(
        f"init/{barrier.name}/all", "mbar.uninit", f"every mbarrier of {barrier.name} is initialised", barrier.span
    )
    used = {cta for e in uses for _, cta in channels(program, e)}
    for cta in sorted(used):
        mine = [(e, t) for e in inits for t, c in sorted(channels(program, e)) if c == cta]
        yield settle(program, missing, [_all_slots(barrier, use, mine, cta) for use in uses])


def _slot(barrier: Barrier, init: Event, slot: Index) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        here = model.ctx.between(0, to_poly(model.ctx, slot, xs[0].env), barrier.ring)
        return model.ctx.api.negate(here)

    return Property(f"init/{init.id}/slot", (init,), bad, None)


def _twice(first: Event, second: Event, slots: Mapping[int, Index]) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        x, y = xs
        same = model.ctx.eq(*(to_poly(model.ctx, slots[i.event.id], i.env) for i in (x, y)))
        return model.ctx.api.conj((model.different(x, y), same, model.ctx.eq(phases.own_cta(x), phases.own_cta(y))))

    return Property(f"init/{first.id}-{second.id}", (first, second), bad, None)


def _all_slots(barrier: Barrier, use: Event, inits: list[tuple[Event, int]], cta: int) -> Property:
    """As many initialisations as slots: since none is done twice, every slot has its own."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        total = sum((count_all(model, e, t) for e, t in inits), ZERO)
        return model.ctx.api.negate(model.ctx.eq(total, barrier.ring))

    return Property(f"init/{barrier.name}/{cta}/{use.id}", (use,), bad, None)


def _before(
    program: Program, barrier: Barrier, init: Event, use: Event, slots: Mapping[int, Index]
) -> Iterator[Obligation]:
    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx = model.ctx
        slot = ctx.eq(to_poly(ctx, slots[init.id], x.env), to_poly(ctx, slots[use.id], y.env))
        return ctx.api.conj((slot, ctx.eq(phases.own_cta(x), phases.cta(y))))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        same = x.first // program.threads == cta_meant(program, y)
        return same and evaluate(slots[init.id], x.env) == evaluate(slots[use.id], y.env)

    title = f"{use.label} (line {use.span.line}) comes after the initialisation"
    base = obligation(f"init/{init.id}-{use.id}", "mbar.init_unordered", title, use.span)
    goals = [Goal(base.name, init, use, condition, check, needs) for needs in PUBLISHED]
    found = any_of(program, base, [[g] for g in goals])
    if found.status is not Status.PROVED or found.queries:
        yield found
