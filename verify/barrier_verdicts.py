"""Verdicts on barriers, as obligations; a violation counts only if the machine runs into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from exogpu.ir.collective import WARP
from exogpu.ir.placement import count as threads
from exogpu.smt.terms import Formula
from exogpu.verify.barriers import (
    arrival_counts,
    covers,
    joins_and_waits,
    not_lapped,
    observed_before,
    parties,
    progress,
    uniform_lags,
)
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant
from exogpu.verify.data_verdicts import claimed
from exogpu.verify.endings import Delay, Early, Stuck
from exogpu.verify.holds import in_time
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal, Impossible, Proved, Undecided, Violated, decide
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.performed import performed
from exogpu.verify.phases import Phases, arrives, awaits, barrier_cta, channels, copies
from exogpu.verify.pieces import GROUP, Piece
from exogpu.verify.predecessor import Way, ways_for_signal, ways_for_wait
from exogpu.verify.program import AwaitAction, Barrier, Event, ExitAction, Program
from exogpu.verify.replay import by_machine, reached, run
from exogpu.verify.result import Chain, Obligation, Query, Status
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.split import in_turns
from exogpu.verify.text import HELP, HOLD, NOBODY
from exogpu.verify.transactions import byte_obligations
from exogpu.verify.trial import on_trial
from exogpu.verify.withdrawn import would_order
from exogpu.verify.witness import failure, race, run_to_failure


def barrier_pieces(program: Program) -> Iterator[Piece]:
    """Every obligation of every barrier."""
    for barrier in program.barriers.values():
        yield Piece(GROUP, partial(_barrier, barrier=barrier))


def _barrier(program: Program, barrier: Barrier) -> Iterator[Obligation]:
    try:
        if not (*arrives(program, barrier.name), *awaits(program, barrier.name), *copies(program, barrier.name)):
            return  # declared and never used
        yield _count(program, barrier)
        yield from _obligations(program, barrier)
    except NoClosedForm as error:
        yield _no_closed_form(program, barrier, error)


def _obligations(program: Program, barrier: Barrier) -> Iterator[Obligation]:
    if barrier.split:
        for wait in awaits(program, barrier.name):
            yield from _progress(program, barrier, wait)
        for claim in in_turns(program, barrier):
            yield claimed(program, claim)
    elif barrier.named:
        yield from _generations(program, barrier)
    else:
        yield from _phases(program, barrier)


def _no_closed_form(program: Program, barrier: Barrier, error: NoClosedForm) -> Obligation:
    """Refuted if a run at small sizes goes wrong."""
    title = f"phases of {barrier.name} get their arrivals"
    base = Obligation(f"barrier/{barrier.name}", _count_rule(barrier), title, Status.UNKNOWN, barrier.span)
    message = f"the arrivals on `{barrier.name}` do not make up its phases"
    return on_trial(program, base, message, f"no closed form for its phases: {error}")


def quick_barrier_pieces(program: Program) -> Iterator[Piece]:
    """What needs no search for chains: it tells most faulty barriers from correct ones."""
    for barrier in program.barriers.values():
        yield Piece(3, partial(_quick, barrier=barrier))


def _quick(program: Program, barrier: Barrier) -> Iterator[Obligation]:
    try:
        yield _count(program, barrier)
        if not barrier.named:
            yield from byte_obligations(program, barrier)
        for wait in awaits(program, barrier.name):
            yield from _progress(program, barrier, wait)
    except NoClosedForm as error:
        yield _no_closed_form(program, barrier, error)


def _phases(program: Program, barrier: Barrier) -> Iterator[Obligation]:
    yield from byte_obligations(program, barrier)
    for wait in awaits(program, barrier.name):
        yield from _progress(program, barrier, wait)
        yield _parity(program, barrier, wait)
        if wait.selection is not None or not uniform_lags(program, barrier):
            yield _before_wait(program, barrier, wait)
    for signal in (*arrives(program, barrier.name), *copies(program, barrier.name)):
        yield _observed(program, barrier, signal)
        yield from _held(program, barrier, signal)
    for signal in arrives(program, barrier.name):
        if barrier_cta(signal) is not None:
            yield from _before_exit(program, barrier, signal)


def _generations(program: Program, barrier: Barrier) -> Iterator[Obligation]:
    """A named barrier: parities cannot alias, since a waiting thread is itself part of the next generation."""
    for wait in awaits(program, barrier.name):
        yield from _progress(program, barrier, wait)
    for signal in arrives(program, barrier.name):
        yield _recycled(program, barrier, signal)


def _count_rule(barrier: Barrier) -> str:
    return "bar.count" if barrier.named else "mbar.count"


# -- counts, bytes, progress: replayed by running the machine at the model's sizes -------------------------------------


def _count(program: Program, barrier: Barrier) -> Obligation:
    counts = arrival_counts(program, barrier)
    found = next((n for n in counts.values() if n != barrier.count), barrier.count)
    base = Obligation(
        f"count/{barrier.name}",
        _count_rule(barrier),
        f"arrivals of each {_turn(barrier)} of {barrier.name}: {barrier.count}",
        Status.PROVED,
        barrier.span,
    )
    if found == barrier.count:
        return base
    who = "no thread arrives on it" if not found else f"{found} thread{'s arrive' if found > 1 else ' arrives'}"
    arrivals = f"{barrier.count} arrival{'s' * (barrier.count > 1)} per {_turn(barrier)}"
    message = f"`{barrier.name}` waits for {arrivals}, but {who}"
    tried = replace(base, status=Status.UNKNOWN, reason=f"{message}, yet no run was found to try")
    for statement in (*arrives(program, barrier.name), *awaits(program, barrier.name)):
        verdict = hold(program, reached(statement))
        if isinstance(verdict, Found):
            tried = run(program, base, verdict.sizes, message, minimal=False)
            if tried.status is Status.REFUTED:
                return replace(tried, help=_counted(barrier, found) if found else NOBODY)
    return tried


def _counted(barrier: Barrier, found: int) -> str:
    return f"declare it with count={found}, or let {threads(barrier.count)} arrive for each {_turn(barrier)}"


def _turn(barrier: Barrier) -> str:
    return "generation" if barrier.named else "phase"


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
        yield by_machine(program, base, prop, message)


# -- observed phases and parity: temporal ordering goals ---------------------------------------------------------------


def _parity(program: Program, barrier: Barrier, wait: Event) -> Obligation:
    base = Obligation(
        f"parity/{barrier.name}/{wait.id}",
        "mbar.parity_alias",
        f"the wait on {barrier.name} at line {wait.span.line} is never overtaken by a whole ring",
        Status.PROVED,
        wait.span,
    )
    groups = [p for p in parties(program, arrives(program, barrier.name)) if covers(program, p, wait)]
    who = f"x of {wait.label} (line {wait.span.line}) and y of an arrive on {barrier.name}"
    asked = f"executions {who} {barrier.ring} phases later, where no chain below shows that x comes first in time"
    base = replace(base, question=asked)
    ways = [Way(tuple(not_lapped(program, barrier, wait, a) for a in p.statements)) for p in groups]
    message = f"`{barrier.name}` can advance by a whole ring before this wait has passed, so its parity aliases"
    lag = wait.action.lag if isinstance(wait.action, AwaitAction) else 0
    if lag <= barrier.ring:
        return _any_of(program, base, ways, message)
    message = f"this wait lags by {lag}, more than the ring of `{barrier.name}`, which is {barrier.ring}: {message}"
    verdict = _any_of(program, base, ways, message)
    refuted = replace(verdict, rule="mbar.lag", help=HELP["mbar.lag"])
    return refuted if verdict.status is Status.REFUTED else verdict


def _before_wait(program: Program, barrier: Barrier, wait: Event) -> Obligation:
    """The thread has not itself waited for each phase in between, so it must have learnt of them."""
    base = Obligation(
        f"before/{barrier.name}/{wait.id}",
        "mbar.parity_alias",
        f"the wait on {barrier.name} at line {wait.span.line} comes when the phase before in its slot is complete",
        Status.PROVED,
        wait.span,
    )
    message = f"a wait on `{barrier.name}` can come before the phase before in its slot is complete: parities alias"
    return _any_of(program, base, ways_for_wait(program, barrier, wait), message)


def _observed(program: Program, barrier: Barrier, signal: Event) -> Obligation:
    """An arrive, or a copy's bytes, must not reach the mbarrier while an earlier phase of it is still open."""
    base = Obligation(
        f"observed/{barrier.name}/{signal.id}",
        "mbar.unobserved_phase",
        f"{signal.label} (line {signal.span.line}) follows a wait for the phase before in its slot of {barrier.name}",
        Status.PROVED,
        signal.span,
    )
    who = f"y of {signal.label} (line {signal.span.line}) and x of an await on {barrier.name}"
    asked = f"executions {who} for {barrier.ring} phases earlier, where no chain below shows that x comes first in time"
    base = replace(base, question=asked)
    message = (
        f"nothing has waited for the phase before on this mbarrier of `{barrier.name}` when {signal.label} signals"
    )
    return _any_of(program, base, ways_for_signal(program, barrier, signal), message)


