"""Ordering obligations across buffers that share storage: whatever one of them still does to a byte comes before
anything that a later owner of the byte does.

Two accesses conflict if some row of the one and some row of the other have bytes in common, ring slots included. Where
swizzling permutes the bytes of a row, all that it permutes them with count as touched; a pair that meets only there is
no violation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import permutations

from exogpu.smt.index import to_formula
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases
from exogpu.verify.program import Access, Buffer, Program
from exogpu.verify.races import (
    Conflict,
    Use,
    common_range,
    concrete_box,
    conflicting,
    either_reading,
    happens,
    ordering_needs,
)
from exogpu.verify.spans import common_bytes, place_of, some_row


def reuse_conflicts(program: Program) -> Iterator[Conflict]:
    """Every ordered pair of conflicting accesses to two buffers with common storage."""
    uses: dict[str, list[Use]] = {}
    for event in program.events:
        for access in event.accesses:
            uses.setdefault(access.buffer, []).append(Use(event, access))
    pooled = [b for b in program.buffers.values() if b.storage is not None]
    for one, other in permutations(pooled, 2):
        if one.storage is None or other.storage is None or not one.storage.overlaps(other.storage):
            continue
        for first in uses.get(one.name, ()):
            for second in uses.get(other.name, ()):
                if conflicting(first.access, second.access):
                    yield either_reading(partial(_pair, program, one, other), first, second)


def _pair(program: Program, one: Buffer, other: Buffer, first: Use, second: Use) -> Conflict:
    needs = ordering_needs(program, one, first, second)

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx = model.ctx
        a = some_row(model, phases, one, x, first.access, "x")
        b = some_row(model, phases, other, y, second.access, "y")
        guards = [to_formula(ctx, g, i.env) for i, u in ((x, first), (y, second)) for g in u.access.guards]
        return ctx.api.conj(
            (
                model.before(x, y),
                model.same_task(x, y),
                ctx.lt(a[0], b[1]),
                ctx.lt(b[0], a[1]),
                _one_cta(model, one, x, first.access, y, second.access),
                *guards,
            )
        )

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        if not x.key < y.key or not (happens(x, first.access) and happens(y, second.access)):
            return False
        if one.per_cta and not common_range(concrete_box(x, first.access)[0], concrete_box(y, second.access)[0], None):
            return False
        return bool(common_bytes(u, (one, x, first.access), (other, y, second.access)))

    name = f"{one.name}+{other.name}/{first.event.id}-{second.event.id}"
    swizzled = f"which bytes of {one.name} and {other.name} swizzling lets meet is not looked into"
    goal = Goal(name, first.event, second.event, condition, check, needs, inexact=swizzled)
    rule = "smem.reuse" if needs.fence is None else "proxy.generic_to_async"
    return Conflict(first, second, one, rule, goal)


def _one_cta(model: Model, one: Buffer, x: Instance, a: Access, y: Instance, b: Access) -> Formula:
    """Some CTA of a cluster holds what both access; all buffers in its shared memory have the CTA first."""
    if not one.per_cta:
        return model.ctx.api.literal(True)
    (p, m), (q, n) = model.box(x, a)[0], model.box(y, b)[0]
    return model.ctx.api.conj((model.ctx.lt(p, q + n), model.ctx.lt(q, p + m)))


def storage_facts(u: Unrolling, conflict: Conflict, x: Occurrence, y: Occurrence) -> tuple[tuple[str, str], ...]:
    """Which bytes of the pool both accesses touch, and what lies there."""
    one, other = conflict.buffer, u.program.buffers[conflict.second.access.buffer]
    common = common_bytes(u, (one, x, conflict.first.access), (other, y, conflict.second.access))
    first, last, pool = min(common), max(common), place_of(other).pool
    some = "" if last - first + 1 == len(common) else f"{len(common)} of "
    return (("storage", f"{some}bytes {first} to {last} of {pool}: {one.name}, then {other.name}"),)
