"""Schedules that a user composes from operators: plain functions, proved step by step as everything else."""

from __future__ import annotations

from exogpu.ir.index import Var
from exogpu.ir.linear import literal
from exogpu.ir.stmt import For, If, Mode
from exogpu.ir.walk import walk
from exogpu.schedule.annotate import set_mode
from exogpu.schedule.cursor import Gap, Where
from exogpu.schedule.dimensions import expand_dim
from exogpu.schedule.errors import limit
from exogpu.schedule.guards import drop_guard
from exogpu.schedule.loops import fission, reorder
from exogpu.schedule.schedule import Schedule
from exogpu.schedule.scopes import lift_alloc, lift_scope
from exogpu.schedule.terms import subtract


def outwards(s: Schedule, loop: Where, levels: int = 1) -> Schedule:
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
    """Drops every `if` around a statement up to the first loop."""
    at = s.find(where)
    while isinstance((around := s.forward(at).parent()).stmt, If):
        s = drop_guard(s, around)
    return s


def spread(s: Schedule, alloc: Where, levels: int) -> Schedule:
    """Gives each iteration of the loops around an allocation an element of its own, and moves the allocation out:
    loops that then run in any order, or on different threads. Other statements around it are just left."""
    for _ in range(levels):
        at = s.find(alloc)
        around = at.parent().stmt
        if isinstance(around, For):
            trips = literal(subtract(around.hi, around.lo))
            if trips is None:
                raise limit(f"the trip count of `{around.var}` is not a literal", around.span)
            s = expand_dim(s, at, trips, subtract(Var(around.var), around.lo))
        s = lift_alloc(s, s.forward(at))
    return s


def modes(s: Schedule, mode: Mode, *names: str) -> Schedule:
    """Sets how loops are executed: all those with one of the names, or whose names were made from it by a number."""
    for stmt in walk(s.proc.body):
        if isinstance(stmt, For) and (stmt.var in names or _stem(stmt.var) in names):
            s = set_mode(s, stmt.var, mode)
    return s


def _stem(name: str) -> str:
    stem, _, number = name.rpartition("_")
    return stem if number.isdigit() else name
