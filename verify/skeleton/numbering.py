"""Of which phase every signal and wait of an mbarrier is.

A thread's arrivals and copies go round: its first `rate` executions belong to phase 0, the next to phase 1, and so on.
A wait states its phase by its parity, up to a multiple of two: which one is read off a thread's own waits at a small
size, since each is for the phase of the one before in its slot or for the next. Nothing here has to be right: what is
chosen is proved afterwards (`obligations`), and a choice that is wrong is not.
"""

from __future__ import annotations

from collections import Counter as Tallies
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from exogpu.ir.collective import plus
from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.verify.concrete import Occurrence
from exogpu.verify.phases import Channel, arrives, awaits, channels, copies
from exogpu.verify.program import (
    Barrier,
    Counted,
    Counter,
    Derived,
    Event,
    ExpectAction,
    LoopKind,
    Program,
    Stated,
    TxOn,
)
from exogpu.verify.skeleton.barriers import Signals
from exogpu.verify.skeleton.flags import flag_numbers, renumbered
from exogpu.verify.skeleton.flows import Flow, Party, parties
from exogpu.verify.skeleton.life_numbers import numbered_lives
from exogpu.verify.skeleton.lives import Lives
from exogpu.verify.skeleton.optional import told_apart
from exogpu.verify.skeleton.sample import by_thread, value
from exogpu.verify.skeleton.teams import Turns, enumerate_phases, natural
from exogpu.verify.skeleton.unsupported import NotModelled

MOST_RATES = 4
"""Largest number of arrivals of one thread in one phase that is tried where several threads arrive."""


def expects(program: Program, barrier: str) -> list[Event]:
    """Statements that announce bytes without arriving."""
    return [e for e in program.events if isinstance(e.action, ExpectAction) and e.action.barrier == barrier]


@dataclass(frozen=True, slots=True)
class Phased:
    """The program with a phase for every signal and wait of its mbarriers; the flows of each, the slot of its
    phase 0 (phase p is in slot p + start modulo the ring), and the lives of those that end."""

    program: Program
    flows: dict[str, tuple[Flow, ...]]
    starts: dict[str, int]
    lives: dict[str, Lives]


def deliveries(program: Program, barrier: str) -> list[Event]:
    """Copies that deliver bytes."""
    return [e for e in copies(program, barrier) if not (isinstance(e.completion, TxOn) and e.completion.holds)]


def holds(program: Program, barrier: str) -> list[Event]:
    """What keeps a phase open until the thread's cp.async have landed."""
    return [e for e in copies(program, barrier) if isinstance(e.completion, TxOn) and e.completion.holds]


def _own_arrives(program: Program, flows: Iterable[Flow], hold: Event) -> Flow:
    """The arrivals of the threads that hold a phase: it is the one of their next arrival."""
    mine = channels(program, hold)
    found = next((f for f in flows if f.arrivals and f.turns is None and mine <= f.channels), None)
    if found is None:
        raise NotModelled("a thread that holds a phase does not arrive itself", hold.span)
    return found


