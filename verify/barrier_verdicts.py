"""Verdicts on barriers, as obligations; a violation counts only if the machine runs into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.smt.pysmt_api import Formula
from exogpu.verify.barriers import (
    arrival_count,
    byte_properties,
    not_lapped,
    observed_before,
    parties,
    progress,
    uniform_lags,
)
from exogpu.verify.concrete import Env, Occurrence, TooLarge, Unrolling
from exogpu.verify.instance import Instance, Model
from exogpu.verify.machine import Delay, Early, Stuck
from exogpu.verify.ordering import Goal, Impossible, Proved, Undecided, Violated, decide
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.phases import Phases, arrives, awaits, copies
from exogpu.verify.program import Barrier, Event, Program
from exogpu.verify.result import Chain, Obligation, Query, Status
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.text import HELP
from exogpu.verify.turns import seen_before
from exogpu.verify.witness import failure, race, run_to_failure, shown_sizes


def barrier_obligations(program: Program) -> Iterator[Obligation]:
    """Every obligation of every barrier."""
    for barrier in program.barriers.values():
        try:
            if not (*arrives(program, barrier.name), *awaits(program, barrier.name), *copies(program, barrier.name)):
                continue  # declared and never used
            yield _count(program, barrier)
            yield from _bytes(program, barrier)
            for wait in awaits(program, barrier.name):
                yield from _progress(program, barrier, wait)
                yield _parity(program, barrier, wait)
                if wait.selection is not None:
                    yield _turn(program, barrier, wait)
            for signal in (*arrives(program, barrier.name), *copies(program, barrier.name)):
                yield _observed(program, barrier, signal)
        except NoClosedForm as error:
            yield Obligation(
                f"barrier/{barrier.name}",
                "mbar.count",
                f"phases of {barrier.name}",
                Status.UNKNOWN,
                barrier.span,
                reason=f"no closed form for its phases: {error}",
            )


# -- counts, bytes, progress: replayed by running the machine at the model's sizes -------------------------------------


def _count(program: Program, barrier: Barrier) -> Obligation:
    found = arrival_count(program, barrier)
    base = Obligation(
        f"count/{barrier.name}",
        "mbar.count",
        f"each phase of {barrier.name} gets {barrier.count} arrivals",
        Status.PROVED,
        barrier.span,
    )
    if found == barrier.count:
        return base
    message = f"`{barrier.name}` waits for {barrier.count} arrivals per phase but {found} threads arrive"
    for wait in awaits(program, barrier.name) or arrives(program, barrier.name):
        verdict = hold(program, _reached(wait))
        if isinstance(verdict, Found):
            refuted = _run(program, base, verdict.sizes, message)
            if refuted.status is Status.REFUTED:
                return refuted
    return replace(base, status=Status.UNKNOWN, reason=f"{message}, yet no run that was tried fails")


def _reached(statement: Event) -> Property:
    """ "Never executed for a phase >= 0": its violation gives sizes at which it is."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.ctx.ge(phases.phase(xs[0]), 0)

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        return True

    return Property(f"reached/{statement.id}", (statement,), bad, check)


def _bytes(program: Program, barrier: Barrier) -> Iterator[Obligation]:
    for event, prop in byte_properties(program, barrier):
        base = Obligation(
            prop.name,
            "mbar.tx_bytes",
            f"all bytes of {barrier.name} are expected and delivered"
            if prop.name.endswith("/all")
            else f"expected bytes of {barrier.name} equal delivered bytes at line {event.span.line}",
            Status.PROVED,
            event.span,
        )
        message = f"the bytes expected on `{barrier.name}` are not the bytes that its copies deliver"
        verdict = _by_machine(program, base, prop, message)
        yield verdict
        if verdict.status is Status.REFUTED:
            return  # later sums only repeat the difference


def _progress(program: Program, barrier: Barrier, wait: Event) -> Iterator[Obligation]:
    for prop in progress(program, barrier, wait):
        base = Obligation(
            prop.name,
            "deadlock.cycle",
            f"every phase of {barrier.name} awaited at line {wait.span.line} completes",
            Status.PROVED,
            wait.span,
        )
        message = f"the await of `{barrier.name}` can wait for a phase that is never completed"
        yield _by_machine(program, base, prop, message)


def _by_machine(program: Program, base: Obligation, prop: Property, message: str) -> Obligation:
    match hold(program, prop):
        case Proved(_, query):
            return replace(base, queries=(query,))
        case Undecided(reason):
            return replace(base, status=Status.UNKNOWN, reason=reason)
        case Found(sizes, _):
            return _run(program, base, sizes, message)


def _run(program: Program, base: Obligation, sizes: Env, message: str) -> Obligation:
    """REFUTED if the machine fails at these sizes, else UNKNOWN."""
    try:
        unrolling = Unrolling(program, sizes, {})
    except TooLarge as error:
        return replace(base, status=Status.UNKNOWN, reason=f"{message}; too large to replay: {error}")
    machine, ending = run_to_failure(unrolling)
    if not isinstance(ending, Stuck | Early):
        at = ", ".join(f"{name} = {value}" for name, value in shown_sizes(sizes))
        return replace(base, status=Status.UNKNOWN, reason=f"{message}, yet a run with {at} ends")
    return replace(
        base,
        status=Status.REFUTED,
        message=message,
        label="here",
        help=HELP[base.rule],
        counterexample=failure(unrolling, machine, ending),
    )


