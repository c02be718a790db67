"""Named barriers that several teams use, each by itself enough for a generation.

Two warpgroups that take turns at a tile may use one barrier id for what each does alone; or a role meets a second and
then a third one at the same id. Such a barrier is told apart into one for each team, as if they had ids of their own.
This is right if no two generations of different teams overlap (PTX ISA, bar: a barrier that is complete may be used
again at once). It is shown that of any two joins by different teams one comes only after a wait for the generation of
the other has returned. That is enough, by induction over all joins in the order in which they are made: as long as
every generation so far was of one team, all waits have returned as if each team had an id of its own, and what is shown
of orders holds of what was done so far. Let a join y come where a join x of another team is in an incomplete
generation. No wait for that generation has returned, and none for the one of y, which is being made; but one of the two
is said to have returned before the other join. So there is no such x, and the generation of y is of one team, too; that
a team's own generations follow each other is shown of each team.

Statements are of one team if the same threads execute them; or if an execution has them meet in one generation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product

from exogpu.ir.collective import WARP
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.ir.skeleton.walk import placed
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.performed import AWAITED
from exogpu.verify.phases import Phases, arrives, channels, executors
from exogpu.verify.pieces import Piece
from exogpu.verify.program import ArriveAction, AwaitAction, Barrier, Event, Program
from exogpu.verify.result import Obligation
from exogpu.verify.skeleton.flows import parties
from exogpu.verify.skeleton.seen import seen
from exogpu.verify.skeleton.settle import obligation, settle

Team = tuple[int, ...]
"""The ids of the statements by which a team joins a barrier."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A named barrier and its teams."""

    barrier: Barrier
    teams: tuple[Team, ...]


def separated(program: Program, skeleton: Skeleton) -> tuple[Program, tuple[Shared, ...]]:
    """The program with a barrier for each team that uses a named barrier by itself, and which those were."""
    barriers, events, found = dict(program.barriers), list(program.events), list[Shared]()
    for barrier in program.barriers.values():
        if not barrier.named or barrier.split or barrier.whole:
            continue
        teams = _teams(program, barrier, skeleton)
        if len(teams) < 2:
            continue
        del barriers[barrier.name]
        for n, team in enumerate(teams):
            mine = replace(barrier, name=f"{barrier.name}, team {n + 1}")
            barriers[mine.name] = mine
            events = [_joining(e, barrier, team, mine.name) for e in events]
        found.append(Shared(barrier, teams))
    return replace(program, barriers=barriers, events=tuple(events)), tuple(found)


def _teams(program: Program, barrier: Barrier, skeleton: Skeleton) -> tuple[Team, ...]:
    """The teams of a barrier, if each is enough for a generation."""
    joins = arrives(program, barrier.name)
    if _enough(program, barrier, joins):
        return ()
    alike = tuple(statements for _, statements in parties(program, joins))
    for teams in (alike, *_met(program, barrier, joins, skeleton)):
        if all(_enough(program, barrier, team) for team in teams):
            return tuple(tuple(e.id for e in team) for team in teams)
    return ()


def _enough(program: Program, barrier: Barrier, joins: Sequence[Event]) -> bool:
    """In every CTA in which some joins it, all make up a generation."""
    warps = {(cta, thread // WARP) for e in joins for thread, cta in channels(program, e)}
    return all(sum(c == cta for c, _ in warps) * WARP == barrier.count for cta, _ in warps)


def _met(
    program: Program, barrier: Barrier, joins: Sequence[Event], skeleton: Skeleton
) -> Iterator[tuple[tuple[Event, ...], ...]]:
    """Joins of one barrier that meet in an execution, directly or through others."""
    spans = {path: stmt.span for path, stmt in placed(skeleton)}
    for observations in seen(skeleton):
        team = {e.id: e.id for e in joins}
        generations: dict[tuple[int, int], int] = {}
        for o in (o for o in observations if o.barrier == barrier.name):
            mine = (e for e in joins if e.span == spans[o.path] and o.thread in executors(program, e))
            for event in mine:
                one, other = team[event.id], team[generations.setdefault((o.cta, o.phase), event.id)]
                team = {e: other if t == one else t for e, t in team.items()}
        yield tuple(tuple(e for e in joins if team[e.id] == t) for t in sorted(set(team.values())))


def _joining(event: Event, barrier: Barrier, team: Team, name: str) -> Event:
    """A join or a wait of the team, on the barrier of its own; any other event as it is."""
    match event.action:
        case ArriveAction(joined) if joined == barrier.name and event.id in team:
            return replace(event, action=replace(event.action, barrier=name))
        case AwaitAction(joined) if joined == barrier.name and event.id - 1 in team:  # its join is right before
            return replace(event, action=replace(event.action, barrier=name))
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
