"""Lives of mbarriers that are iterations of a loop in every role: a life for each tile, of as many phases as it has.

What belongs to iteration t belongs to life t. That the phases of a life are those that were not over before has to be
shown: at its beginning everybody who signals or waits has come equally far (`abreast`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index
from exogpu.smt.index import to_poly
from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence
from exogpu.verify.instance import Instance, Model, Span
from exogpu.verify.ordinal import actor, count_before
from exogpu.verify.phases import Phases
from exogpu.verify.program import Event, Loop, LoopKind
from exogpu.verify.single import Property
from exogpu.verify.skeleton.flows import Flow

Rounds = Mapping[int, tuple[str, Index]]
"""For each statement the variable of the loop of which an iteration is a life, and its first value."""


def outermost(event: Event) -> Loop | None:
    """The first loop around a statement that goes on in order."""
    return next((loop for loop in event.loops if loop.kind is LoopKind.SEQ), None)


def rounds(events: Iterable[Event]) -> Rounds | None:
    """The outermost loops around some statements; None if one is in none."""
    found = {e.id: outermost(e) for e in events}
    loops = {n: (loop.var, loop.lo) for n, loop in found.items() if loop is not None}
    return loops if len(loops) == len(found) else None


def life_of(rounds: Rounds, x: Instance, model: Model) -> Poly:
    """The life of a statement's instance."""
    var, lo = rounds[x.event.id]
    return x.env[var] - to_poly(model.ctx, lo, model.sizes)


def life_at(rounds: Rounds, x: Occurrence) -> int:
    """The same at concrete sizes."""
    var, lo = rounds[x.event.id]
    return x.env[var] - evaluate(lo, x.env)


def start(model: Model, rounds: Rounds, statements: Iterable[Event], thread: int, life: Poly) -> Poly:
    """What a thread has executed of some statements before a life."""
    total = ZERO
    for s in statements:
        var, lo = rounds[s.id]
        env = {**model.sizes, var: to_poly(model.ctx, lo, model.sizes) + life}
        for loop in s.loops:
            if loop.kind is LoopKind.SEQ and loop.var != var:
                env[loop.var] = to_poly(model.ctx, loop.lo, env)
        first = Instance(replace(s, guards=()), env, Span(ZERO, 1), model.ctx.api.literal(True))
        total = total + count_before(model, s, first, actor(s, thread))
    return total


def starts(model: Model, rounds: Rounds, flow: Flow, life: Poly) -> list[Poly]:
    """Likewise for each sort of a flow's threads."""
    return [start(model, rounds, flow.statements, t, life) for t in flow.threads(model.program)]


def abreast(rounds: Rounds, ring: int, begin: Event, flows: Sequence[Flow]) -> Iterator[Property]:
    """At the beginning of a life all threads of some flows have done what makes up equally many phases in each slot."""
    leading, *others = flows

    def behind(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx = model.ctx
        mine = starts(model, rounds, leading, ctx.floordiv(phases.phase(xs[0]), ring))
        same = (ctx.eq(mine[0], n) for n in mine[1:])
        return ctx.api.negate(ctx.api.conj((ctx.eq(ctx.mod(mine[0], leading.rate * ring), 0), *same)))

    yield Property(f"lives/{begin.id}/start", (begin,), behind, None)
    for flow in others:

        def apart(model: Model, phases: Phases, xs: tuple[Instance, ...], flow: Flow = flow) -> Formula:
            ctx, life = model.ctx, model.ctx.floordiv(phases.phase(xs[0]), ring)
            mine = starts(model, rounds, leading, life)[0]
            same = (ctx.eq(mine * flow.rate, n * leading.rate) for n in starts(model, rounds, flow, life))
            return ctx.api.negate(ctx.api.conj(same))

        yield Property(f"lives/{begin.id}/start-{flow.statements[0].id}", (begin,), apart, None)
