"""Units of a role that take turns: exactly one executes each time, and it knows what the others have waited for.

Phases of a barrier are counted over the executions of all units, so a unit waits for phases whose predecessors it has
not seen itself. A parity tells a phase from its predecessor only if that one is known to be complete, so every wait
must follow, in time, some wait for the phase before in its slot.
"""

from __future__ import annotations

from exogpu.ir.evaluate import evaluate
from exogpu.smt.poly import Poly
from exogpu.smt.pysmt_api import Formula
from exogpu.verify.claim import Claim
from exogpu.verify.concrete import Env, Occurrence, Unrolling
from exogpu.verify.graph import Needs
from exogpu.verify.index import to_poly
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases, arrives, awaits, copies, executed_by, executors
from exogpu.verify.program import Barrier, Event, Program, Selection
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


def seen_before(program: Program, barrier: Barrier, wait: Event) -> list[list[Goal]]:
    """Ways to know that phase p - ring is complete at a wait for phase p: the wait for it by the thread at the same
    place of the unit whose turn it was comes before (the role's waits are consecutive, so there is one), or if no
    bytes belong to the barrier, all its arrives do."""
    waits = executed_by(executors(wait), awaits(program, barrier.name))
    ways = [[_follows(barrier, w, wait, peers=True) for w in waits]]
    if not copies(program, barrier.name):
        ways.append([_follows(barrier, a, wait, peers=False) for a in arrives(program, barrier.name)])
    return ways


def _follows(barrier: Barrier, earlier: Event, wait: Event, *, peers: bool) -> Goal:
    ring = barrier.ring

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx, seen = model.ctx, phases.phase(x)
        parts = [ctx.ge(seen, 0), ctx.eq(phases.phase(y), seen + ring)]
        if peers:
            parts.append(ctx.eq(_place(model, x), _place(model, y)))
        return ctx.api.conj(parts)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        turns = wait.selection
        apart = peers and turns is not None and turns.peers(x.first) != turns.peers(y.first)
        return not apart and 0 <= u.number_at(x) == u.number_at(y) - ring

    name = f"turn/{barrier.name}/{earlier.id}-{wait.id}"
    return Goal(name, earlier, wait, condition, check, Needs(temporal=True))


def _place(model: Model, x: Instance) -> Poly:
    """The thread, as if unit 0 executed."""
    turns = x.event.selection
    return x.threads.first if turns is None else x.threads.first - to_poly(model.ctx, turns.index, x.env) * turns.size
