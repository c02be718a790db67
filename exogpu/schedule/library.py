"""Schedules that a user composes from operators: plain functions, proved step by step as everything else."""

from __future__ import annotations

from exogpu.ir.stmt import For, If
from exogpu.schedule.cursor import Gap, Where
from exogpu.schedule.guards import drop_guard
from exogpu.schedule.loops import fission, reorder
from exogpu.schedule.schedule import Schedule
from exogpu.schedule.scopes import lift_scope


def outwards(s: Schedule, loop: Where, levels: int) -> Schedule:
    """Moves a loop out of the statements around it, loops and `if` alike."""
    at = s.find(loop)
    for _ in range(levels):
        at = s.forward(at)
        around = at.parent()
        s = reorder(s, around) if isinstance(around.stmt, For) else lift_scope(s, at)
    return s


def apart(s: Schedule, gap: Gap, levels: int) -> Schedule:
    """Cuts the statements around a place in two, from the inside out."""
    for _ in range(levels):
        around = s.forward(gap.at).parent()
        s = fission(s, gap)
        gap = s.forward(around).after
    return s


def unguarded(s: Schedule, where: Where) -> Schedule:
    """Drops every `if` around a statement that is the whole body of it, up to the first loop."""
    at = s.find(where)
    while len(s.forward(at).path) > 1 and isinstance((around := s.forward(at).parent()).stmt, If):
        s = drop_guard(s, around)
    return s
