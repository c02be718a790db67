"""Barrier obligations: arrival counts, observed phases, parity, and progress; `verify.transactions` has the bytes.

Phases are numbered per thread (its k-th arrive, its k-th await), so these obligations also show that the physical
barriers follow that numbering: every phase gets exactly its arrivals and bytes, no arrive runs ahead of its phase, and
no wait confuses two phases of one parity. Edges arrive -> await and copy -> await in `verify.chain` rest on them; the
argument is by induction on the first wait that returns for a wrong phase (`proofs/README.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Env, Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.ordinal import count_until
from exogpu.verify.phases import (
    Channel,
    Phases,
    alike,
    arrives,
    awaits,
    channels,
    copies,
    own_channels,
    signalled_by,
    signals,
)
from exogpu.verify.program import ArriveAction, AwaitAction, Barrier, Event, Program
from exogpu.verify.single import Property
from exogpu.verify.tally import Tally


@dataclass(frozen=True, slots=True)
class Party:
    """Channels that exactly the same arrive (or await) statements of a barrier use, equally often."""

    channels: frozenset[Channel]
    statements: tuple[Event, ...]

    @property
    def thread(self) -> int:
        """One of its threads: all count alike."""
        return min(thread for thread, _ in self.channels)

    @property
    def ctas(self) -> frozenset[int]:
        """The CTAs whose barriers it uses."""
        return frozenset(cta for _, cta in self.channels)


def parties(program: Program, statements: Iterable[Event]) -> list[Party]:
    """Statements grouped by their channels; raises `NoClosedForm` if two of them share only some channels."""
    found = list(statements)
    groups: dict[frozenset[Channel], tuple[Event, ...]] = {}
    for s in found:
        through = channels(program, s)
        groups.setdefault(through, tuple(signalled_by(program, through, found)))
    return [Party(part, members) for through, members in groups.items() for part in _equals(program, through, members)]


def _equals(program: Program, through: frozenset[Channel], members: tuple[Event, ...]) -> Iterator[frozenset[Channel]]:
    """The channels in groups whose threads execute every one of the statements equally often."""
    seen = [alike(program, s) for s in members]
    groups: dict[tuple[tuple[int, ...], ...], set[Channel]] = {}
    for thread, cta in sorted(through):
        groups.setdefault(tuple(s[thread] for s in seen), set()).add((thread, cta))
    return (frozenset(group) for group in groups.values())


def arrival_counts(program: Program, barrier: Barrier) -> dict[int, int]:
    """Arrivals that every phase of the barrier gets in each CTA that uses it: one per channel."""
    found = arrives(program, barrier.name)
    users = (*found, *awaits(program, barrier.name), *copies(program, barrier.name))
    counts = {cta: 0 for s in users for _, cta in channels(program, s)}
    for party in parties(program, found):
        for _, cta in signals(program, party.channels, party.statements):
            counts[cta] += 1
    return counts


# -- observed phases and parity ----------------------------------------------------------------------------------------


def observed_before(program: Program, barrier: Barrier, party: Party, signal: Event) -> tuple[Property, list[Goal]]:
    """Before an arrive (or copy) of phase p, a thread of `party` has waited for phase p - ring: that await exists, and
    whichever of the party's statements it is, it precedes the signal in time.

    The party's threads await consecutive phases (`uniform_lags`), so phase p - ring is among them.
    """
    ring, lag = barrier.ring, _lag(party.statements[0])
    numbered = own_channels(program, signal) if signal.completion is not None else channels(program, signal)
    sent = signalled_by(program, numbered, arrives(program, barrier.name))

    def missing(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (y,) = xs
        ctx = model.ctx
        target = phases.phase(y) - ring
        done = count_until(model, party.statements, y, party.thread) - lag
        return ctx.api.conj((ctx.ge(target, 0), ctx.le(done, target)))

    def missing_here(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        target = sum(tally.before(s, xs[0], xs[0].first) for s in sent) - ring
        return target >= 0 and sum(tally.before(s, xs[0], party.thread) for s in party.statements) - lag <= target

    def same_slot(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        target = phases.phase(y) - ring
        same = (model.ctx.ge(target, 0), model.ctx.eq(phases.phase(x), target))
        return model.ctx.api.conj((phases.same_cta(x, y), *same))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return _same_cta(program, x, y) and 0 <= u.number_at(x) == u.number_at(y) - ring

    name = f"observed/{barrier.name}/{signal.id}"
    exists = Property(f"{name}/exists-{party.statements[0].id}", (signal,), missing, missing_here)
    goals = [Goal(f"{name}-{w.id}", w, signal, same_slot, check, Needs(temporal=True)) for w in party.statements]
    return exists, goals


def _same_cta(program: Program, x: Occurrence, y: Occurrence) -> bool:
    return cta_meant(program, x) == cta_meant(program, y)


def covers(program: Program, party: Party, event: Event) -> bool:
    """The party uses the barrier of every CTA that the event uses."""
    return party.ctas >= {cta for _, cta in channels(program, event)}


def not_lapped(program: Program, barrier: Barrier, wait: Event, arrive: Event) -> Goal:
    """An arrive of phase p + ring comes after the wait for phase p: the waiter is not overtaken."""
    ring = barrier.ring

    def lapping(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        waited = phases.phase(x)
        next_turn = (model.ctx.ge(waited, -ring), model.ctx.eq(phases.phase(y), waited + ring))
        return model.ctx.api.conj((phases.same_cta(x, y), *next_turn))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return _same_cta(program, x, y) and -ring <= u.number_at(x) == u.number_at(y) - ring

    name = f"parity/{barrier.name}/{wait.id}-{arrive.id}"
    return Goal(name, wait, arrive, lapping, check, Needs(temporal=True))


def _lag(e: Event) -> int:
    return e.action.lag if isinstance(e.action, AwaitAction) else 0


def uniform_lags(program: Program, barrier: Barrier) -> bool:
    """Every thread awaits consecutive phases, so it has itself seen phase p - ring before it waits for p."""
    return all(len({_lag(s) for s in p.statements}) == 1 for p in parties(program, awaits(program, barrier.name)))


def joins_and_waits(program: Program, barrier: Barrier, through: frozenset[Channel]) -> bool:
    """Every arrive of these threads on a named barrier is a sync, so each has itself seen the generation before: a unit
    that takes turns has not."""
    mine = signalled_by(program, through, arrives(program, barrier.name))
    return all(isinstance(e.action, ArriveAction) and e.action.waits and e.selection is None for e in mine)


# -- progress ----------------------------------------------------------------------------------------------------------


def progress(program: Program, barrier: Barrier, wait: Event) -> Iterator[Property]:
    """At every await of phase p >= 0, each arriving thread has arrived p + 1 times earlier in the sequential order
    (thread loops count as simultaneous): that order ranks all waits, so none is stuck (Theorem B)."""
    waiting = {cta for _, cta in channels(program, wait)}
    signalling = (*parties(program, arrives(program, barrier.name)), *_remote_issuers(program, barrier))
    groups = [p for p in signalling if p.ctas & waiting]
    for n, party in enumerate(groups or [Party(channels(program, wait), ())]):
        yield _arrived_before(program, barrier, wait, party, n)


def _remote_issuers(program: Program, barrier: Barrier) -> Iterator[Party]:
    """Threads whose copies complete on barriers of other CTAs: those of phase p have been issued when the thread has
    arrived at home for phase p, so its arrives at home stand for them."""
    found = arrives(program, barrier.name)
    groups: dict[tuple[int, ...], tuple[set[Channel], list[Event]]] = {}
    for copy in copies(program, barrier.name):
        for thread, cta in sorted(channels(program, copy)):
            own = thread // program.threads
            if cta != own:
                home = signalled_by(program, frozenset(((thread, own),)), found)
                groups.setdefault(tuple(e.id for e in home), (set(), home))[0].add((thread, cta))
    for through, home in groups.values():
        for part in _equals(program, frozenset(through), tuple(home)):
            yield Party(part, tuple(home))


def _arrived_before(program: Program, barrier: Barrier, wait: Event, party: Party, n: int) -> Property:
    waits = signalled_by(program, channels(program, wait), awaits(program, barrier.name))
    statements = party.statements

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        waited = phases.phase(x)
        here = ctx.api.disj(ctx.eq(phases.cta(x), cta) for cta in sorted(party.ctas))
        return ctx.api.conj((here, ctx.ge(waited, 0), ctx.le(count_until(model, statements, x, party.thread), waited)))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        if cta_meant(program, xs[0]) not in party.ctas:
            return False
        tally = Tally(program, sizes)
        waited = sum(tally.before(s, xs[0], xs[0].first) for s in waits) - _lag(wait)
        return waited >= 0 and sum(tally.before(s, xs[0], party.thread) for s in statements) <= waited

    return Property(f"progress/{barrier.name}/{wait.id}.{n}", (wait,), bad, check)
