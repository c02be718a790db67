"""Who moves next: executions under schedules that favour some strands and hold others back."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from exogpu.verify.explore.ending import verdict
from exogpu.verify.explore.finding import Finding, Violation
from exogpu.verify.explore.flights import Flight
from exogpu.verify.explore.hints import Early, Hint, Late
from exogpu.verify.explore.machine import Machine
from exogpu.verify.explore.outcome import Excessive
from exogpu.verify.explore.phases import lands
from exogpu.verify.explore.program import Strand
from exogpu.verify.explore.step import able, advance, begin, release_warps

NO_LIMIT = 1 << 30
MOST_STEPS = 200_000


@dataclass(frozen=True, slots=True)
class Schedule:
    """Strands in order of preference. Asynchronous operations complete as late or as early as possible; with a seed,
    strands and operations move at random (preferences change at random moments). `bend`: the order that is to change.
    """

    order: tuple[int, ...]
    landing: Literal["late", "early"] = "late"
    seed: int | None = None
    bend: Hint | None = None


def run(m: Machine, schedule: Schedule) -> Finding | None:
    """Executes to the end: what went wrong, if anything. Milder findings are in `m.mild`."""
    try:
        begin(m)
        match schedule.bend:
            case Late():
                _to_the_end(m, schedule, schedule.bend)
                if not schedule.bend.flight and not _everybody_ended(m):
                    _to_the_end(m, schedule, None)
            case Early():
                _bring_forward(m, schedule, schedule.bend)
                _without(m, schedule, schedule.bend)
                _to_the_end(m, schedule, None)
            case None:
                _to_the_end(m, schedule, None)
        return verdict(m)
    except Violation as violation:
        return violation.finding


def _everybody_ended(m: Machine) -> bool:
    return all(m.pc[s.number] == len(s.events) for s in m.program.strands)


def _to_the_end(m: Machine, schedule: Schedule, held: Late | None) -> None:
    """Until nothing moves, without what is held back."""
    strands = [m.program.strands[n] for n in schedule.order]
    random = None if schedule.seed is None else Random(schedule.seed)
    for _ in range(MOST_STEPS):
        if random is not None and random.random() < 0.1:
            random.shuffle(strands)
        if not _one(m, schedule, strands, random, held):
            return
    raise Excessive(f"an execution has more than {MOST_STEPS} steps")


def _one(m: Machine, schedule: Schedule, strands: list[Strand], random: Random | None, held: Late | None) -> bool:
    """One step; false if nothing can move."""
    if m.air and (schedule.landing == "early" or (random is not None and random.random() < 0.3)):
        flight = _landing(m, held, random)
        if flight is not None:
            lands(m, flight)
            return True
    for s in strands:
        limit = held.pos if held is not None and not held.flight and held.strand == s.number else NO_LIMIT
        if m.pc[s.number] < limit and able(m, s):
            advance(m, s, limit)
            return True
    if release_warps(m):
        return True
    flight = _landing(m, held, random)
    if flight is None:
        return False
    lands(m, flight)
    return True


def _landing(m: Machine, held: Late | None, random: Random | None) -> Flight | None:
    """An operation in flight that may end now, the oldest unless at random."""
    found = [f for f in m.air if held is None or not held.flight or (f.actor, f.index) != (held.strand, held.pos)]
    if not found:
        return None
    return found[0] if random is None else random.choice(found)


def _bring_forward(m: Machine, schedule: Schedule, early: Early) -> None:
    """Executes what must come before an event or the end of an operation, and then that."""
    strands = [m.program.strands[n] for n in schedule.order]
    target = m.program.strands[early.strand]
    limits = list(early.seen)
    limits[target.number] = early.pos + early.flight
    for _ in range(MOST_STEPS):
        mine = next((f for f in m.air if (f.actor, f.index) == (early.strand, early.pos)), None)
        if early.flight and mine is not None:
            lands(m, mine)
            return
        if not early.flight and m.pc[target.number] == early.pos and able(m, target):
            advance(m, target, early.pos + 1)
            return
        if not _limited(m, strands, limits, early.over):
            return


def _without(m: Machine, schedule: Schedule, early: Early) -> None:
    """Lets everybody go on but those that are missing."""
    strands = [m.program.strands[n] for n in schedule.order if n not in early.missing]
    for _ in range(MOST_STEPS):
        if not _one(m, schedule, strands, None, None):
            return
    raise Excessive(f"an execution has more than {MOST_STEPS} steps")


def _limited(m: Machine, strands: list[Strand], limits: list[int], over: frozenset[tuple[int, int]]) -> bool:
    """One step of what must come before; false if nothing can move."""
    for s in strands:
        if m.pc[s.number] < limits[s.number] and able(m, s):
            advance(m, s, limits[s.number])
            return True
    if release_warps(m):
        return True
    flight = next((f for f in m.air if (f.actor, f.index) in over), None)
    if flight is None:
        return False
    lands(m, flight)
    return True
