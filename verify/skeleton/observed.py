"""Every phase of an mbarrier is observed by some wait before the next one in its slot is over (PTX ISA, mbarrier phase
completion).

That a wait for a phase returns before is shown for each wait anyway, so what is left is that there is one: some thread
waits for one phase after the other, and goes as far; or several do, in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exogpu.smt.poly import ZERO
from exogpu.smt.terms import Formula
from exogpu.verify.instance import Instance, Model
from exogpu.verify.phases import Phases, awaits, channels
from exogpu.verify.program import Barrier, Event, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.flows import Flow, grouped
from exogpu.verify.skeleton.settle import any_of, obligation
from exogpu.verify.skeleton.teams import Member, each_once, together

Waits = Member
"""A thread and some of its waits."""


def observed(program: Program, barrier: Barrier, flows: Sequence[Flow]) -> Iterator[Obligation]:
    """For each CTA, since every phase needs the arrivals of one flow, that what those follow has been waited for."""
    title = f"every phase of {barrier.name} is observed before the next in its slot is over"
    base = obligation(f"observed/{barrier.name}", "mbar.unobserved_phase", title, barrier.span)
    for cta in sorted(frozenset[int]().union(*(f.ctas for f in flows))):
        flow = next((f for f in flows if f.arrivals and cta in f.ctas), None)
        if flow is None:
            continue
        waits = list(_waits(program, barrier, cta))
        starts = (0, *range(-barrier.ring, 0))
        ways = [_way(barrier, flow, cta, w, start) for w in waits for start in starts]
        team = _team(program, barrier, cta)
        if len(team) > 1:
            ways.append([*each_once(team, cta), *(_far_enough(barrier, s, cta, team, 0) for s in flow.statements)])
        found = any_of(program, base, ways)
        if found.status is not Status.PROVED:
            yield found
            return
    yield base


def _waits(program: Program, barrier: Barrier, cta: int) -> Iterator[Waits]:
    """Single statements, all of one thread, and none."""
    for wait in awaits(program, barrier.name):
        mine = [t for t, c in channels(program, wait) if c == cta]
        if mine:
            yield min(mine), (wait,)
    for through, waits in grouped(program, awaits(program, barrier.name)):
        mine = [t for t, c in through if c == cta]
        if mine and len(waits) > 1:
            yield min(mine), waits
    yield 0, ()  # enough for barriers that have one phase


def _team(program: Program, barrier: Barrier, cta: int) -> list[Waits]:
    """One thread of each sort with all its waits: they may take turns."""
    found = grouped(program, awaits(program, barrier.name))
    return [(min(t for t, c in through if c == cta), w) for through, w in found if any(c == cta for _, c in through)]


def _way(barrier: Barrier, flow: Flow, cta: int, waits: Waits, start: int) -> list[Property]:
    far = [_far_enough(barrier, s, cta, [waits], start) for s in flow.statements]
    return [*(_in_turn(waits, w, start) for w in waits[1]), *far]


def _in_turn(waits: Waits, wait: Event, start: int) -> Property:
    """The thread's waits are for phase `start` and then for the next one each; negative phases are none."""
    thread, group = waits

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        before = sum((phases.count(x, s) for s in group), ZERO)
        mine = ctx.eq(x.threads.first, thread)
        return ctx.api.conj((mine, ctx.api.negate(ctx.eq(phases.phase(x), before + start))))

    return Property(f"observed/{wait.id}", (wait,), bad, None)


def _far_enough(barrier: Barrier, signal: Event, cta: int, waits: Sequence[Waits], start: int) -> Property:
    """A phase that completes follows one in its slot that some thread waits for."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        before = phases.phase(x) - barrier.ring
        total = together(model, waits)
        return ctx.api.conj((ctx.eq(phases.cta(x), cta), ctx.ge(before, 0), ctx.le(total + start, before)))

    return Property(f"observed/{signal.id}-{sum(len(group) for _, group in waits)}", (signal,), bad, None)