def _held(program: Program, barrier: Barrier, signal: Event) -> Iterator[Obligation]:
    """A hold comes before the end of the phase that it is for."""
    goals = tuple(in_time(program, barrier, signal))
    title = f"{signal.label} (line {signal.span.line}) comes before its phase of {barrier.name} can end"
    base = Obligation(f"held/{barrier.name}/{signal.id}", "mbar.count", title, Status.PROVED, signal.span)
    if goals:
        asked = f"executions x of {signal.label} (line {signal.span.line}) and y of the arrive for its phase"
        base = replace(base, question=f"{asked}, where no chain below shows that x comes first in time")
        message = f"the phase of `{barrier.name}` that {signal.label} is for can end before it"
        verdict = _any_of(program, base, [Way(goals)], message)
        yield replace(verdict, help=HOLD) if verdict.status is Status.REFUTED else verdict


def _recycled(program: Program, barrier: Barrier, signal: Event) -> Obligation:
    """No warp may join a generation while the one before is still open."""
    base = Obligation(
        f"recycle/{barrier.name}/{signal.id}",
        "bar.recycle",
        f"{signal.label} (line {signal.span.line}) follows the generation before of {barrier.name}",
        Status.PROVED,
        signal.span,
    )
    if joins_and_waits(program, barrier, channels(program, signal)):
        return base
    waiting = [p for p in parties(program, awaits(program, barrier.name)) if covers(program, p, signal)]
    waiting = [p for p in waiting if joins_and_waits(program, barrier, p.channels)]
    pairs = [observed_before(program, barrier, p, signal) for p in waiting]
    ways = [Way(tuple(goals), (exists,)) for exists, goals in pairs]
    message = f"{signal.label} can come while the generation before of `{barrier.name}` is still open"
    if not pairs:
        return _nobody_tells(program, base, signal, message)
    return _any_of(program, base, ways, message)


