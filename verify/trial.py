"""Runs at a few small sizes, for what has no closed form: a failing run refutes, others decide nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.smt.index import to_poly
from exogpu.smt.solver import Sat
from exogpu.verify.concrete import Env
from exogpu.verify.program import TASKS, LoopKind, Program
from exogpu.verify.replay import run
from exogpu.verify.result import Obligation, Status
from exogpu.verify.session import Session


def on_trial(program: Program, base: Obligation, message: str, reason: str) -> Obligation:
    """REFUTED with `message` if the machine fails at some of the sizes tried, else UNKNOWN with the reason."""
    for sizes in trial_sizes(program):
        found = run(program, base, sizes, message, minimal=False)
        if found.status is Status.REFUTED:
            return found
    return replace(base, status=Status.UNKNOWN, reason=reason)


def trial_sizes(program: Program) -> Iterator[Env]:
    """The smallest sizes with so many tasks, or so many trips of the loops, or both, that every ring turns."""
    turned = 2 + max((b.ring for b in program.barriers.values()), default=0)
    for tasks, trips in ((1, turned), (turned, 1), (turned, turned)):
        found = _smallest(program, tasks, trips)
        if found is not None:
            yield found


def _smallest(program: Program, tasks: int, trips: int) -> Env | None:
    """The smallest sizes with so many tasks of one CTA and so many trips of every loop over sizes, if there are any."""
    session = Session(program, "trial", {})
    sizes = session.model.sizes
    session.add([session.ctx.le(tasks if program.persistent else 1, sizes[TASKS])])
    for loop in dict.fromkeys(loop for e in program.events for loop in e.loops if loop.kind is LoopKind.SEQ):
        try:
            length = to_poly(session.ctx, loop.hi, sizes) - to_poly(session.ctx, loop.lo, sizes)
        except KeyError:
            continue  # its bounds depend on another loop
        if length.constant is None:
            session.add([session.ctx.le(trips, length)])
    answer = session.check()
    return session.sizes(session.minimise(answer.model)) if isinstance(answer, Sat) else None
