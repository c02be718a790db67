"""Barrier obligations: arrival counts, transaction bytes, observed phases, parity, and progress.

Phases are numbered per thread (its k-th arrive, its k-th await), so these obligations also show that the physical
barriers follow that numbering: every phase gets exactly its arrivals and bytes, no arrive runs ahead of its phase, and
no wait confuses two phases of one parity. Edges arrive -> await and copy -> await in `verify.chain` rest on them; as in
DESIGN section 4 the argument is by induction on the first wait that returns for a wrong phase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.pysmt_api import Formula
from exogpu.verify.concrete import Env, Occurrence, Unrolling, all_tasks, occurrences
from exogpu.verify.graph import Needs
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.ordinal import NoClosedForm, count_all, count_before, count_until
from exogpu.verify.phases import Phases, arrivals, arrives, awaits, copies, executed_by, executors
from exogpu.verify.program import (
    ArriveAction,
    AwaitAction,
    Barrier,
    Event,
    ExitAction,
    LoopKind,
    Program,
    TxOn,
)
from exogpu.verify.single import Property


@dataclass(frozen=True, slots=True)
class Party:
    """Threads that execute exactly the same arrive (or await) statements of a barrier."""

    threads: frozenset[int]
    statements: tuple[Event, ...]


def parties(statements: Iterable[Event]) -> list[Party]:
    """Statements grouped by their threads; raises `NoClosedForm` if two of them share only some threads."""
    found = list(statements)
    groups: dict[frozenset[int], tuple[Event, ...]] = {}
    for s in found:
        groups.setdefault(executors(s), tuple(executed_by(executors(s), found)))
    return [Party(threads, members) for threads, members in groups.items()]


def arrival_count(program: Program, barrier: Barrier) -> int:
    """Arrivals that every phase gets: one per arriving thread, of units that take turns from one of them."""
    total = 0
    for party in parties(arrives(program, barrier.name)):
        numbers = {arrivals(s) for s in party.statements}
        if len(numbers) > 1:
            raise NoClosedForm("a role arrives on it as a whole, and its units take turns")
        total += max(numbers)
    return total


# -- transaction bytes -------------------------------------------------------------------------------------------------


def byte_properties(program: Program, barrier: Barrier) -> Iterator[tuple[Event, Property]]:
    """At every arrive, and at the end, bytes expected so far = bytes of the copies issued so far by that thread."""
    loads = copies(program, barrier.name)
    found = arrives(program, barrier.name)
    for party in parties(found):
        mine = executed_by(party.threads, loads)
        for arrive in party.statements:
            yield arrive, _bytes_at(barrier, arrive, party.statements, mine)
    exits = [e for e in program.events if isinstance(e.action, ExitAction)]
    if found or loads:
        yield (found or loads)[0], _bytes_in_all(program, barrier, exits[0], found, loads)


def _bytes_at(barrier: Barrier, arrive: Event, statements: tuple[Event, ...], loads: list[Event]) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        expected = _weighted((s, _tx(s), count_before(model, s, x)) for s in statements) + _tx(arrive)
        delivered = _weighted((c, _size(c), count_before(model, c, x)) for c in loads)
        return model.ctx.api.negate(model.ctx.eq(expected, delivered))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        expected = sum(_tx(s) * tally.before(s, xs[0]) for s in statements) + _tx(arrive)
        return expected != sum(_size(c) * tally.before(c, xs[0]) for c in loads)

    return Property(f"tx/{barrier.name}/{arrive.id}", (arrive,), bad, check)


def _bytes_in_all(
    program: Program, barrier: Barrier, exit_event: Event, found: list[Event], loads: list[Event]
) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        def all_of(events: list[Event], weight: dict[int, int]) -> Poly:
            return _weighted((e, weight[e.id], count_all(model, e)) for e in events)

        expected = all_of(found, {s.id: _tx(s) * arrivals(s) for s in found})
        delivered = all_of(loads, {c.id: _size(c) * arrivals(c) for c in loads})
        return model.ctx.api.negate(model.ctx.eq(expected, delivered))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        expected = sum(_tx(s) * arrivals(s) * tally.before(s, xs[0]) for s in found)
        return expected != sum(_size(c) * arrivals(c) * tally.before(c, xs[0]) for c in loads)

    return Property(f"tx/{barrier.name}/all", (exit_event,), bad, check)


def _weighted(terms: Iterable[tuple[Event, int, Poly]]) -> Poly:
    total = ZERO
    for _, weight, count in terms:
        total = total + count * weight
    return total


def _tx(e: Event) -> int:
    return e.action.tx if isinstance(e.action, ArriveAction) else 0


def _size(e: Event) -> int:
    return e.completion.bytes if isinstance(e.completion, TxOn) else 0


# -- observed phases and parity ----------------------------------------------------------------------------------------


def observed_before(program: Program, barrier: Barrier, party: Party, signal: Event) -> tuple[Property, list[Goal]]:
    """Before an arrive (or copy) of phase p, a thread of `party` has waited for phase p - ring: that await exists, and
    whichever of the party's statements it is, it precedes the signal in time.

    The party's threads await consecutive phases (`uniform_lags`), so phase p - ring is among them.
    """
    ring, lag = barrier.ring, _lag(party.statements[0])
    sent = executed_by(executors(signal), arrives(program, barrier.name))

    def missing(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (y,) = xs
        ctx = model.ctx
        target = phases.phase(y) - ring
        done = count_until(model, party.statements, y) - lag
        return ctx.api.conj((ctx.ge(target, 0), ctx.le(done, target)))

    def missing_here(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        target = sum(tally.before(s, xs[0]) for s in sent) - ring
        return target >= 0 and sum(tally.before(s, xs[0]) for s in party.statements) - lag <= target

    def same_slot(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        target = phases.phase(y) - ring
        return model.ctx.api.conj((model.ctx.ge(target, 0), model.ctx.eq(phases.phase(x), target)))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return 0 <= u.number_at(x) == u.number_at(y) - ring

    name = f"observed/{barrier.name}/{signal.id}"
    exists = Property(f"{name}/exists-{party.statements[0].id}", (signal,), missing, missing_here)
    goals = [Goal(f"{name}-{w.id}", w, signal, same_slot, check, Needs(temporal=True)) for w in party.statements]
    return exists, goals


def not_lapped(barrier: Barrier, wait: Event, arrive: Event) -> Goal:
    """An arrive of phase p + ring comes after the wait for phase p: the waiter is not overtaken."""
    ring = barrier.ring

    def lapping(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        waited = phases.phase(x)
        return model.ctx.api.conj((model.ctx.ge(waited, -ring), model.ctx.eq(phases.phase(y), waited + ring)))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return -ring <= u.number_at(x) == u.number_at(y) - ring

    name = f"parity/{barrier.name}/{wait.id}-{arrive.id}"
    return Goal(name, wait, arrive, lapping, check, Needs(temporal=True))


def _lag(e: Event) -> int:
    return e.action.lag if isinstance(e.action, AwaitAction) else 0


def uniform_lags(program: Program, barrier: Barrier) -> bool:
    """Every thread awaits consecutive phases, so it has itself seen phase p - ring before it waits for p."""
    return all(len({_lag(s) for s in p.statements}) == 1 for p in parties(awaits(program, barrier.name)))


# -- progress ----------------------------------------------------------------------------------------------------------


def progress(program: Program, barrier: Barrier, wait: Event) -> Iterator[Property]:
    """At every await of phase p >= 0, each arriving thread has arrived p + 1 times earlier in the sequential order
    (thread loops count as simultaneous): that order ranks all waits, so none is stuck (Theorem B)."""
    groups = [p.statements for p in parties(arrives(program, barrier.name))] or [()]
    for n, statements in enumerate(groups):
        yield _arrived_before(program, barrier, wait, statements, n)


def _arrived_before(program: Program, barrier: Barrier, wait: Event, statements: tuple[Event, ...], n: int) -> Property:
    waits = executed_by(executors(wait), awaits(program, barrier.name))

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        waited = phases.phase(x)
        return ctx.api.conj((ctx.ge(waited, 0), ctx.le(count_until(model, statements, x), waited)))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        waited = sum(tally.before(s, xs[0]) for s in waits) - _lag(wait)
        return waited >= 0 and sum(tally.before(s, xs[0]) for s in statements) <= waited

    return Property(f"progress/{barrier.name}/{wait.id}.{n}", (wait,), bad, check)


class Tally:
    """Executions of statements by one of their threads, counted by enumeration at concrete sizes."""

    def __init__(self, program: Program, sizes: Env) -> None:
        self.program = program
        self.sizes = sizes
        self.tasks = all_tasks(program, sizes, {})

    def before(self, statement: Event, at: Occurrence) -> int:
        """Executions of `statement` by its lowest thread before the place of `at`, thread loops aside."""
        thread = min(executors(statement))
        peers = {thread} if statement.selection is None else set(statement.selection.peers(thread))
        place = _sequential_place(at)
        found = occurrences(self.program, statement, self.sizes, self.tasks)
        return sum(1 for o in found if not peers.isdisjoint(o.threads) and _sequential_place(o) < place)


def _sequential_place(o: Occurrence) -> tuple[int, ...]:
    """The place of an occurrence with thread loops taken as simultaneous."""
    place: list[int] = []
    for step in o.event.path:
        place.append(step.position)
        if step.loop is not None and step.loop.kind is not LoopKind.THREADS:
            place.append(o.env[step.loop.var])
        elif step.loop is not None:
            place.append(0)
    return tuple(place)
