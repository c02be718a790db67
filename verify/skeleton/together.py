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
from exogpu.verify.phases import Phases, barrier_cta
from exogpu.verify.program import ArriveAction, Event, LoopKind, Program

AXIOM = "L13"


def by_another(program: Program, goal: Goal, slots: Mapping[int, Index]) -> Iterator[Goal]:
    """The goals that, each by itself, show that an arrive on another CTA's barrier comes first because one at its side
    does."""
    if AXIOM not in program.axioms:
        return
    for other in _beside(program, goal.source, slots):
        yield _instead(goal, other)


def _beside(program: Program, arrive: Event, slots: Mapping[int, Index]) -> Iterator[Event]:
    """Arrives by the same threads, in the same iterations, on the same slot of other CTAs; nothing but such between."""
    for step in (-1, 1):
        n = arrive.id + step
        while 0 <= n < len(program.events) and _alike(program.events[n], arrive, slots):
            yield program.events[n]
            n += step


def _alike(one: Event, other: Event, slots: Mapping[int, Index]) -> bool:
    if not isinstance(one.action, ArriveAction) or not isinstance(other.action, ArriveAction):
        return False
    same = one.action.barrier == other.action.barrier and slots.get(one.id) == slots.get(other.id)
    apart = barrier_cta(one) is not None and barrier_cta(one) != barrier_cta(other)
    return same and apart and _place(one) == _place(other)


def _place(event: Event) -> tuple[object, ...]:
    """The threads that execute it, and when."""
    around = [step.position for step in event.path if step.loop is not None and step.loop.kind is LoopKind.SEQ]
    return event.role, tuple(around), event.loops, event.guards, event.first, event.size, event.exec


def _instead(goal: Goal, other: Event) -> Goal:
    """The goal with `other` as what comes first, in the iterations of its own source."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        return goal.condition(model, phases, model.at(goal.source, x.env), y)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return goal.check(u, locate(goal.source, x.env), y)

    needs = replace(AWAITED, axioms=AWAITED.axioms | {AXIOM})
    return Goal(f"{goal.name}/{other.id}", other, goal.target, condition, check, needs)
