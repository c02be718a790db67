"""Queries that have to decide every task of a walk, where coordinates decide what is counted: a model may leave open
which tasks lie between those that it is about, and a program is unrolled with all of them."""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.smt.poly import Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.derived import applied
from exogpu.verify.instance import Model
from exogpu.verify.ordinal import NoClosedForm, loop_filter
from exogpu.verify.program import TASK, TASKS, Applied, Event, LoopKind
from exogpu.verify.skipped import filters
from exogpu.verify.walk import coordinates

MOST = 6
"""Most tasks that a query is made to decide."""


def settle(model: Model, tasks: int) -> bool:
    """Lets a query know that each of the first `tasks` places has a task of its own, and how many tasks count before
    each; false if it knew, or there are too many."""
    meanings, functions = coordinates(model.program), model.ctx.functions
    if not meanings or tasks > MOST:
        return False
    known = len(functions.unknown), len(functions.counts)
    places = [lift(n) for n in range(tasks)]
    for place in places:
        _task(model, meanings, place)
    for event in model.program.events:
        _count(model, event, places)
    if known == (len(functions.unknown), len(functions.counts)):
        return False
    mentioned = dict.fromkeys(args[0] for name, args in functions.unknown if name in meanings)
    pairs = ((p, q) for p in places for q in mentioned if p != q)
    model.ctx.definitions += [_distinct(model, meanings, p, q) for p, q in pairs]
    return True


def _count(model: Model, event: Event, places: list[Poly]) -> None:
    for loop in event.loops:
        if loop.kind is LoopKind.TASK and filters(model.program, event, loop):
            try:
                chosen = loop_filter(model, event, loop)
            except NoClosedForm:
                continue  # then no query counts these tasks either
            for place in places:
                chosen.below(model.ctx, place)


def _task(model: Model, meanings: Mapping[str, Applied], place: Poly) -> list[Poly]:
    return [applied(model.ctx, meaning, {**model.sizes, TASK: place}) for meaning in meanings.values()]


def _distinct(model: Model, meanings: Mapping[str, Applied], place: Poly, other: Poly) -> Formula:
    """Another place has another task."""
    ctx = model.ctx
    alike = (ctx.eq(p, q) for p, q in zip(_task(model, meanings, place), _task(model, meanings, other), strict=True))
    walked = (ctx.between(0, p, model.sizes[TASKS]) for p in (place, other))
    return ctx.api.implies(ctx.api.conj((*walked, *alike)), ctx.eq(place, other))
