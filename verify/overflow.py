"""No index expression that the emitted code evaluates overflows 32 bits: loop bounds, guards and indices alike.

Each is checked where it is evaluated: a loop's bounds before the loop is entered, a guard before it is known to hold,
the parts of `and`, `or` and `select` in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.ir.computed import computed_by_cond, subterms
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Bin, Index, Int
from exogpu.ir.types import Gmem
from exogpu.ir.walk import index_names
from exogpu.smt.index import to_formula, to_poly
from exogpu.smt.terms import Formula
from exogpu.verify.claim import Claim
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.phases import Phases
from exogpu.verify.program import TASKS, Computed, Event, Exec, Program, Step
from exogpu.verify.single import Property

INT_MAX = 2**31 - 1
"""Largest value of the 32-bit integers in which the emitter computes indices."""


def overflow_claims(program: Program) -> Iterator[Claim]:
    """One claim per loop, guard and statement that computes anything."""
    for buffer in program.buffers.values():
        if isinstance(buffer.memory, Gmem):
            extents = tuple(Computed(e) for e in buffer.shape)
            carrier = replace(_at(program.events[0], (), 0), label=f"shape of {buffer.name}", span=buffer.span)
            yield from _claim(carrier, extents, f"shape {buffer.name}")
    for task in program.tasks:
        trips = (Computed(task.lo), Computed(task.hi), Computed(Bin("-", task.hi, task.lo)))
        carrier = replace(_at(program.events[0], (), 0), label=f"task loop {task.name}", span=program.span)
        yield from _claim(carrier, trips, f"task {task.name}")
    loops: set[str] = set()
    guards: set[tuple[int, str]] = set()
    for event in program.events:
        for depth, step in enumerate(event.path):
            if step.loop is not None and step.loop.var not in loops:
                loops.add(step.loop.var)
                bounds = (Computed(step.loop.lo), Computed(step.loop.hi))
                yield from _claim(_at(event, event.path[:depth], step.guards), bounds, f"loop {step.loop.var}")
        for n, guard in enumerate(event.guards):
            key = (n, str(event.guards[: n + 1]) + str([s.position for s in _outside(event, n)]))
            if key not in guards:
                guards.add(key)
                parts = tuple(Computed(*c) for c in computed_by_cond(guard))
                yield from _claim(_at(event, _outside(event, n), n), parts, f"guard {event.id}.{n}")
        yield from _claim(event, event.computed, f"statement {event.id}")


def _outside(event: Event, guard: int) -> tuple[Step, ...]:
    """The loops around a guard."""
    return tuple(s for s in event.path if s.loop is not None and s.guards <= guard)


def _at(event: Event, loops: tuple[Step, ...], guards: int) -> Event:
    """An event at an earlier place of the same statement: only some loops are entered and guards passed."""
    return replace(
        event,
        path=(*loops, Step(event.path[-1].position, None)),
        guards=event.guards[:guards],
        first=Int(0),
        size=1,
        exec=Exec.FIRST,
        accesses=(),
        action=None,
        completion=None,
    )


def _claim(event: Event, computed: tuple[Computed, ...], what: str) -> Iterator[Claim]:
    terms = {(t, c.under) for c in computed for t in subterms(c.index) if index_names(t) - {TASKS}}
    if not terms:
        return
    ordered = sorted(terms, key=str)

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx, env = model.ctx, xs[0].env

        def too_large(e: Index) -> Formula:
            value = to_poly(ctx, e, env)
            return ctx.api.disj((ctx.lt(INT_MAX, value), ctx.lt(value, -INT_MAX)))

        return ctx.api.disj(
            ctx.api.conj((*(to_formula(ctx, c, env) for c in under), too_large(term))) for term, under in ordered
        )

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        env = xs[0].env
        return any(all(holds(c, env) for c in under) and abs(evaluate(t, env)) > INT_MAX for t, under in ordered)

    yield Claim(
        Property(f"overflow/{what}", (event,), bad, check),
        "index.overflow",
        f"index arithmetic of {what.split()[0]} at line {event.span.line} fits 32 bits",
        "index arithmetic overflows 32 bits",
        event.span,
        "bound the sizes with require(...)",
    )
