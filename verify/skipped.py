"""Iterations counted by those that unknown numbers let pass: the k-th one before or after another."""

from __future__ import annotations

from exogpu.ir.evaluate import holds
from exogpu.ir.walk import index_names
from exogpu.smt.index import to_poly
from exogpu.smt.poly import Poly
from exogpu.verify.concrete import Env
from exogpu.verify.derived import concrete, used
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import NoClosedForm, loop_filter
from exogpu.verify.program import Applied, Event, Loop, LoopKind, Program


def filters(program: Program, event: Event, loop: Loop) -> bool:
    """Unknown numbers decide in which iterations of the loop an event is executed."""
    return any(loop.var in index_names(a) for meaning in _unknown(program, event) for a in meaning.args)


def _unknown(program: Program, event: Event) -> list[Applied]:
    tested = frozenset[str]().union(*(index_names(g) for g in event.guards))
    found = (program.derived[n] for n in used(program, event) if n in tested)
    return [m for m in found if isinstance(m, Applied)]


def steps(program: Program, event: Event, loop: Loop, at: Env, here: int) -> int:
    """How many passing iterations the one in `at` lies after iteration `here`; negative if it lies before."""
    there = at[loop.var]
    between = range(there, here) if there < here else range(here + 1, there + 1)
    passing = sum(_passes(program, event, {**at, loop.var: v}) for v in between)
    return -passing if there < here else passing


def _passes(program: Program, event: Event, env: Env) -> bool:
    known = {**env, **{n: concrete(program, n, event, env) for n in used(program, event)}}
    return all(holds(g, known) for g in event.guards)


def iteration(model: Model, event: Event, loop: Loop, here: Poly, distance: int) -> Poly:
    """The iteration that lies `distance` passing ones after iteration `here` (before, if negative).

    It exists if as many pass on that side: the count grows by one at a time.
    """
    ctx, found = model.ctx, loop_filter(model, event, loop)
    lo, hi = (to_poly(ctx, e, model.sizes) for e in (loop.lo, loop.hi))
    first, end = (lo, here) if distance < 0 else (here + 1, hi)
    wanted = found.below(ctx, here) + distance if distance < 0 else found.below(ctx, here + 1) + (distance - 1)
    v = ctx.fresh(f"skip#{len(ctx.definitions)}")
    exists = ctx.api.conj((ctx.le(found.below(ctx, first), wanted), ctx.lt(wanted, found.below(ctx, end))))
    there = ctx.api.conj((ctx.between(first, v, end), found.passes(ctx, v), ctx.eq(found.below(ctx, v), wanted)))
    ctx.definitions.append(ctx.api.implies(exists, there))
    return v


def mention(model: Model, x: Instance) -> bool:
    """Lets a query know that the iterations of an instance are among those that pass; false if it knew."""
    counts = model.ctx.functions.counts
    known = len(counts)
    for loop in x.event.loops:
        if loop.kind in (LoopKind.SEQ, LoopKind.TASK) and filters(model.program, x.event, loop):
            try:
                loop_filter(model, x.event, loop).below(model.ctx, x[loop.var])
            except NoClosedForm:
                continue  # then no query counts these iterations either
    return len(counts) > known
