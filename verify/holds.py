"""A phase that copies hold open: the hold is there before the phase can end.

The hold adds an arrival that is pending until its thread's copies have landed (PTX ISA, cp.async.mbarrier.arrive). It
is for the phase of the next arrive; where that is its own thread's, the phase cannot end before. Units that take turns
count the arrives of all of them, so there the next one may be of another unit, which nothing may hold back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases, arrives, own_channels, place_in_unit, same_place, signalled_by
from exogpu.verify.program import Barrier, Event, Program, TxOn


def in_time(program: Program, barrier: Barrier, hold: Event) -> Iterator[Goal]:
    """The arrives for the phase that is held, by the thread at the hold's place of whichever unit, come after it."""
    if not isinstance(hold.completion, TxOn) or not hold.completion.holds:
        return
    mine = signalled_by(program, own_channels(program, hold), arrives(program, barrier.name))
    if any(e.selection is not None for e in (hold, *mine)):
        for arrive in mine:
            yield _before(program, barrier, hold, arrive)


def _before(program: Program, barrier: Barrier, hold: Event, arrive: Event) -> Goal:
    """What counts is when the hold is executed, not when the copies land."""
    issue = replace(hold, completion=None)

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        held = replace(x, event=hold)
        alike = model.ctx.eq(place_in_unit(model, held), place_in_unit(model, y))
        return model.ctx.api.conj((alike, model.ctx.eq(phases.phase(held), phases.phase(y))))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return same_place(x, y) and u.number_at(x) == u.number_at(y)

    name = f"held/{barrier.name}/{hold.id}-{arrive.id}"
    return Goal(name, issue, arrive, condition, check, Needs(temporal=True))
