"""The lives of an mbarrier as they seem to be at a small size, and the numbers of what begins and ends them, and waits
in them. What is read off here is shown for all sizes by `lives`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exogpu.verify.concrete import Occurrence
from exogpu.verify.phases import awaits, channels
from exogpu.verify.program import ArriveAction, Barrier, Counted, Event, Program, TxOn
from exogpu.verify.skeleton.barriers import Signals
from exogpu.verify.skeleton.flows import Flow, parties
from exogpu.verify.skeleton.lives import Lives, uses
from exogpu.verify.skeleton.rounds import Rounds, life_at, rounds
from exogpu.verify.skeleton.sample import by_thread, value
from exogpu.verify.skeleton.unsupported import NotModelled

A_ROUND_EACH = "begin, use and end each life in an iteration of a loop, or use an mbarrier for each"


def numbered_lives(
    program: Program, barrier: Barrier, flows: Sequence[Flow], signals: Signals
) -> tuple[Lives, Mapping[int, Counted]]:
    """The lives of a barrier that ends, and the numbers of what begins and ends them; of its waits, too, if a life has
    a number of phases. As with all phases, what is read off a small size is shown afterwards."""
    inits, invals = tuple(signals.inits.get(barrier.name, ())), tuple(signals.invals.get(barrier.name, ()))
    declared = signals.arrays[barrier.name.partition("[")[0]].count is not None
    before = barrier.ring if declared else 0
    numbers = _by_one_thread(program, inits, -before) | _by_one_thread(program, invals, 0)
    begun = len(_walk(program, inits, barrier)) // barrier.ring + declared
    elements = signals.ring_of[barrier.name]
    lives = Lives(barrier, elements, inits, invals, declared, None, signals.slots, signals.parities, {})
    arriving = next((f for f in flows if f.arrivals), None)
    if any(f.turns is not None for f in flows):
        raise NotModelled(f"threads take turns at {barrier.name}, which ends", barrier.span)
    if begun <= 1 or arriving is None:
        return lives, numbers
    phases = len(_walk(program, arriving.statements, barrier)) // arriving.rate
    lives = replace(lives, rounds=_rounds(program, lives))
    if lives.rounds is None and not phases:
        unseen = f"how many phases a life of `{barrier.name}` has is not seen at a small size"
        raise NotModelled(unseen, barrier.span, A_ROUND_EACH)
    if lives.rounds is None and phases % (begun * barrier.ring):
        raise NotModelled(f"the lives of {barrier.name} do not have equally many phases in each slot", barrier.span)
    lags: dict[int, int] = {}
    waiting: list[Flow] = []
    for through, waits in parties(program, awaits(program, barrier.name)):
        walk = _walk(program, waits, barrier)
        rate = max(1, len(walk) // phases) if phases else 1
        ahead = walk and value(program, signals.parities[walk[0].event.id], walk[0]) % 2
        for wait in waits:
            lags[wait.id] = barrier.ring if ahead else 0
            numbers[wait.id] = Counted(tuple(w.id for w in waits), rate, lags[wait.id])
        waiting.append(Flow(through, waits, rate, 0))
    if any(lags.values()) and any(map(_after_copies, uses(program, barrier))):
        unheard = f"a wait of one life of {barrier.name} passes at once, and copies of threads arrive in the one before"
        raise NotModelled(unheard, barrier.span)
    return replace(lives, each=phases // begun, lags=lags, waiting=tuple(waiting)), numbers


def _after_copies(use: Event) -> bool:
    """It arrives, or lets a phase end, when the thread's cp.async have landed: such an arrival publishes nothing else
    that comes before it, and what they have written is not known at the end of a life."""
    hold = isinstance(use.completion, TxOn) and use.completion.holds
    return hold or (isinstance(use.action, ArriveAction) and use.action.after_copies)


def _rounds(program: Program, lives: Lives) -> Rounds | None:
    """The loops of which an iteration is a life: so it seems at a small size."""
    found = rounds((*lives.inits, *lives.invals, *uses(program, lives.barrier)))
    for n, o in enumerate(_walk(program, lives.inits, lives.barrier) if found is not None else ()):
        if found is None or life_at(found, o) != n // lives.barrier.ring:
            return None
    return found


def _by_one_thread(program: Program, events: tuple[Event, ...], lag: int) -> dict[int, Counted]:
    """Each execution is numbered by those before; in every CTA one thread does them all."""
    found = parties(program, events)
    threads = {(t, cta) for through, _ in found for t, cta in through}
    if len(found) > 1 or len(threads) > len({cta for _, cta in threads}):
        raise NotModelled(f"{events[0].label} is executed by several threads of a CTA", events[0].span)
    return {e.id: Counted(tuple(s.id for s in events), 1, lag) for e in events}


def _walk(program: Program, events: Sequence[Event], barrier: Barrier) -> list[Occurrence]:
    """What one thread executes of some statements at a small size."""
    threads = sorted(t for e in events for t, _ in channels(program, e))
    return by_thread(program, events, threads[0], barrier) if threads else []
