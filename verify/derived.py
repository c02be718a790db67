"""Variables whose values follow from others: a thread's counters, and numbers of which nothing is known."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Cond, Index
from exogpu.ir.walk import index_names
from exogpu.smt.context import Context
from exogpu.smt.index import to_formula, to_poly
from exogpu.smt.poly import Poly
from exogpu.verify.program import (
    Applied,
    ArriveAction,
    AwaitAction,
    Counter,
    Event,
    ExpectAction,
    LoopKind,
    Program,
    Stated,
    TxOn,
)

Values = Mapping[str, int]


def used(program: Program, event: Event) -> tuple[str, ...]:
    """The derived variables that an event's text names, what they depend on first."""
    if not program.derived:
        return ()
    return program.once(used, event, lambda: tuple(_closure(program, _texts(event))))


def _texts(event: Event) -> Iterator[Index | Cond]:
    yield from event.guards
    yield event.first
    for loop in event.loops:
        yield from (loop.lo, loop.hi)
    for access in event.accesses:
        yield from (lo for lo, _ in access.dims)
        yield from access.guards
    for computed in event.computed:
        yield computed.index
        yield from computed.under
    if isinstance(event.numbering, Stated):
        yield event.numbering.index
    match event.action, event.completion:
        case (ArriveAction(cta=cta) | ExpectAction(cta=cta) | AwaitAction(cta=cta), _) | (_, TxOn(cta=cta)) if cta:
            yield cta
        case _:
            return


def _closure(program: Program, texts: Iterable[Index | Cond]) -> dict[str, None]:
    out: dict[str, None] = {}
    for text in texts:
        for name in sorted(index_names(text)):
            meaning = program.derived.get(name)
            if isinstance(meaning, Applied):
                out.update(_closure(program, meaning.args))
            if meaning is not None:
                out[name] = None
    return out


def applied(ctx: Context, meaning: Applied, env: Mapping[str, Poly]) -> Poly:
    """The unknown number at arguments that `env` determines."""
    args = tuple(to_poly(ctx, a, env) for a in meaning.args)
    known = (meaning.name, args) in ctx.functions.unknown
    value = ctx.functions.apply(ctx, meaning.name, args, meaning.below)
    if not known:
        ctx.definitions.append(to_formula(ctx, meaning.holds, {**env, meaning.name: value}))
    return value


# -- at concrete sizes -------------------------------------------------------------------------------------------------


def concrete(program: Program, name: str, event: Event, env: Values) -> int:
    """The value of a derived variable where an event is executed, whose other variables `env` holds."""
    match program.derived[name]:
        case Applied() as meaning:
            return env.get(meaning.at(tuple(evaluate(a, env) for a in meaning.args)), 0)
        case Counter(start, steps, modulus, within, divisor, ahead):
            taken = ahead + sum(by * steps_before(program, step, event, env, within) for step, by in steps)
            total = start + taken // divisor
            return total if modulus is None else total % modulus


def steps_before(program: Program, step: int, event: Event, env: Values, within: int) -> int:
    """Earlier executions of a step by a thread that executes the event."""
    sizes = {n: v for n, v in env.items() if n in program.sizes or ("(" in n and n not in program.derived)}
    places = program.memo.once((steps_before, step, tuple(sizes.items())), lambda: _places(program, step, sizes))
    here = place(event, env)
    before = bisect_left(places, here)
    if not within:
        return before
    prefix = here[: 2 * within]
    return sum(1 for p in places[:before] if p[: 2 * within] == prefix)


def _places(program: Program, step: int, sizes: Values) -> list[tuple[int, ...]]:
    from exogpu.verify.concrete import LIMIT, occurrences  # which needs derived variables itself
    from exogpu.verify.nest import TooLarge

    statement = program.events[step]
    found = list(islice(occurrences(program, statement, sizes, {}), LIMIT + 1))
    if len(found) > LIMIT:
        raise TooLarge(f"more than {LIMIT} steps of a counter")
    return sorted({place(statement, o.env) for o in found})


def place(event: Event, env: Values) -> tuple[int, ...]:
    """The place of an execution in its thread's order: loops over threads and CTAs aside."""
    out: list[int] = []
    for s in event.path:
        out.append(s.position)
        if s.loop is not None:
            out.append(0 if s.loop.kind in (LoopKind.THREADS, LoopKind.CTAS) else env[s.loop.var])
    return tuple(out)
