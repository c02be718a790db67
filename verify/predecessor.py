"""The phase before in a slot is complete: what every arrive, copy and wait on an mbarrier presupposes.

An mbarrier knows one open phase, by its parity. So a signal for phase p, or a wait for it, must come when phase
p - ring of the same mbarrier is complete. That is known where somebody has waited for it, or where all its arrives and
copies have happened. A thread that waits for consecutive phases has seen them itself; units that take turns have not,
nor has a thread whose waits have different lags.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.smt.terms import Formula
from exogpu.verify.barriers import Party, covers, observed_before, parties, uniform_lags
from exogpu.verify.concrete import Env, Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.ordinal import count_until
from exogpu.verify.performed import performed
from exogpu.verify.phases import (
    Phases,
    arrives,
    awaits,
    channels,
    copies,
    own_channels,
    place_in_unit,
    same_place,
    signalled_by,
)
from exogpu.verify.program import ArriveAction, Barrier, Event, Program
from exogpu.verify.single import Property
from exogpu.verify.tally import Tally


@dataclass(frozen=True, slots=True)
class Way:
    """Reasons that are enough together: properties that hold, pairs that are ordered, and perhaps an axiom."""

    goals: tuple[Goal, ...]
    exists: tuple[Property, ...] = ()
    axiom: str | None = None


def ways_for_wait(program: Program, barrier: Barrier, wait: Event) -> list[Way]:
    """Why phase p - ring is complete at a wait for phase p by a unit, or with a lag of its own."""
    waits = signalled_by(program, channels(program, wait), awaits(program, barrier.name))
    ways = [*_completed(program, barrier, wait)]
    if uniform_lags(program, barrier):
        # the role's waits are consecutive: the thread at the same place of some unit has waited for p - ring
        ways.insert(0, Way(tuple(_follows(barrier, w, wait, peers=True) for w in waits)))
    return ways


def ways_for_signal(program: Program, barrier: Barrier, signal: Event) -> list[Way]:
    """Why phase p - ring is complete at an arrive for phase p, or a copy."""
    ways: list[Way] = []
    if uniform_lags(program, barrier):
        for party in parties(program, awaits(program, barrier.name)):
            if covers(program, party, signal):
                exists, goals = observed_before(program, barrier, party, signal)
                ways.append(Way(tuple(goals), (exists,)))
    through = own_channels(program, signal) if signal.completion is not None else channels(program, signal)
    sent = signalled_by(program, through, arrives(program, barrier.name))
    used = {cta for _, cta in channels(program, signal)}
    groups = [p for p in parties(program, arrives(program, barrier.name)) if p.ctas & used]
    exist = (_arrived(barrier, signal, sent, p, n) for n, p in enumerate(groups))
    existing = tuple(exist)
    ways.append(Way((), (_once(barrier, signal),)))
    return [*ways, *(Way(way.goals, existing, "L10") for way in _completed(program, barrier, signal))]


def _completed(program: Program, barrier: Barrier, later: Event) -> Iterator[Way]:
    """Every arrive and copy of phase p - ring comes before. An arrive that waits for copies happens after its place."""
    signals = arrives(program, barrier.name)
    if any(isinstance(a.action, ArriveAction) and a.action.after_copies for a in signals):
        return
    parts = (*signals, *copies(program, barrier.name))
    yield Way(tuple(_follows(barrier, part, later, peers=False) for part in parts))


def _follows(barrier: Barrier, earlier: Event, later: Event, *, peers: bool) -> Goal:
    """What happens for phase p - ring comes before what happens for phase p; `peers`: by threads at the same place of
    their units."""
    ring = barrier.ring

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx, before = model.ctx, phases.phase(x)
        parts = [phases.same_cta(x, y), ctx.ge(before, 0), ctx.eq(phases.phase(y), before + ring)]
        if peers:
            parts.append(ctx.eq(place_in_unit(model, x), place_in_unit(model, y)))
        return ctx.api.conj(parts)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        if cta_meant(u.program, x) != cta_meant(u.program, y):
            return False
        if peers and not same_place(x, y):
            return False
        return 0 <= u.number_at(x) == u.number_at(y) - ring

    name = f"before/{barrier.name}/{earlier.id}-{later.id}"
    needs, also = performed(earlier)
    return Goal(name, earlier, later, condition, check, needs, also=also)


def _once(barrier: Barrier, signal: Event) -> Property:
    """Every slot of the ring has one phase, so there is none before."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.ctx.ge(phases.phase(xs[0]), barrier.ring)

    return Property(f"before/{barrier.name}/{signal.id}/once", (signal,), bad, None)


def _arrived(barrier: Barrier, signal: Event, sent: list[Event], party: Party, n: int) -> Property:
    """The arrives of a party for phase p - ring are earlier in the sequential order."""

    def missing(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (y,) = xs
        ctx = model.ctx
        target = phases.phase(y) - barrier.ring
        here = ctx.api.disj(ctx.eq(phases.cta(y), cta) for cta in sorted(party.ctas))
        return ctx.api.conj(
            (here, ctx.ge(target, 0), ctx.le(count_until(model, party.statements, y, party.thread), target))
        )

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        if cta_meant(program, xs[0]) not in party.ctas:
            return False
        tally = Tally(program, sizes)
        target = sum(tally.before(s, xs[0], xs[0].first) for s in sent) - barrier.ring
        return target >= 0 and sum(tally.before(s, xs[0], party.thread) for s in party.statements) <= target

    return Property(f"before/{barrier.name}/{signal.id}/arrived-{n}", (signal,), missing, check)