def numbered(program: Program, signals: Signals) -> Phased:
    """Numbers the phases of all mbarriers."""
    flows: dict[str, tuple[Flow, ...]] = {}
    starts: dict[str, int] = {}
    lives: dict[str, Lives] = {}
    events = list(program.events)
    derived = dict(program.derived)
    for barrier in program.barriers.values():
        if barrier.named:
            continue
        if barrier.flag:
            numbers, flows[barrier.name] = flag_numbers(program, barrier, signals.values)
            renumbered(events, numbers)
            continue
        start = starts[barrier.name] = _start(program, barrier, signals)
        found = tuple(_flows(program, barrier, signals, start))
        for flow in found:
            of = tuple(e.id for e in flow.statements)
            for e in flow.statements:
                stated = natural(program, e, signals.slots[e.id], barrier.ring) if flow.turns is not None else None
                counted = flow.numbers or Counted(of, flow.rate)
                events[e.id] = replace(events[e.id], numbering=counted if stated is None else Stated(stated))
        for hold in holds(program, barrier.name):
            flow = _own_arrives(program, found, hold)
            numbering = Counted(tuple(e.id for e in flow.statements), flow.rate)
            events[hold.id] = replace(events[hold.id], numbering=numbering)
        if _has_lives(barrier, signals):
            lives[barrier.name], ends = numbered_lives(program, barrier, found, signals)
            renumbered(events, ends)
        for wait in awaits(program, barrier.name) if _goes_on(lives.get(barrier.name)) else ():
            parity = _growing(signals.parities[wait.id], derived)
            ahead = _ahead(replace(program, derived=derived), barrier, wait, parity, signals)
            phase = _phase(signals, barrier, wait, parity, ahead, start)
            events[wait.id] = replace(events[wait.id], numbering=Stated(phase))
        flows[barrier.name] = found
    out = replace(program, events=tuple(events), derived=derived)
    renewed = {name: tuple(f.renewed(out) for f in found) for name, found in flows.items()}
    return Phased(out, renewed, starts, {name: found.renewed(out) for name, found in lives.items()})


def _has_lives(barrier: Barrier, signals: Signals) -> bool:
    """It ends, or lies where another does at another time, or begins again though it was initialised before the roles
    started."""
    array = signals.arrays[barrier.name.partition("[")[0]]
    again = array.count is not None and barrier.name in signals.inits
    return again or barrier.name in signals.invals or array.name in signals.successive


def _goes_on(lives: Lives | None) -> bool:
    """Parities count all phases of the barrier."""
    return lives is None or not lives.several


# -- signals -----------------------------------------------------------------------------------------------------------


def _start(program: Program, barrier: Barrier, signals: Signals) -> int:
    """The slot of the first signal."""
    if _team(program, barrier, parties(program, arrives(program, barrier.name)), signals) is not None:
        return 0
    for e in (*arrives(program, barrier.name), *copies(program, barrier.name)):
        thread = min(t for t, _ in channels(program, e))
        mine = tuple(s for s in arrives(program, barrier.name) if any(t == thread for t, _ in channels(program, s)))
        for o in by_thread(program, mine or (e,), thread, barrier)[:1]:
            return evaluate(signals.slots[o.event.id], o.env) % barrier.ring
    return 0