# -- observed phases and parity: temporal ordering goals ---------------------------------------------------------------


def _parity(program: Program, barrier: Barrier, wait: Event) -> Obligation:
    base = Obligation(
        f"parity/{barrier.name}/{wait.id}",
        "mbar.parity_alias",
        f"the wait on {barrier.name} at line {wait.span.line} is never overtaken by a whole ring",
        Status.PROVED,
        wait.span,
    )
    if not uniform_lags(program, barrier):
        return replace(base, status=Status.UNKNOWN, reason="a thread awaits this barrier with different lags")
    groups = parties(arrives(program, barrier.name))
    alternatives = [[not_lapped(barrier, wait, a) for a in p.statements] for p in groups]
    message = f"`{barrier.name}` can advance by a whole ring before this wait has passed, so its parity aliases"
    return _any_of(program, base, alternatives, [], message)


def _turn(program: Program, barrier: Barrier, wait: Event) -> Obligation:
    """The other waits for phases in between are by other units, so this one must have learnt of them."""
    base = Obligation(
        f"turn/{barrier.name}/{wait.id}",
        "mbar.parity_alias",
        f"the unit that waits on {barrier.name} at line {wait.span.line} follows the wait for the phase before",
        Status.PROVED,
        wait.span,
    )
    if not uniform_lags(program, barrier):
        return replace(base, status=Status.UNKNOWN, reason="a thread awaits this barrier with different lags")
    message = f"a unit can wait on `{barrier.name}` before the phase before in its slot is complete, so parities alias"
    return _any_of(program, base, seen_before(program, barrier, wait), [], message)


def _observed(program: Program, barrier: Barrier, signal: Event) -> Obligation:
    """An arrive, or a copy's bytes, must not reach the mbarrier while an earlier phase of it is still open."""
    base = Obligation(
        f"observed/{barrier.name}/{signal.id}",
        "mbar.unobserved_phase",
        f"{signal.label} (line {signal.span.line}) follows a wait for the phase before in its slot of {barrier.name}",
        Status.PROVED,
        signal.span,
    )
    if not uniform_lags(program, barrier):
        return replace(base, status=Status.UNKNOWN, reason="a thread awaits this barrier with different lags")
    pairs = [observed_before(program, barrier, p, signal) for p in parties(awaits(program, barrier.name))]
    message = (
        f"nothing has waited for the phase before on this mbarrier of `{barrier.name}` when {signal.label} signals"
    )
    return _any_of(program, base, [goals for _, goals in pairs], [prop for prop, _ in pairs], message)


def _any_of(
    program: Program, base: Obligation, alternatives: list[list[Goal]], exist: list[Property], message: str
) -> Obligation:
    """One alternative with all its goals (and its existence property) proved is enough."""
    reasons: list[str] = []
    failures: list[Obligation] = []
    for n, goals in enumerate(alternatives):
        chains: list[Chain] = []
        queries: list[Query] = []
        failed: Obligation | None = None
        if n < len(exist):
            failed = _exists(program, base, exist[n], message, queries)
        for goal in goals if failed is None else []:
            outcome = decide(program, goal)
            match outcome:
                case Proved(found, query):
                    chains += found
                    queries.append(query)
                case Violated():
                    failed = _overtaken(base, outcome, message)
                case Impossible():
                    pass  # no two instances share the phase
                case Undecided(reason):
                    failed = replace(base, status=Status.UNKNOWN, reason=reason)
            if failed is not None:
                break
        if failed is None:
            return replace(base, chains=tuple(chains), queries=tuple(queries))
        failures.append(failed)
        reasons.append(failed.reason)
    if len(failures) == 1:
        return failures[0]
    reason = "; ".join(r for r in reasons if r) or "no alternative is proved"
    return replace(base, status=Status.UNKNOWN, reason=reason)


def _exists(
    program: Program, base: Obligation, prop: Property, message: str, queries: list[Query]
) -> Obligation | None:
    verdict = hold(program, prop)
    match verdict:
        case Proved(_, query):
            queries.append(query)
            return None
        case Undecided(reason):
            return replace(base, status=Status.UNKNOWN, reason=reason)
        case Found(sizes, _):
            return _run(program, base, sizes, message)


def _overtaken(base: Obligation, outcome: Violated, message: str) -> Obligation:
    """REFUTED only if delaying the earlier instance makes the machine's phases go wrong."""
    for delay in (Delay(outcome.x), Delay(outcome.x, outcome.y)):
        machine, ending = run_to_failure(outcome.unrolling, delay)
        if isinstance(ending, Stuck | Early):
            shown = failure(outcome.unrolling, machine, ending)
            facts = (*race(outcome.unrolling, outcome.x, outcome.y).facts, *shown.facts)
            return replace(
                base,
                status=Status.REFUTED,
                message=message,
                label="here",
                help=HELP[base.rule],
                counterexample=replace(shown, facts=facts),
            )
    return replace(base, status=Status.UNKNOWN, reason=f"{message}, but no run that was tried shows it")
