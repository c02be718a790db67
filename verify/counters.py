"""The derived variables of a symbolic instance."""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.smt.poly import Poly, lift
from exogpu.verify.derived import applied, used
from exogpu.verify.instance import Instance, Model, Span
from exogpu.verify.ordinal import Actor, count_before
from exogpu.verify.program import Applied, Counter, Event


def derived_values(model: Model, event: Event, env: Mapping[str, Poly], threads: Span) -> dict[str, Poly]:
    """The values of the derived variables that an event's text names."""
    known = dict(env)
    out: dict[str, Poly] = {}
    for name in used(model.program, event):
        known[name] = out[name] = _value(model, name, Instance(event, known, threads, model.ctx.api.literal(True)))
    return out


def _value(model: Model, name: str, at: Instance) -> Poly:
    match model.program.derived[name]:
        case Applied() as meaning:
            return applied(model.ctx, meaning, at.env)
        case Counter(start, steps, modulus, within, divisor, ahead):
            taken, who = lift(ahead), Actor(at.threads.first, lift(0))
            for step, by in steps:
                taken = taken + count_before(model, model.program.events[step], at, who, within=within) * by
            total = model.ctx.floordiv(taken, divisor) + start
            return total if modulus is None else model.ctx.mod(total, modulus)
