"""Why nothing orders a violated pair, and what would: the rule to report, and the advice."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Commit, Group
from exogpu.verify.concrete import Occurrence, Unrolling, occurrences
from exogpu.verify.graph import PathNode, Search
from exogpu.verify.needs import FenceKind, Needs
from exogpu.verify.ordering import Violated
from exogpu.verify.program import ArriveAction, ExitAction, InGroup, Loop, LoopKind
from exogpu.verify.races import Conflict, hazard
from exogpu.verify.text import CLOSING, ENDING, HELP, LANDING, fence_help, lane_help, relaxed_help, split_help

RACES = ("race.raw", "race.war", "race.waw", "smem.reuse")


def broken_rule(outcome: Violated, conflict: Conflict) -> str:
    """The most telling rule: what the pair lacks, if a little more would have ordered it.

    A fence of the wrong state space, a missing fence on an ordered pair, an order that holds for the first thread of
    the warp or warpgroup only, or none at all.
    """
    needs = conflict.goal.needs
    if needs.fence is not None and _path(outcome, _plain(needs)) is not None:
        narrow = needs.fence is FenceKind.GLOBAL and _ordered(outcome, replace(needs, fence=FenceKind.SHARED))
        narrow |= needs.home is not None and _ordered(outcome, replace(needs, home=None))
        return "fence.state_space" if narrow else conflict.rule
    if isinstance(conflict.second.event.action, ExitAction) or conflict.rule.startswith("wgmma."):
        return conflict.rule
    if conflict.reuses:
        return "smem.reuse"
    if _releasing(outcome, _plain(needs)) is not None:
        return "mbar.lane_release"
    return hazard(conflict.first.access, conflict.second.access)


def advice(rule: str, outcome: Violated, conflict: Conflict) -> str | None:
    """What to write instead, as precisely as the counterexample tells."""
    return _by_rule(rule, outcome, conflict) or HELP.get(rule)


def _by_rule(rule: str, outcome: Violated, conflict: Conflict) -> str | None:
    needs = conflict.goal.needs
    match rule:
        case "proxy.generic_to_async" | "fence.state_space":
            return _fence(outcome, needs)
        case "race.async_inflight":
            return _ending(conflict)
        case "mbar.lane_release":
            found = _releasing(outcome, _plain(needs))
            return None if found is None else lane_help(found, outcome.x.first in _collective(found))
        case _:
            relaxed = _relaxed(outcome, _plain(needs))
            if relaxed is not None:
                return relaxed_help(relaxed)
            if rule in RACES and conflict.first.event.completion == InGroup(Group.COPY):
                return LANDING
            loop = _common_threads(outcome.x, outcome.y)
            return split_help(loop.var) if rule in RACES and loop is not None else None


def _ending(conflict: Conflict) -> str | None:
    match conflict.first.event.completion:
        case InGroup(group):
            return ENDING[group]
        case _:
            return None


def _plain(needs: Needs) -> Needs:
    return replace(needs, fence=None)


def _path(outcome: Violated, needs: Needs) -> list[PathNode] | None:
    return Search(outcome.unrolling, outcome.x, needs, everybody=True).path_to(outcome.y)


def _ordered(outcome: Violated, needs: Needs) -> bool:
    return _path(outcome, needs) is not None


# -- particular reasons ------------------------------------------------------------------------------------------------


def unclosed(outcome: Violated) -> str | None:
    """Advice if the thread of the first access never closes the group that the operation is a member of."""
    x, completion = outcome.x, outcome.x.event.completion
    if not isinstance(completion, InGroup):
        return None
    u, closes = outcome.unrolling, Commit(completion.group)
    later = (u.items[n] for n in u.trace(x.first) if u.items[n].key > x.key)
    return None if any(o.event.action == closes for o in later) else CLOSING[completion.group]


def _fence(outcome: Violated, needs: Needs) -> str:
    """A proxy fence stands in the CTA of the asynchronous operation, and covers that CTA's memory or all."""
    x, y, program = outcome.x, outcome.y, outcome.unrolling.program
    here, there = (o.first // program.threads for o in (x, y))
    home = there if needs.home is None else evaluate(needs.home, y.env)
    return fence_help(
        y.event,
        everywhere=needs.fence is FenceKind.GLOBAL or home != there,
        abroad=here != there,
        both="L1" not in program.axioms,
    )


def _releasing(outcome: Violated, needs: Needs) -> Occurrence | None:
    """An arrive that would have ordered the pair if the first thread of the warp or warpgroup had made the first
    access."""
    u, x = outcome.unrolling, outcome.x
    cta, local = divmod(x.first, u.program.threads)
    leaders = {cta * u.program.threads + local // size * size for size in (WARP, WARPGROUP)}
    peers = occurrences(u.program, x.event, u.sizes, u.tasks)
    leaders &= {t for o in peers if x.event.completion is None or o.key == x.key for t in o.threads}
    for thread in sorted(leaders - {x.first}):
        path = _path(replace(outcome, x=replace(x, first=thread)), needs) or []
        found = next((n.item for n in path if isinstance(n.item.event.action, ArriveAction)), None)
        if found is not None:
            return found
    return None


def _collective(arrive: Occurrence) -> range:
    """The threads whose first one arrives."""
    return range(arrive.first, arrive.first + arrive.event.size)


def _relaxed(outcome: Violated, needs: Needs) -> Occurrence | None:
    """A relaxed arrive that would order the pair if it were an ordinary one."""
    u = outcome.unrolling
    events = u.program.events
    if not any(isinstance(e.action, ArriveAction) and e.action.relaxed for e in events):
        return None
    strong = tuple(
        replace(e, action=replace(e.action, relaxed=False)) if isinstance(e.action, ArriveAction) else e for e in events
    )
    would = Unrolling(replace(u.program, events=strong), u.sizes, u.tasks)
    for node in _path(replace(outcome, unrolling=would), needs) or []:
        action = events[node.item.event.id].action
        if isinstance(action, ArriveAction) and action.relaxed:
            return node.item
    return None


def _common_threads(x: Occurrence, y: Occurrence) -> Loop | None:
    """The loop over threads, common to two statements, in different iterations of which the two are, and which alone
    puts them in sequence."""
    if x.event is y.event:
        return None
    for a, b in zip(x.event.path, y.event.path, strict=False):
        if a.position != b.position or a.loop is None or b.loop is None:
            return None
        if x.env[a.loop.var] != y.env[b.loop.var]:
            return a.loop if a.loop.kind is LoopKind.THREADS else None
    return None
