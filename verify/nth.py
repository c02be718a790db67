"""The execution of a statement that its thread makes as the n-th: named by its number where loops do not keep step."""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.smt.index import to_formula
from exogpu.smt.poly import Poly, lift
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.derived import steps_before
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import Actor, count_before, count_total, thread_guards
from exogpu.verify.program import Event, LoopKind, Program


def sequential(event: Event) -> list[str]:
    """The loop variables that tell a thread's executions of a statement apart."""
    return [loop.var for loop in event.loops if loop.kind is LoopKind.SEQ]


def number(program: Program, item: Occurrence, sizes: Env) -> int:
    """How often the thread has executed the statement before."""
    return steps_before(program, item.event.id, item.event, {**sizes, **item.env}, 0)


def executions(model: Model, x: Instance) -> Poly:
    """The same of a symbolic instance."""
    return count_before(model, x.event, x, Actor(x.threads.first, lift(0)))


def nth(model: Model, event: Event, env: Mapping[str, Poly], n: Poly, key: str) -> Instance:
    """The execution number `n` of a statement, in the loops over threads that `env` says; it exists if the thread there
    executes the statement, and so often. `key` is for the names of its loop variables."""
    ctx = model.ctx
    chosen = {var: ctx.fresh(f"{key}.{var}") for var in sequential(event)}
    out = model.at(event, {**env, **chosen})
    who = Actor(out.threads.first, lift(0))
    known = {**model.sizes, **env}
    by_thread = [model.inside(loop, known) for loop in event.loops if loop.kind is not LoopKind.SEQ]
    by_thread += [*model.lanes(event, known), *(to_formula(ctx, g, known) for g in thread_guards(event))]
    exists = ctx.api.conj((*by_thread, ctx.le(0, n), ctx.lt(n, count_total(model, event, who))))
    found = ctx.api.conj((out.domain, ctx.eq(count_before(model, event, out, who), n)))
    ctx.definitions.append(ctx.api.implies(exists, found))
    return out
