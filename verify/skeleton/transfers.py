"""The bytes of an mbarrier: each phase is announced what it gets (PTX ISA, expect-tx and complete-tx)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from exogpu.smt.poly import ZERO
from exogpu.smt.terms import Formula
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import NoClosedForm, count_all
from exogpu.verify.phases import Phases
from exogpu.verify.program import Barrier, Event, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.flows import Flow, totals
from exogpu.verify.skeleton.settle import obligation, settle

MOST_BYTES = (1 << 20) - 1
"""In a phase (PTX ISA, mbarrier)."""


def weight(event: Event) -> int:
    """Bytes that one execution announces (positive) or delivers (negative)."""
    announced = getattr(event.action, "tx", 0)
    delivered = getattr(event.completion, "bytes", 0)
    return int(announced) - int(delivered)


def balanced(program: Program, barrier: Barrier, flows: tuple[Flow, ...]) -> Obligation:
    """Every flow has the same bytes in each phase, and they cancel out in every CTA."""
    title = f"each phase of {barrier.name} is announced the bytes that it gets"
    base = obligation(f"tx/{barrier.name}", "mbar.tx_bytes", title, barrier.span)
    balance, announced = Counter[int](), Counter[int]()
    parts: list[Property] = []
    for flow in flows:
        amount, steady = _per_phase(flow)
        parts += steady
        for _, cta in flow.of_one_phase:
            balance[cta] += amount
            announced[cta] += max(amount, 0)
    wrong = {n for n in balance.values() if n}
    if wrong:
        n = min(wrong)
        reason = f"{abs(n)} bytes of a phase are {'not delivered' if n > 0 else 'not announced'}"
        return replace(base, status=Status.UNKNOWN, reason=reason)
    if max(announced.values(), default=0) > MOST_BYTES:
        return replace(base, status=Status.UNKNOWN, reason=f"a phase has more than {MOST_BYTES} bytes")
    if any(weight(e) for f in flows for e in f.statements):
        parts += _as_many_phases(program, barrier, flows)
    return settle(program, base, parts)


def _per_phase(flow: Flow) -> tuple[int, list[Property]]:
    """Bytes in one phase, and what shows that it is the same in all."""
    weights = {weight(e) for e in flow.statements}
    if len(weights) == 1:
        return weights.pop() * flow.rate, []
    if flow.rate % len(flow.statements):
        raise NoClosedForm("statements with different bytes do not make up whole phases")
    amount = sum(weight(e) for e in flow.statements) * flow.rate // len(flow.statements)
    return amount, [*(_steady(flow, e, amount) for e in flow.statements), _steady_to_the_end(flow, amount)]


def _steady(flow: Flow, event: Event, amount: int) -> Property:
    """Where a phase begins, the bytes so far are those of whole phases."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        counts = [phases.count(x, s) for s in flow.statements]
        so_far = sum((n * weight(s) for n, s in zip(counts, flow.statements, strict=True)), ZERO)
        begins = ctx.eq(ctx.mod(sum(counts, ZERO), flow.rate), 0)
        return ctx.api.conj((begins, ctx.api.negate(ctx.eq(so_far, phases.phase(x) * amount))))

    return Property(f"tx/{event.id}", (event,), bad, None)


def _steady_to_the_end(flow: Flow, amount: int) -> Property:
    """All its bytes are those of whole phases, if it ends with one."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx, wrong = model.ctx, list[Formula]()
        for thread in flow.threads(model.program):
            counts = [count_all(model, s, thread) for s in flow.statements]
            total = sum(counts, ZERO)
            moved = sum((n * weight(s) for n, s in zip(counts, flow.statements, strict=True)), ZERO)
            ends = ctx.eq(ctx.mod(total, flow.rate), 0)
            wrong.append(ctx.api.conj((ends, ctx.api.negate(ctx.eq(moved * flow.rate, total * amount)))))
        return ctx.api.disj(wrong)

    return Property(f"tx/{flow.statements[0].id}/all", (flow.statements[0],), bad, None)


def _as_many_phases(program: Program, barrier: Barrier, flows: tuple[Flow, ...]) -> Iterator[Property]:
    """What delivers and what announces bytes go through equally many phases."""
    moving = [f for f in flows if any(weight(e) for e in f.statements)]
    for flow in moving[1:]:
        event = flow.statements[0]

        def bad(model: Model, phases: Phases, xs: tuple[Instance, ...], flow: Flow = flow) -> Formula:
            pairs = product(totals(model, moving[0]), totals(model, flow))
            same = [model.ctx.eq(one * flow.rate, other * moving[0].rate) for one, other in pairs]
            return model.ctx.api.negate(model.ctx.api.conj(same))

        yield Property(f"tx/{barrier.name}/all-{event.id}", (event,), bad, None)
