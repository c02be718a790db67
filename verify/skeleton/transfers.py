"""The bytes of an mbarrier: each phase is announced what it gets (PTX ISA, expect-tx and complete-tx).

What a thread moves in a phase it moves in a few executions, one after the other. At most of these places the bytes are
the same in every phase. Where they are not, as in the last tile, the statements that move them go together: no phase
sees a combination of them that does not add up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod

from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.terms import Formula
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.phases import Phases, barrier_cta
from exogpu.verify.program import Barrier, Event, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import TAGS, Property
from exogpu.verify.skeleton.flows import Flow, totals
from exogpu.verify.skeleton.sample import by_thread
from exogpu.verify.skeleton.settle import obligation, settle

MOST_BYTES = (1 << 20) - 1
"""In a phase (PTX ISA, mbarrier)."""
MOST_COMBINATIONS = 256
"""Of statements that may move the bytes of a phase."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What each thread of a flow executes as the `number`-th of a phase: one of these statements."""

    flow: Flow
    number: int
    statements: tuple[Event, ...]

    @property
    def weights(self) -> frozenset[int]:
        """Bytes that it may move."""
        return frozenset(map(weight, self.statements))

    def threads(self, cta: int) -> int:
        """How many contribute to the barrier of a CTA."""
        return sum(c == cta for _, c in self.flow.of_one_phase)


def weight(event: Event) -> int:
    """Bytes that one execution announces (positive) or delivers (negative)."""
    announced = getattr(event.action, "tx", 0)
    delivered = getattr(event.completion, "bytes", 0)
    return int(announced) - int(delivered)


def balanced(program: Program, barrier: Barrier, flows: tuple[Flow, ...]) -> Obligation:
    """The bytes of each phase cancel out in every CTA."""
    title = f"each phase of {barrier.name} is announced the bytes that it gets"
    base = obligation(f"tx/{barrier.name}", "mbar.tx_bytes", title, barrier.span)
    moving = [f for f in flows if any(weight(e) for e in f.statements)]
    if max((_announced(moving, cta) for cta in _ctas(moving)), default=0) > MOST_BYTES:
        return replace(base, status=Status.UNKNOWN, reason=f"a phase has more than {MOST_BYTES} bytes")
    parts: list[Property] = []
    if any(f.numbers is not None for f in moving):
        bundles = _bundles(moving)
        alone = _by_themselves(moving, bundles)
        moving = [f for f in moving if f not in alone]
        if any(f.numbers is not None for f in moving):
            reason = "bytes of some phases are not announced and copied under the same conditions"
            return replace(base, status=Status.UNKNOWN, reason=reason)
        shown = {e for f in alone for e in f.statements}
        together = ((b[0], e) for b in bundles if b[0] in shown for e in b[1:])
        parts += (_in_one_phase(*two) for pair in together for two in (pair, pair[::-1]))
    for cta in _ctas(moving):
        turns = [t for f in moving if cta in f.ctas for t in _turns(program, barrier, f)]
        steady = [t for t in turns if len(t.weights) == 1]
        varying = [t for t in turns if len(t.weights) > 1]
        rest = sum(t.threads(cta) * w for t in steady for w in t.weights)
        if rest and not varying:
            reason = f"{abs(rest)} bytes of a phase are {'not delivered' if rest > 0 else 'not announced'}"
            return replace(base, status=Status.UNKNOWN, reason=reason)
        parts += _together(barrier, cta, varying, rest)
    for flow in moving:
        parts += _in_turn(flow, _turns(program, barrier, flow))
    return settle(program, base, [*parts, *_as_many_phases(barrier, moving)])


def _ctas(flows: Iterable[Flow]) -> list[int]:
    return sorted(frozenset[int]().union(*(f.ctas for f in flows)))


def _announced(flows: Iterable[Flow], cta: int) -> int:
    """Bytes that are announced in a phase, at most."""
    return sum(f.rate * max(0, *map(weight, f.statements)) * sum(c == cta for _, c in f.of_one_phase) for f in flows)


def _bundles(flows: Iterable[Flow]) -> list[tuple[Event, ...]]:
    """Statements that one thread executes in the same iterations under the same conditions."""
    found: dict[Hashable, list[Event]] = {}
    for event in dict.fromkeys(e for f in flows for e in f.statements if weight(e)):
        around = tuple((s.position, s.loop.var) for s in event.path if s.loop is not None)
        who = (event.first, event.size, event.exec, barrier_cta(event))
        found.setdefault((event.role, around, frozenset(event.guards), who), []).append(event)
    return [tuple(events) for events in found.values()]


