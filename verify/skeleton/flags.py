"""Flags in global memory: a signal that brings a flag to a value, and waits until it has at least that.

A flag is a barrier of one slot whose phase p is over when the flag is at least p + 1. Stored values: nobody stores a
value twice, and smaller values come before larger ones, so the flag never falls; who stores one sees what those before
told, since a wait synchronises with the last store alone (PTX ISA, release patterns). Added ones: every thread that
adds contributes equally to each phase, and phase by phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, Index, Int
from exogpu.ir.linear import literal
from exogpu.ir.walk import index_names
from exogpu.smt.index import to_poly
from exogpu.smt.poly import Poly, lift, symbol
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.instance import LANE, Instance, Model
from exogpu.verify.needs import Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases, arrives, awaits
from exogpu.verify.pieces import Piece
from exogpu.verify.program import ArriveAction, Barrier, Counted, Event, LoopKind, Program, Stated
from exogpu.verify.result import Obligation
from exogpu.verify.single import Property
from exogpu.verify.skeleton.barriers import Value
from exogpu.verify.skeleton.flows import Flow, parties
from exogpu.verify.skeleton.settle import obligation, settle
from exogpu.verify.skeleton.unsupported import NotModelled

STATED = "let the variable of one loop say the value, such as `signal(f, i + 1)`"


def flag_numbers(
    program: Program, barrier: Barrier, values: Mapping[int, Value]
) -> tuple[dict[int, Counted | Stated], tuple[Flow, ...]]:
    """The phases of all signals and waits of a flag, and who adds to it (nobody, if values are stored)."""
    signals, waits = arrives(program, barrier.name), awaits(program, barrier.name)
    if not any(values[e.id].adds for e in signals):
        return {e.id: Stated(Bin("-", values[e.id].index, Int(1))) for e in (*signals, *waits)}, ()
    steps = {literal(values[e.id].index) if values[e.id].adds else None for e in signals}
    step = steps.pop()
    if steps or step is None or step < 1:
        raise NotModelled("a flag is changed by different amounts", barrier.span)
    flows = tuple(Flow(through, group, 1, 1) for through, group in parties(program, signals))
    round_ = step * sum(len(f.channels) for f in flows)
    numbers: dict[int, Counted | Stated] = {}
    for flow in flows:
        numbers |= {e.id: Counted(tuple(s.id for s in flow.statements)) for e in flow.statements}
    for wait in waits:
        # a wait for a part of a round is over with the round, at the latest
        numbers[wait.id] = Stated(Bin("-", Bin("//", values[wait.id].index, Int(round_)), Int(1)))
    return numbers, flows


def flag_pieces(
    program: Program, barrier: Barrier, values: Mapping[int, Value], flows: tuple[Flow, ...]
) -> Iterator[Piece]:
    """The obligations of a flag whose values are stored, or whose waits are for whole rounds of additions."""
    signals, waits = arrives(program, barrier.name), awaits(program, barrier.name)
    kinds = {_relaxed(s) for s in signals}
    if not flows and len(kinds) > 1:
        raise NotModelled("some stores to a flag publish and others do not", barrier.span)
    if flows:
        step = literal(values[flows[0].statements[0].id].index) or 1
        round_ = step * sum(len(f.channels) for f in flows)
        for wait in waits:
            yield Piece(
                1, partial(_whole_round, barrier=barrier, wait=wait, value=values[wait.id].index, round_=round_)
            )
        return
    for signal in signals:
        yield Piece(1, partial(_from_zero, barrier=barrier, signal=signal))
    for n, first in enumerate(signals):
        for second in signals[n:]:
            yield Piece(2, partial(_once, barrier=barrier, first=first, second=second))
        for second in signals:
            yield Piece(4, partial(_rising, barrier=barrier, first=first, second=second))
    for wait in waits:
        yield Piece(2, partial(_stored, barrier=barrier, wait=wait, signals=signals))


def _whole_round(program: Program, barrier: Barrier, wait: Event, value: Index, round_: int) -> Iterator[Obligation]:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        wanted = to_poly(model.ctx, value, xs[0].env)
        return model.ctx.api.negate(model.ctx.eq(model.ctx.mod(wanted, round_), 0))

    title = f"line {wait.span.line} waits for whole rounds of additions to {barrier.name}"
    base = obligation(f"flag/{barrier.name}/{wait.id}", "race.raw", title, wait.span)
    yield settle(program, base, [Property(base.name, (wait,), bad, None)])


def _from_zero(program: Program, barrier: Barrier, signal: Event) -> Iterator[Obligation]:
    """Whoever waits for what the flag has at first may come late."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.ctx.lt(phases.phase(xs[0]), -1)

    base = obligation(
        f"flag/{barrier.name}/{signal.id}", "deadlock.cycle", f"{barrier.name} gets no value below 0", signal.span
    )
    yield settle(program, base, [Property(base.name, (signal,), bad, None)])


