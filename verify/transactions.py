"""Transaction bytes: every phase of a barrier is announced exactly the bytes that its copies deliver.

Where a thread's copies complete on the barrier on which it arrives itself, the sums are compared at each arrive. Across
CTAs the parties are different threads, whose executions have no common place: there each announces and delivers a
fixed number of bytes per phase, and those numbers add up in every CTA.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.terms import Formula
from exogpu.verify.barriers import Party, parties
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.nest import TooLarge
from exogpu.verify.ordinal import NoClosedForm, count_all, count_before, mixed_guards
from exogpu.verify.phases import (
    Channel,
    Phases,
    alike,
    arrives,
    barrier_cta,
    channels,
    copies,
    signalled_by,
    signals,
)
from exogpu.verify.program import ArriveAction, Barrier, Event, ExitAction, Program, TxOn
from exogpu.verify.replay import by_machine, reached, run
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.tally import Tally

RULE = "mbar.tx_bytes"


def byte_obligations(program: Program, barrier: Barrier) -> Iterator[Obligation]:
    """The obligations of one barrier; after a refuted one the others would only repeat the difference."""
    found, loads = arrives(program, barrier.name), copies(program, barrier.name)
    if all(barrier_cta(e) is None for e in (*found, *loads)):
        verdicts = _own_barrier(program, barrier, found, loads)
    else:
        verdicts = _across_ctas(program, barrier, found, loads)
    for verdict in (*verdicts, *_in_all(program, barrier, found, loads)) if found or loads else ():
        yield verdict
        if verdict.status is Status.REFUTED:
            return


def _message(barrier: Barrier) -> str:
    return f"the bytes expected on `{barrier.name}` are not the bytes that its copies deliver"


def _judge(program: Program, barrier: Barrier, event: Event, title: str, prop: Property) -> Obligation:
    base = Obligation(prop.name, RULE, title, Status.PROVED, event.span)
    return by_machine(program, base, prop, _message(barrier))


# -- copies of the arriving threads ------------------------------------------------------------------------------------


def _own_barrier(program: Program, barrier: Barrier, found: list[Event], loads: list[Event]) -> Iterator[Obligation]:
    for party in parties(program, found):
        mine = signalled_by(program, party.channels, loads)
        for arrive in party.statements:
            title = f"expected bytes of {barrier.name} equal delivered bytes at line {arrive.span.line}"
            yield _judge(program, barrier, arrive, title, _at_arrive(barrier, arrive, party, mine))


def _at_arrive(barrier: Barrier, arrive: Event, party: Party, loads: list[Event]) -> Property:
    """Bytes expected so far, with this arrive, are the bytes of the copies issued so far by that thread."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        expected = _sum(phases.count(x, s) * weight(s) for s in party.statements) + weight(arrive)
        return model.ctx.api.negate(model.ctx.eq(expected, _sum(phases.count(x, c) * weight(c) for c in loads)))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        expected = sum(weight(s) * tally.before(s, xs[0], xs[0].first) for s in party.statements) + weight(arrive)
        return expected != sum(weight(c) * tally.before(c, xs[0], xs[0].first) for c in loads)

    return Property(f"tx/{barrier.name}/{arrive.id}", (arrive,), bad, check)


# -- copies of other CTAs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Flow:
    """What `statements` announce or deliver on each of the `channels`; `numbering` are the arrives that number the
    phases. An arrive that announces counts for its own phase, a copy for the phase of the next arrive."""

    channels: frozenset[Channel]
    statements: tuple[Event, ...]
    numbering: tuple[Event, ...]

    def until(self, arrive: Event) -> int:
        """Bytes that the arrive itself adds."""
        return weight(arrive) if arrive in self.statements else 0


def _across_ctas(program: Program, barrier: Barrier, found: list[Event], loads: list[Event]) -> Iterator[Obligation]:
    announced = [_Flow(p.channels, p.statements, p.statements) for p in parties(program, found)]
    delivered = list(_deliveries(program, found, loads))
    rates: list[int] = []
    for flow in (*announced, *delivered):
        rate, verdicts = _steady(program, barrier, flow)
        yield from verdicts
        rates.append(rate)
    balance: dict[int, int] = {}
    for n, (flow, rate) in enumerate(zip((*announced, *delivered), rates, strict=True)):
        for _, cta in signals(program, flow.channels, flow.statements):
            balance[cta] = balance.get(cta, 0) + (rate if n < len(announced) else -rate)
    yield _balanced(program, barrier, found or loads, balance)


