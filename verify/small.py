"""Small sizes at which a sequential program is worth running: the smallest, and those where a loop has no trips."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from exogpu.smt.index import to_poly
from exogpu.smt.solver import Sat
from exogpu.smt.terms import Formula
from exogpu.verify.program import TASKS, Loop, LoopKind, Program
from exogpu.verify.session import Session

LEAST = (1, 5)
"""The smallest sizes are tried that the preconditions allow with every size at least this."""

_Wanted = Callable[[Session], list[Formula]]


def small_sizes(program: Program) -> Iterator[dict[str, int]]:
    """Sizes that the preconditions allow, each once."""
    found: list[dict[str, int]] = []
    for wanted in _wanted(program):
        sizes = _smallest(program, wanted)
        if sizes is not None and sizes not in found:
            found.append(sizes)
            yield sizes


def _wanted(program: Program) -> Iterator[_Wanted]:
    for least in LEAST:
        yield partial(_at_least, least=least)
    for name in program.sizes:
        yield partial(_without, name=name)
    for loop in dict.fromkeys(loop for e in program.events for loop in e.loops if loop.kind is LoopKind.SEQ):
        yield partial(_without_trips, loop=loop)


def _at_least(session: Session, least: int) -> list[Formula]:
    return [session.ctx.le(least, session.model.sizes[s]) for s in session.program.sizes]


def _without(session: Session, name: str) -> list[Formula]:
    """A size is 0, and yet a task runs."""
    return [session.ctx.le(1, session.model.sizes[TASKS]), session.ctx.eq(session.model.sizes[name], 0)]


def _without_trips(session: Session, loop: Loop) -> list[Formula]:
    """A loop has no trips, and yet a task runs."""
    try:
        lo, hi = (to_poly(session.ctx, bound, session.model.sizes) for bound in (loop.lo, loop.hi))
    except KeyError:
        return [session.ctx.api.literal(False)]  # its bounds depend on another loop
    return [session.ctx.le(1, session.model.sizes[TASKS]), session.ctx.le(hi, lo)]


def _smallest(program: Program, wanted: _Wanted) -> dict[str, int] | None:
    session = Session(program, "sizes", {})
    session.add(wanted(session))
    answer = session.check()
    if not isinstance(answer, Sat):
        return None
    found = session.sizes(session.minimise(answer.model))
    return {name: found[name] for name in program.sizes}