def _once(program: Program, barrier: Barrier, first: Event, second: Event) -> Iterator[Obligation]:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        x, y = xs
        return model.ctx.api.conj((model.different(x, y), model.ctx.eq(phases.phase(x), phases.phase(y))))

    base = obligation(
        f"flag/{barrier.name}/{first.id}={second.id}", "race.waw", f"{barrier.name} gets no value twice", second.span
    )
    yield settle(program, base, [Property(base.name, (first, second), bad, None)])


def _relaxed(signal: Event) -> bool:
    return isinstance(signal.action, ArriveAction) and signal.action.relaxed


def _rising(program: Program, barrier: Barrier, first: Event, second: Event) -> Iterator[Obligation]:
    """Only causality orders two stores for all: who learns of a relaxed one from another flag may still come before."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        return model.ctx.lt(phases.phase(x), phases.phase(y))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return u.number_at(x) < u.number_at(y)

    base = obligation(
        f"flag/{barrier.name}/{first.id}<{second.id}", "race.waw", f"{barrier.name} never falls", second.span
    )
    yield settle(program, base, [Goal(base.name, first, second, condition, check, Needs())])


def _stored(program: Program, barrier: Barrier, wait: Event, signals: list[Event]) -> Iterator[Obligation]:
    """Somebody stores the value that is waited for."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx, wanted = model.ctx, phases.phase(x)
        ways: list[Formula] = []
        for s in signals:
            for y in _each(model, s, wanted):
                ways.append(ctx.api.conj((y.domain, ctx.eq(phases.phase(y), wanted))))
        return ctx.api.conj((ctx.ge(wanted, 0), ctx.api.negate(ctx.api.disj(ways))))

    title = f"somebody stores the value that line {wait.span.line} waits for"
    base = obligation(f"flag/{barrier.name}/{wait.id}", "deadlock.cycle", title, wait.span)
    yield settle(program, base, [Property(base.name, (wait,), bad, None)])


def _each(model: Model, signal: Event, phase: Poly) -> Iterator[Instance]:
    """By every thread, the execution of a statement for a phase, if its loop gets there."""
    sequential = [loop.var for loop in signal.loops if loop.kind is LoopKind.SEQ]
    threads = [loop for loop in signal.loops if loop.kind is not LoopKind.SEQ]
    ranges = [range(evaluate(loop.lo, {}), evaluate(loop.hi, {})) for loop in threads]
    lanes = range(signal.size) if signal.size > 1 else range(1)
    for *values, lane in product(*ranges, lanes):
        env = {**model.sizes, **{p.var: lift(v) for p, v in zip(threads, values, strict=True)}}
        if signal.size > 1:
            env[LANE] = lift(lane)
        for var in sequential:
            env[var] = _reaching(model, signal, {**env, **{v: symbol(v) for v in sequential}}, var, phase)
        yield model.at(signal, env)


def _reaching(model: Model, signal: Event, env: Mapping[str, Poly], var: str, phase: Poly) -> Poly:
    """The iteration in which the statement is for a phase, if it is a multiple of the iteration and something else."""
    if not isinstance(signal.numbering, Stated):
        raise NotModelled("a flag is numbered otherwise", signal.span)
    if not index_names(signal.numbering.index) <= env.keys():
        raise NotModelled("the values of a flag follow from a counter or an unknown number", signal.span, STATED)
    stated = to_poly(model.ctx, signal.numbering.index, env)
    step = dict(stated.terms).get((var,), 0)
    rest = stated - symbol(var) * step
    if step < 1 or set(rest.symbols()) - {name for p in model.sizes.values() for name in p.symbols()}:
        raise NotModelled("the values of a flag do not rise evenly in a loop", signal.span)
    return model.ctx.floordiv(phase - rest, step)


def renumbered(events: list[Event], numbers: Mapping[int, Counted | Stated]) -> None:
    """Puts phases into a list of events."""
    for number, numbering in numbers.items():
        events[number] = replace(events[number], numbering=numbering)