def _deliveries(program: Program, found: list[Event], loads: list[Event]) -> Iterator[_Flow]:
    """Copies grouped by the channels that exactly the same of them use."""
    groups: dict[frozenset[int], set[Channel]] = {}
    used = {c.id: channels(program, c) for c in loads}
    for channel in sorted(frozenset[Channel]().union(*used.values())):
        groups.setdefault(frozenset(c.id for c in loads if channel in used[c.id]), set()).add(channel)
    for ids, through in groups.items():
        own = frozenset((t, t // program.threads) for t, _ in through)
        numbering = signalled_by(program, own, found)
        if not numbering:
            raise NoClosedForm("a thread copies for a barrier of its CTA on which it never arrives")
        yield _Flow(frozenset(through), tuple(c for c in loads if c.id in ids), tuple(numbering))


def _steady(program: Program, barrier: Barrier, flow: _Flow) -> tuple[int, list[Obligation]]:
    """Bytes per phase, seen at one arrive, and the obligations that it is the same at all of them."""
    rate = 0
    for arrive in flow.numbering:
        verdict = hold(program, reached(arrive))
        if isinstance(verdict, Found):
            rate = _seen(program, flow, arrive, verdict)
            break
    out: list[Obligation] = []
    for arrive in flow.numbering:
        ids = ",".join(str(s.id) for s in flow.statements)
        name = f"tx/{barrier.name}/{arrive.id}.{ids}"
        title = f"{rate} bytes of {barrier.name} for each phase by line {flow.statements[0].span.line}"
        out.append(_judge(program, barrier, arrive, title, _rate(name, flow, arrive, rate)))
    return rate, out


def _seen(program: Program, flow: _Flow, arrive: Event, found: Found) -> int:
    """The bytes per phase so far; as if each statement were executed once a phase, if there are too many to count."""
    at = found.instances[0]
    try:
        tally = Tally(program, found.sizes)
        phases = sum(tally.before(s, at) for s in flow.numbering) + 1
        return (sum(weight(s) * tally.before(s, at) for s in flow.statements) + flow.until(arrive)) // phases
    except TooLarge:
        return sum(weight(s) for s in flow.statements)


def _rate(name: str, flow: _Flow, arrive: Event, rate: int) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        so_far = _sum(count_before(model, s, x) * weight(s) for s in flow.statements) + flow.until(arrive)
        return model.ctx.api.negate(model.ctx.eq(so_far, (phases.phase(x) + 1) * rate))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally, at = Tally(program, sizes), xs[0]
        so_far = sum(weight(s) * tally.before(s, at) for s in flow.statements) + flow.until(arrive)
        return so_far != rate * (sum(tally.before(s, at) for s in flow.numbering) + 1)

    return Property(name, (arrive,), bad, check)


def _balanced(program: Program, barrier: Barrier, events: Sequence[Event], balance: dict[int, int]) -> Obligation:
    title = f"in every CTA the bytes expected of each phase of {barrier.name} are those delivered"
    base = Obligation(f"tx/{barrier.name}/balance", RULE, title, Status.PROVED, events[0].span)
    if not any(balance.values()):
        return base
    for event in events:
        verdict = hold(program, reached(event))
        if isinstance(verdict, Found):
            return run(program, base, verdict.sizes, _message(barrier), minimal=False)
    return replace(base, status=Status.UNKNOWN, reason=f"{_message(barrier)}, but no run reaches the barrier")


# -- all of them -------------------------------------------------------------------------------------------------------


def _in_all(program: Program, barrier: Barrier, found: list[Event], loads: list[Event]) -> Iterator[Obligation]:
    """At the end as many bytes are expected as delivered, in every CTA."""
    exits = next(e for e in program.events if isinstance(e.action, ExitAction))
    sums: dict[tuple[_Share, ...], int] = {}
    for cta in range(program.cluster):
        sums.setdefault(tuple(s for e in (*found, *loads) for s in _shares(program, e, cta)), cta)
    for shares, cta in sums.items():
        if not any(share.factor for share in shares):
            continue
        where = f" of CTA {cta}" if len(sums) > 1 else ""
        title = f"all bytes of {barrier.name}{where} are expected and delivered"
        name = f"tx/{barrier.name}/all" + (f"-{cta}" if cta else "")
        ids = {e.id for e in found}
        parts = tuple(tuple(s for s in shares if (s.event.id in ids) == arrive) for arrive in (True, False))
        yield _judge(program, barrier, (found or loads)[0], title, _total(name, exits, *parts))


@dataclass(frozen=True, slots=True)
class _Share:
    """What each execution of a statement by `thread` stands for, in bytes."""

    event: Event
    thread: int
    factor: int


def _shares(program: Program, event: Event, cta: int) -> Iterator[_Share]:
    """Threads that execute a statement equally often share one sum."""
    seen, groups = alike(program, event), dict[tuple[int, ...], list[int]]()
    for thread, c in sorted(signals(program, channels(program, event), (event,))):
        if c == cta:
            groups.setdefault(seen[thread], []).append(thread)
    for threads in groups.values():
        yield _Share(event, threads[0] if mixed_guards(event) else min(seen), len(threads) * weight(event))


def _total(name: str, exits: Event, arrived: tuple[_Share, ...], copied: tuple[_Share, ...]) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        expected, delivered = (
            _sum(count_all(model, s.event, s.thread) * s.factor for s in part) for part in (arrived, copied)
        )
        return model.ctx.api.negate(model.ctx.eq(expected, delivered))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        expected, delivered = (
            sum(s.factor * tally.before(s.event, xs[0], s.thread) for s in part) for part in (arrived, copied)
        )
        return expected != delivered

    return Property(name, (exits,), bad, check)


def weight(e: Event) -> int:
    """Bytes that one execution announces or delivers, to one CTA."""
    match e.action, e.completion:
        case ArriveAction(tx=tx), _:
            return tx
        case _, TxOn(bytes=size):
            return size
        case _:
            return 0


def _sum(terms: Iterable[Poly]) -> Poly:
    total = ZERO
    for term in terms:
        total = total + term
    return total
