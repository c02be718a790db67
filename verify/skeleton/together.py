"""Arrives of a thread that follow each other directly, on the barriers of several CTAs: taken to count at one time
(axiom L13), so that what comes after one of them comes after all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from exogpu.ir.index import Index
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling, locate
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.performed import AWAITED
from exogpu.verify.phases import Phases, barrier_cta, executors
from exogpu.verify.program import ArriveAction, Event, LoopKind, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.skeleton.settle import each_of, settle

AXIOM = "L13"


def comes_first(program: Program, base: Obligation, goal: Goal, slots: Mapping[int, Index]) -> Obligation:
    """Proved if the goal is: in every CTA that its target is executed in by itself, or because an arrive at the side of
    its source comes first."""
    found = settle(program, base, (goal,))
    if found.status is Status.PROVED or AXIOM not in program.axioms:
        return found
    others = [_instead(goal, other) for other in _beside(program, goal.source, slots)]
    if not others:
        return found
    ctas = sorted({t // program.threads for t in executors(program, goal.target)})
    return each_of(program, base, [[_within(g, cta) for g in (goal, *others)] for cta in ctas])


def _beside(program: Program, arrive: Event, slots: Mapping[int, Index]) -> Iterator[Event]:
    """Arrives by the same threads, in the same iterations, on the same slot of other CTAs; nothing but such between,
    or those of other threads."""
    for step in (-1, 1):
        n = arrive.id + step
        while 0 <= n < len(program.events) and _around(program.events[n]) == _around(arrive):
            if _same_threads(program.events[n], arrive) and slots.get(n) == slots.get(arrive.id):
                yield program.events[n]
            n += step


def _around(event: Event) -> tuple[object, ...]:
    """For arrives, on the own CTA's or on another's barrier, the barrier, and the loops around them; else the event."""
    if not isinstance(event.action, ArriveAction):
        return (event.id,)
    loops = [(step.position, step.loop) for step in event.path if step.loop and step.loop.kind is LoopKind.SEQ]
    return event.role, event.action.barrier, tuple(loops)


def _same_threads(one: Event, other: Event) -> bool:
    who, when = ((e.loops, e.first, e.size, e.exec, e.guards) for e in (one, other))
    return who == when and barrier_cta(one) != barrier_cta(other)


def _instead(goal: Goal, other: Event) -> Goal:
    """The goal with `other` as what comes first, in the iterations of its own source."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        return goal.condition(model, phases, model.at(goal.source, x.env), y)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return goal.check(u, locate(goal.source, x.env), y)

    needs = replace(AWAITED, axioms=AWAITED.axioms | {AXIOM})
    return Goal(f"{goal.name}/{other.id}", other, goal.target, condition, check, needs)


def _within(goal: Goal, cta: int) -> Goal:
    """The goal for targets in a CTA."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        here = model.ctx.eq(phases.own_cta(y), cta)
        return model.ctx.api.conj((goal.condition(model, phases, x, y), here))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return y.first // u.program.threads == cta and goal.check(u, x, y)

    return replace(goal, name=f"{goal.name}, CTA {cta}", condition=condition, check=check)
