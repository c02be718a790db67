"""Bytes that only some phases of an mbarrier get: a scale that some tiles have, a tile that is not masked out.

How often such a copy has been issued says nothing about the phase. The arrivals of its thread do: the thread arrives
once for each phase, and the copy stands before that or behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index
from exogpu.verify.concrete import Occurrence
from exogpu.verify.phases import channels
from exogpu.verify.program import Barrier, Counted, Event, LoopKind, Program
from exogpu.verify.skeleton.flows import Flow
from exogpu.verify.skeleton.sample import by_thread


@dataclass(frozen=True, slots=True)
class Walk:
    """What a thread executes of some statements and of its arrives at a small size."""

    steps: tuple[Occurrence, ...]
    ids: frozenset[int]
    rate: int

    @property
    def mine(self) -> list[tuple[Occurrence, int]]:
        """Executions of the statements, each with how often the thread had arrived."""
        arrived = 0
        out: list[tuple[Occurrence, int]] = []
        for o in self.steps:
            if o.event.id in self.ids:
                out.append((o, arrived))
            else:
                arrived += 1
        return out

    @property
    def regular(self) -> bool:
        """Equally many executions for each phase, and none left out."""
        mine = self.mine
        phases = -(-(len(self.steps) - len(mine)) // self.rate)
        if not mine or not phases or len(mine) % phases:
            return not mine and not phases
        each, (_, first) = len(mine) // phases, mine[0]
        return all(n // each == arrived // self.rate - first // self.rate for n, (_, arrived) in enumerate(mine))

    @property
    def behind(self) -> bool:
        """Each execution follows an arrive of the same iteration of all loops that the two have in common."""
        before: list[Occurrence] = []
        for o in self.steps:
            if o.event.id not in self.ids:
                before.append(o)
            elif not any(_same_iteration(a, o) for a in before):
                return False
        return True

    def in_slots(self, lag: int, slots: Mapping[int, Index], start: int, ring: int) -> bool:
        """The slots that the statements name are those of the phases, `lag` behind what the thread has arrived for."""
        return all(
            evaluate(slots[o.event.id], o.env) == (arrived // self.rate - lag + start) % ring
            for o, arrived in self.mine
        )


def told_apart(
    program: Program,
    barrier: Barrier,
    group: tuple[Event, ...],
    arriving: Sequence[Flow],
    slots: Mapping[int, Index],
    start: int,
) -> Iterator[tuple[tuple[Event, ...], Counted | None]]:
    """Statements that contribute to every phase together; or else one by one, those that do not with their phases."""
    flow = next((f for f in arriving if all(channels(program, e) <= f.channels for e in group)), None)
    if flow is None or all(w.regular for w in _walks(program, barrier, group, flow)):
        yield group, None
        return
    for event in group:
        found = _walks(program, barrier, (event,), flow)
        regular = all(w.regular for w in found)
        yield (event,), None if regular else _by_arrivals(found, flow, slots, start, barrier.ring)


def _walks(program: Program, barrier: Barrier, group: tuple[Event, ...], arriving: Flow) -> list[Walk]:
    thread = min(t for e in group for t, _ in channels(program, e))
    both = (by_thread(program, (*group, *arriving.statements), thread, barrier, mixed=m) for m in (False, True))
    return [Walk(tuple(steps), frozenset(e.id for e in group), arriving.rate) for steps in both]


def _by_arrivals(found: Sequence[Walk], arriving: Flow, slots: Mapping[int, Index], start: int, ring: int) -> Counted:
    """The phases of a statement by what its thread has arrived for."""
    lags = [lag for lag in (0, 1) if all(w.in_slots(lag, slots, start, ring) for w in found)]
    lag = lags[0] if len(lags) == 1 else int(all(w.behind for w in found))
    return Counted(tuple(e.id for e in arriving.statements), arriving.rate, lag)


def _same_iteration(a: Occurrence, b: Occurrence) -> bool:
    for mine, theirs in zip(a.event.path, b.event.path, strict=False):
        if mine.position != theirs.position or mine.loop is None or mine.loop.kind is not LoopKind.SEQ:
            return True
        if a.env[mine.loop.var] != b.env[mine.loop.var]:
            return False
    return True