def _nobody_tells(program: Program, base: Obligation, signal: Event, message: str) -> Obligation:
    """No thread that waits for every generation could have told the warp: it joins the first generation alone, or a run
    goes wrong when its role hurries."""
    match hold(program, reached(signal, 1)):
        case Proved(_, query):
            return replace(base, queries=(query,))
        case Found(sizes, _, minimal):
            joining = frozenset(thread for thread, _ in channels(program, signal))
            return run(program, base, sizes, message, joining, minimal=minimal)
        case Undecided(reason):
            return replace(base, status=Status.UNKNOWN, reason=reason)


def _any_of(program: Program, base: Obligation, ways: list[Way], message: str) -> Obligation:
    """One way with all its parts proved is enough; a replayed failure of any way is a failure."""
    failures: list[Obligation] = []
    for way in ways:
        verdict = _all_of(program, base, way, message)
        if verdict.status is Status.PROVED and way.axiom is not None:
            verdict = _by_axiom(program, verdict, way.axiom, message)
        if verdict.status is Status.PROVED:
            return verdict
        failures.append(verdict)
    refuted = next((f for f in failures if f.status is Status.REFUTED), None)
    if refuted is not None:
        return refuted
    reason = "; ".join(dict.fromkeys(f.reason for f in failures)) or "nothing orders it"
    return replace(base, status=Status.UNKNOWN, reason=reason)


