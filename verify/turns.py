"""Units of a role that take turns: exactly one executes each time."""

from __future__ import annotations

from exogpu.ir.evaluate import evaluate
from exogpu.smt.index import to_poly
from exogpu.smt.terms import Formula
from exogpu.verify.claim import Claim
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.phases import Phases
from exogpu.verify.program import Event, Program
from exogpu.verify.selection import Selection
from exogpu.verify.single import Property


def choice(event: Event, selection: Selection) -> Claim:
    """The unit that is chosen exists: so exactly one executes."""
    index, count = selection.index, selection.count

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        unit = to_poly(model.ctx, index, xs[0].env)
        return model.ctx.api.negate(model.ctx.between(0, unit, count))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        return not 0 <= evaluate(index, xs[0].env) < count

    return Claim(
        Property(f"role/{event.id}", (event,), bad, check),
        "role.unit",
        f"the unit of {event.role} chosen at line {event.span.line} is one of its {count}",
        f"`{event.role}` has {count} units, and another one is chosen here",
        event.span,
        f"reduce the number with `% {count}`",
    )