def _by_themselves(moving: Sequence[Flow], bundles: Iterable[Sequence[Event]]) -> list[Flow]:
    """Flows of which all statements are in bundles that announce what they deliver, with statements of such flows."""
    of_flow = {e: f for f in moving for e in f.statements if weight(e)}
    balanced_ones = [b for b in bundles if sum(map(weight, b)) == 0]
    found = list(moving)
    while True:
        inside = {e for b in balanced_ones if all(of_flow[e] in found for e in b) for e in b}
        kept = [f for f in found if all(e in inside for e in f.statements if weight(e))]
        if len(kept) == len(found):
            return kept
        found = kept


def _in_one_phase(one: Event, other: Event) -> Property:
    """With a statement of a bundle another is executed in the same iteration, for the same phase: counters that their
    conditions test may have been stepped between the two."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        beside = model.at(other, x.env)
        same = model.ctx.eq(phases.phase(x), phases.phase(beside))
        return model.ctx.api.negate(model.ctx.api.conj((beside.domain, same)))

    return Property(f"tx/{one.id}={other.id}", (one,), bad, None)


def _turns(program: Program, barrier: Barrier, flow: Flow) -> list[Turn]:
    """The turns of a flow, as a thread at a small size takes them; with any of its statements where they all move the
    same, or where none is seen."""
    if flow.rate == 1 or len(frozenset(map(weight, flow.statements))) == 1:
        return [Turn(flow, n, flow.statements) for n in range(flow.rate)]
    found: list[set[int]] = [set() for _ in range(flow.rate)]
    for n, o in enumerate(by_thread(program, flow.statements, flow.threads(program)[0], barrier)):
        found[n % flow.rate].add(o.event.id)
    at = (tuple(e for e in flow.statements if e.id in ids) for ids in found)
    return [Turn(flow, n, seen or flow.statements) for n, seen in enumerate(at)]


def _in_turn(flow: Flow, turns: Sequence[Turn]) -> Iterator[Property]:
    """A statement is executed at the places in a phase that it was seen at, if that makes a difference."""
    if flow.rate == 1 or len(frozenset(map(weight, flow.statements))) == 1:
        return
    for event in flow.statements:
        numbers = [t.number for t in turns if event in t.statements]

        def bad(model: Model, phases: Phases, xs: tuple[Instance, ...], numbers: Sequence[int] = numbers) -> Formula:
            here = _number(model, phases, flow, xs[0])
            return model.ctx.api.negate(model.ctx.api.disj(model.ctx.eq(here, n) for n in numbers))

        yield Property(f"tx/{event.id}", (event,), bad, None)


def _number(model: Model, phases: Phases, flow: Flow, x: Instance) -> Poly:
    """How many executions its thread has made in the phase before."""
    if flow.rate == 1:
        return ZERO
    done = sum((phases.count(x, s) for s in flow.statements), ZERO)
    return model.ctx.mod(done, flow.rate)


def _together(barrier: Barrier, cta: int, turns: Sequence[Turn], rest: int) -> Iterator[Property]:
    """Statements of one phase whose bytes, with the `rest` that is the same in all, do not cancel out, do not occur;
    and all threads of a turn are at the same statement."""
    if len(turns) > len(TAGS) or prod(len(t.statements) for t in turns) > MOST_COMBINATIONS:
        raise NoClosedForm("the bytes of a phase vary in too many statements")
    for chosen in product(*(t.statements for t in turns)):
        if chosen and rest + sum(t.threads(cta) * weight(e) for t, e in zip(turns, chosen, strict=True)):
            yield _never(barrier, cta, turns, chosen)
    for turn in turns:
        for one, other in permutations(turn.statements, 2) if turn.threads(cta) > 1 else ():
            yield _never(barrier, cta, (turn, turn), (one, other))


def _never(barrier: Barrier, cta: int, turns: Sequence[Turn], events: Iterable[Event]) -> Property:
    """No phase has these executions in these turns."""
    chosen = tuple(events)

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx = model.ctx
        parts = [ctx.eq(phases.cta(x), cta) for x in xs]
        parts += [ctx.eq(phases.phase(x), phases.phase(xs[0])) for x in xs[1:]]
        parts += [ctx.eq(_number(model, phases, t.flow, x), t.number) for t, x in zip(turns, xs, strict=True)]
        return ctx.api.conj(parts)

    return Property(f"tx/{barrier.name}/{'-'.join(str(e.id) for e in chosen)}", chosen, bad, None)


def _as_many_phases(barrier: Barrier, moving: Sequence[Flow]) -> Iterator[Property]:
    """What delivers and what announces bytes go through equally many phases."""
    for flow in moving[1:]:

        def bad(model: Model, phases: Phases, xs: tuple[Instance, ...], flow: Flow = flow) -> Formula:
            ctx, first = model.ctx, moving[0]
            pairs = product(totals(model, first), totals(model, flow))
            same = [ctx.eq(one * flow.rate, other * first.rate) for one, other in pairs]
            return ctx.api.negate(ctx.api.conj(same))

        yield Property(f"tx/{barrier.name}/all-{flow.statements[0].id}", (), bad, None)