def _by_axiom(program: Program, proved: Obligation, axiom: str, message: str) -> Obligation:
    """The proof with the axiom that makes it one, or UNKNOWN if that is not in force."""
    if axiom not in program.axioms:
        reason = f"only axiom {axiom}, which is not accepted, allows it: {message}"
        return replace(proved, status=Status.UNKNOWN, reason=reason, chains=())
    return replace(proved, chains=(*proved.chains, Chain("the phase is complete, though no wait says so", (axiom,))))


def _all_of(program: Program, base: Obligation, way: Way, message: str) -> Obligation:
    chains: list[Chain] = []
    queries: list[Query] = []
    for prop in way.exists:
        failed = _exists(program, base, prop, message, queries)
        if failed is not None:
            return failed
    for goal in way.goals:
        match decide(program, goal):
            case Proved(found, query):
                chains += found
                queries.append(query)
            case Violated() as outcome:
                return _overtaken(base, goal, outcome, message)
            case Impossible():
                pass  # no two instances share the phase
            case Undecided(reason):
                return replace(base, status=Status.UNKNOWN, reason=reason)
    return replace(base, chains=tuple(chains), queries=tuple(queries))


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
        case Found(sizes, _, minimal):
            return run(program, base, sizes, message, minimal=minimal)


def _overtaken(base: Obligation, goal: Goal, outcome: Violated, message: str) -> Obligation:
    """REFUTED only if the machine's phases go wrong when the earlier instance is late, or the later one's warp fast."""
    warp = outcome.y.first // WARP * WARP
    fast = frozenset(range(warp, warp + WARP))
    tries = ((Delay(outcome.x), frozenset[int]()), (Delay(outcome.x, outcome.y), frozenset[int]()), (None, fast))
    for delay, eager in tries:
        machine, ending = run_to_failure(outcome.unrolling, delay, eager)
        if isinstance(ending, Stuck | Early):
            shown = failure(outcome.unrolling, machine, ending, minimal=outcome.minimal)
            facts = (*race(outcome.unrolling, outcome.x, outcome.y).facts, *shown.facts)
            return replace(
                base,
                status=Status.REFUTED,
                message=message,
                label="here",
                help=HELP[base.rule],
                counterexample=replace(shown, facts=facts),
            )
    reason = f"{message}, but no run that was tried shows it"
    missing = would_order(outcome, goal.needs)
    if missing:
        reason = f"only axiom {' and '.join(missing)}, which is not accepted, orders the two: {message}"
    return replace(base, status=Status.UNKNOWN, reason=reason)


# -- arrives on barriers of other CTAs ---------------------------------------------------------------------------------


def _before_exit(program: Program, barrier: Barrier, signal: Event) -> Iterator[Obligation]:
    """A CTA does not end while another may still arrive on its barrier."""
    end = next(e for e in program.events if isinstance(e.action, ExitAction))

    def remote(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        here = phases.own_cta(y)
        other = model.ctx.api.negate(model.ctx.eq(phases.own_cta(x), here))
        return model.ctx.api.conj((model.ctx.eq(phases.cta(x), here), other))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        here = y.first // program.threads
        return cta_meant(program, x) == here != x.first // program.threads

    needs, also = performed(signal)
    goal = Goal(f"exit/{barrier.name}/{signal.id}", signal, end, remote, check, needs, also=also)
    title = f"CTAs end after the remote arrives on their {barrier.name} at line {signal.span.line}"
    base = Obligation(goal.name, "cluster.exit", title, Status.PROVED, signal.span)
    match decide(program, goal):
        case Proved(chains, query):
            yield replace(base, chains=chains, queries=(query,))
        case Violated(unrolling, x, y, minimal):
            yield replace(
                base,
                status=Status.REFUTED,
                message=f"a CTA can end before another arrives on its `{barrier.name}`",
                label="arrives at an ended CTA",
                help=HELP["cluster.exit"],
                counterexample=race(unrolling, x, y, minimal=minimal),
            )
        case Undecided(reason):
            yield replace(base, status=Status.UNKNOWN, reason=reason)
        case Impossible():
            return