def _flows(program: Program, barrier: Barrier, signals: Signals, start: int) -> Iterator[Flow]:
    """What arrives, then what only delivers or announces bytes."""
    arriving = parties(program, arrives(program, barrier.name))
    rates = _arrival_rates(program, barrier, arriving, signals)
    team = _team(program, barrier, arriving, signals)
    if team is not None:
        yield replace(team, arrivals=_weight(team.statements, signals))
    each = zip(arriving, rates, strict=True) if team is None else ()
    arrivals = [Flow(through, group, n, _weight(group, signals)) for (through, group), n in each]
    yield from arrivals
    phases = {_executions(program, barrier, group) // rate for (_, group), rate in zip(arriving, rates, strict=True)}
    for other in (deliveries(program, barrier.name), expects(program, barrier.name)):
        found = parties(program, other)
        teams = [_team(program, barrier, part, signals) for part in _parts(found)]
        if teams and all(teams):
            yield from (t for t in teams if t is not None)
            continue
        for through, statements in found:
            for group, numbers in told_apart(program, barrier, statements, arrivals, signals.slots, start):
                rate = _together(program, barrier, group, signals, start, phases) if numbers is None else 1
                yield Flow(through, group, rate, 0, numbers)


def _parts(found: list[Party]) -> Iterator[list[Party]]:
    """The first statements of all parties, then their second ones, and so on, if they have equally many."""
    for n in range(max((len(group) for _, group in found), default=0)):
        yield [(through, group[n : n + 1]) for through, group in found]


def _team(program: Program, barrier: Barrier, found: list[Party], signals: Signals) -> Flow | None:
    """Parties that take turns: at a small size, the indices of their slots go through all phases, each once."""
    statements = tuple(e for _, group in found for e in group)
    stated = {e.id: natural(program, e, signals.slots[e.id], barrier.ring) for e in statements}
    indices = {e: index for e, index in stated.items() if index is not None}
    sizes = {frozenset(Tallies(cta for _, cta in through).items()) for through, _ in found}
    if len(found) < 2 or len(indices) < len(statements) or len(sizes) > 1 or not all(group for _, group in found):
        return None
    firsts = [(min(t for t, _ in through), group) for through, group in found]
    if not enumerate_phases([by_thread(program, group, t, barrier) for t, group in firsts], indices):
        return None
    channels = frozenset[Channel]().union(*(through for through, _ in found))
    return Flow(channels, statements, 1, 0, turns=Turns(tuple(found)))


def _weight(statements: Iterable[Event], signals: Signals) -> int:
    weights = {signals.weights[e.id] for e in statements}
    if len(weights) != 1:
        at = next(iter(statements))
        raise NotModelled("arrive statements of one thread make different numbers of arrivals", at.span)
    return weights.pop()


def _arrival_rates(
    program: Program,
    barrier: Barrier,
    parties: list[Party],
    signals: Signals,
) -> tuple[int, ...]:
    """Executions in each phase, so that the arrivals make up the barrier's count in every CTA; all 1 if none fit."""
    ones = (1,) * len(parties)
    weights = [_weight(statements, signals) for _, statements in parties]
    sizes = [Tallies(cta for _, cta in through) for through, _ in parties]
    if len(parties) == 1:
        arrivals = max(sizes[0].values()) * weights[0]
        return (max(1, barrier.count // arrivals),) if barrier.count % arrivals == 0 else ones
    for rates in sorted(product(range(1, MOST_RATES + 1), repeat=min(len(parties), 4)), key=sum):
        if len(rates) < len(parties):
            break
        each = list(zip(rates, weights, sizes, strict=True))
        if all(sum(r * w * n[cta] for r, w, n in each) == barrier.count for cta in frozenset[int]().union(*sizes)):
            return rates
    return ones


def _executions(program: Program, barrier: Barrier, group: tuple[Event, ...]) -> int:
    """How often a thread executes some statements at a small size."""
    return len(by_thread(program, group, min(t for e in group for t, _ in channels(program, e)), barrier))


def _together(
    program: Program, barrier: Barrier, group: tuple[Event, ...], signals: Signals, start: int, phases: set[int]
) -> int:
    """Executions in one phase: so that there are as many phases as those who arrive make, or the statements that stand
    in one block; if the slots bear it out."""
    done = _executions(program, barrier, group)
    rates = [done // n for n in sorted(phases) if n and done and done % n == 0]
    rates += sorted({*Tallies(_block(e) for e in group).values(), 1}, reverse=True)
    return next((r for r in rates if _in_slots(program, barrier, group, r, signals, start)), 1)


def _block(event: Event) -> tuple[int, ...]:
    """The sequential loops around an event."""
    return tuple(s.position for s in event.path if s.loop is not None and s.loop.kind is LoopKind.SEQ)


def _in_slots(
    program: Program, barrier: Barrier, group: tuple[Event, ...], rate: int, signals: Signals, start: int
) -> bool:
    """At a small size, one thread's executions go through the slots `rate` at a time."""
    thread = min(t for e in group for t, _ in channels(program, e))
    walk = by_thread(program, group, thread, barrier)
    turns = ((start + n // rate) % barrier.ring for n in range(len(walk)))
    return all(evaluate(signals.slots[o.event.id], o.env) == slot for o, slot in zip(walk, turns, strict=True))


# -- waits -------------------------------------------------------------------------------------------------------------


def _growing(parity: Index, derived: dict[str, Derived]) -> Index:
    """A number of the same parity that grows where the parity flips."""
    match parity:
        case Bin("+" | "-", left, right):
            return Bin("+", _growing(left, derived), _growing(right, derived))
        case Bin("%", inner, Int(m)) if m % 2 == 0:
            return _growing(inner, derived)
        case Bin("*", Int(k), inner) | Bin("*", inner, Int(k)):
            return _growing(inner, derived) if k % 2 else Int(0)
        case Int(value):
            return Int(value % 2)
        case Var(name) if isinstance(found := derived.get(name), Counter) and found.modulus in (2, None):
            steps = f"steps of {name}"
            derived[steps] = replace(found, start=found.start % 2, modulus=None)
            return Var(steps)
        case _:
            return parity


def _phase(signals: Signals, barrier: Barrier, wait: Event, parity: Index, ahead: Index, start: int) -> Index:
    """Turn of the slot + ring x (phase in the slot)."""
    inside = parity if ahead == Int(0) else Bin("-", parity, Bin("*", Int(2), ahead))
    if barrier.ring == 1:
        return inside
    slot = signals.slots[wait.id]
    turn = Bin("%", Bin("-", slot, Int(start)), Int(barrier.ring)) if start else slot
    return Bin("+", turn, Bin("*", Int(barrier.ring), inside))


def _ahead(program: Program, barrier: Barrier, wait: Event, parity: Index, signals: Signals) -> Index:
    """How many times two the stated number is ahead of the phase: always as many, or by so many more or fewer in each
    iteration of a loop."""
    thread = min(t for t, _ in channels(program, wait))
    found = awaits(program, barrier.name)
    group = tuple(e for e in found if any(t == thread for t, _ in channels(program, e)))
    latest: dict[int, int] = {}
    gaps: list[tuple[Occurrence, int]] = []
    walk = by_thread(program, group, thread, barrier)
    mine = [o for o in walk if o.event.id == wait.id]
    if _jumps([(evaluate(signals.slots[wait.id], o.env), value(program, parity, o)) for o in mine]):
        return Int((_offset(parity) + 1) // 2)
    for o in walk:
        slot = evaluate(signals.slots[o.event.id], o.env)
        tested = value(program, signals.parities[o.event.id], o) % 2
        before = latest.get(slot)
        if before is None:
            latest[slot] = -1 if tested else 0
        elif before % 2 != tested:
            latest[slot] = before + 1
        if o.event.id == wait.id:
            gaps.append((o, (value(program, parity, o) - latest[slot]) // 2))
    return _linear(wait, gaps) if gaps else Int(0)


def _linear(wait: Event, values: Sequence[tuple[Occurrence, int]]) -> Index:
    """The values as a linear expression in the variables of the event's loops; the first one if they are not."""
    first, start = values[0]
    loops = [loop.var for loop in wait.loops if loop.kind is LoopKind.SEQ]
    slopes: dict[str, int] = {}
    for var in loops:
        alone = (
            (o, n)
            for o, n in values
            if o.env[var] == first.env[var] + 1 and all(o.env[v] == first.env[v] for v in loops if v != var)
        )
        slopes[var] = next((n - start for _, n in alone), 0)
    out: Index = Int(start - sum(slope * first.env[v] for v, slope in slopes.items()))
    for var, slope in slopes.items():
        out = plus(out, Bin("*", Int(slope), Var(var))) if slope else out
    return out if all(evaluate(out, o.env) == n for o, n in values) else Int(start)


def _jumps(stated: list[tuple[int, int]]) -> bool:
    """A number in a slot grows by more than one at once: others wait for what comes between, so it counts phases."""
    latest: dict[int, int] = {}
    found = False
    for slot, number in stated:
        found |= number > latest.get(slot, number) + 1
        latest[slot] = number
    return found


def _offset(parity: Index) -> int:
    """What is added to the number of a phase: 1 by those that wait for the one before in its slot."""
    match parity:
        case Bin("+", _, Int(k)):
            return k
        case Bin("-", _, Int(k)):
            return -k
        case _:
            return 0
