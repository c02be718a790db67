"""Named barriers that several teams use, each for itself and by itself enough for a generation.

Two warpgroups that take turns at a tile may use one barrier id for what each does alone. Such a barrier is told apart
into one for each team, as if they had ids of their own. This is right if no two generations of different teams overlap
(PTX ISA, bar: a barrier that is complete may be used again at once): so of any two joins by different teams, one comes
only when the other's generation is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product

from exogpu.ir.collective import WARP
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.performed import AWAITED
from exogpu.verify.phases import Phases, arrives, channels
from exogpu.verify.pieces import Piece
from exogpu.verify.program import ArriveAction, AwaitAction, Barrier, Event, Program
from exogpu.verify.result import Obligation
from exogpu.verify.skeleton.flows import Party, parties
from exogpu.verify.skeleton.settle import obligation, settle


@dataclass(frozen=True, slots=True)
class Shared:
    """A named barrier, and the ids of the statements by which each of its teams joins it."""

    barrier: Barrier
    teams: tuple[tuple[int, ...], ...]


def separated(program: Program) -> tuple[Program, tuple[Shared, ...]]:
    """The program with a barrier for each team that uses a named barrier by itself, and which those were."""
    barriers, events, found = dict(program.barriers), list(program.events), list[Shared]()
    for barrier in program.barriers.values():
        if not barrier.named or barrier.split or barrier.whole:
            continue
        teams = parties(program, arrives(program, barrier.name))
        if len(teams) < 2 or not all(_enough(program, barrier, team) for team in teams):
            continue
        del barriers[barrier.name]
        for n, team in enumerate(teams):
            mine = replace(barrier, name=f"{barrier.name} of team {n}")
            barriers[mine.name] = mine
            events = [_joining(e, program, barrier, team, mine.name) for e in events]
        found.append(Shared(barrier, tuple(tuple(e.id for e in statements) for _, statements in teams)))
    return replace(program, barriers=barriers, events=tuple(events)), tuple(found)


def _enough(program: Program, barrier: Barrier, team: Party) -> bool:
    """In every CTA in which it joins the barrier, the team makes up a generation."""
    warps = {(cta, thread // WARP) for thread, cta in team[0]}
    return all(sum(c == cta for c, _ in warps) * WARP == barrier.count for cta, _ in warps)


def _joining(event: Event, program: Program, barrier: Barrier, team: Party, name: str) -> Event:
    """A join or a wait of the team, on the barrier of its own; any other event as it is."""
    match event.action:
        case ArriveAction(joined) | AwaitAction(joined) if joined == barrier.name:
            mine = channels(program, program.events[event.id])
            return replace(event, action=replace(event.action, barrier=name)) if mine & team[0] else event
        case _:
            return event


def shared_pieces(program: Program, shared: Sequence[Shared]) -> Iterator[Piece]:
    """No two generations of a barrier by different teams overlap."""
    for one in shared:
        for mine, others in combinations(one.teams, 2):
            for x, y in product(mine, others):
                yield Piece(4, partial(_apart, barrier=one.barrier, pair=(x, y)))


def _apart(program: Program, barrier: Barrier, pair: tuple[int, int]) -> Iterator[Obligation]:
    x, y = (program.events[n] for n in pair)

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        return phases.same_cta(x, y)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return cta_meant(u.program, x) == cta_meant(u.program, y)

    title = f"{barrier.name} is free of those at line {x.span.line} when those at line {y.span.line} join it, or back"
    base = obligation(f"shared/{barrier.name}/{x.id}-{y.id}", "bar.recycle", title, y.span)
    yield settle(program, base, [Goal(base.name, x, y, condition, check, AWAITED, back=AWAITED)])
