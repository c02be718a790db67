"""Ordering obligations across buffers that share storage: whatever one of them still does to a byte comes before
anything that a later owner of the byte does.

Two accesses conflict if the address ranges that they span overlap, ring slots and swizzle blocks included. The range of
a rectangle contains bytes between its rows, so this asks for a little more than the absence of races.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import permutations

from exogpu.ir.evaluate import const
from exogpu.ir.pools import Storage
from exogpu.smt.poly import Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.index import to_formula
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
        a, b = _range(model, phases, one, x, first.access), _range(model, phases, other, y, second.access)
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
        a, b = span_of(u, one, x, first.access), span_of(u, other, y, second.access)
        return a.start < b.stop and b.start < a.stop

    name = f"{one.name}+{other.name}/{first.event.id}-{second.event.id}"
    goal = Goal(name, first.event, second.event, condition, check, needs)
    rule = "smem.reuse" if needs.fence is None else "proxy.generic_to_async"
    return Conflict(first, second, one, rule, goal)


def _one_cta(model: Model, one: Buffer, x: Instance, a: Access, y: Instance, b: Access) -> Formula:
    """Some CTA of a cluster holds what both access; all buffers in its shared memory have the CTA first."""
    if not one.per_cta:
        return model.ctx.api.literal(True)
    (p, m), (q, n) = model.box(x, a)[0], model.box(y, b)[0]
    return model.ctx.api.conj((model.ctx.lt(p, q + n), model.ctx.lt(q, p + m)))


def _range(model: Model, phases: Phases, buffer: Buffer, x: Instance, access: Access) -> tuple[Poly, Poly]:
    """First byte, and one past the last, in the pool."""
    ctx, place, strides = model.ctx, _place(buffer), _strides(buffer)
    low, high = lift(0), lift(0)
    for (lo, extent), stride in zip(model.box(x, access)[buffer.per_cta :], strides, strict=True):
        low, high = low + lo * stride, high + (lo + extent - 1) * stride
    if place.block > 1:
        low, high = (ctx.floordiv(p, place.block) * place.block for p in (low, high))
    slot = ctx.mod(phases.slot(x, buffer.name), place.slots) * place.slot_bytes + place.offset
    return slot + low, slot + high + max(place.block, buffer.element_bytes)


def span_of(u: Unrolling, buffer: Buffer, x: Occurrence, access: Access) -> range:
    """The bytes of the pool that an access spans."""
    place, strides, box = _place(buffer), _strides(buffer), concrete_box(x, access)[buffer.per_cta :]
    low = sum(r.start * stride for r, stride in zip(box, strides, strict=True))
    high = sum((r.stop - 1) * stride for r, stride in zip(box, strides, strict=True))
    low, high = low // place.block * place.block, high // place.block * place.block
    n = 0 if buffer.alloc is None else u.executions(buffer.alloc, x) - 1
    slot = place.offset + n % place.slots * place.slot_bytes
    return range(slot + low, slot + high + max(place.block, buffer.element_bytes))


def _place(buffer: Buffer) -> Storage:
    if buffer.storage is None:
        raise TypeError(f"{buffer.name} is in no pool")
    return buffer.storage


def _strides(buffer: Buffer) -> Sequence[int]:
    """Bytes between neighbours of each dimension inside a CTA."""
    strides = [buffer.element_bytes]
    for extent in reversed(buffer.shape[buffer.per_cta + 1 :]):
        strides.append(strides[-1] * const(extent))
    return strides[::-1]


def storage_facts(u: Unrolling, conflict: Conflict, x: Occurrence, y: Occurrence) -> tuple[tuple[str, str], ...]:
    """Which bytes of the pool both accesses span, and what lies there."""
    other = u.program.buffers[conflict.second.access.buffer]
    a = span_of(u, conflict.buffer, x, conflict.first.access)
    b = span_of(u, other, y, conflict.second.access)
    common = range(max(a.start, b.start), min(a.stop, b.stop))
    pool = _place(other).pool
    return (
        ("storage", f"bytes {common.start} to {common.stop - 1} of {pool}: {conflict.buffer.name}, then {other.name}"),
    )
