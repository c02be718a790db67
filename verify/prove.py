"""The verifier's entry points: every obligation of a kernel, and its verdict."""

from __future__ import annotations

import time
from collections.abc import Iterator

from exogpu.diagnostics import BadInput
from exogpu.ir.layout import plan_layout
from exogpu.ir.proc import Proc
from exogpu.ir.wellformed import check
from exogpu.smt.solver import Unsat, version
from exogpu.verify.barrier_verdicts import barrier_obligations
from exogpu.verify.data_verdicts import (
    choice_obligations,
    claim_obligations,
    race_obligations,
    task_obligations,
)
from exogpu.verify.initialised import uninitialised
from exogpu.verify.lower import lower
from exogpu.verify.program import TASKS, Program
from exogpu.verify.proven import ProvenKernel, seal
from exogpu.verify.registers import register_obligations
from exogpu.verify.result import Obligation, Report, Status
from exogpu.verify.session import Session


def verify(proc: Proc) -> Report:
    """Decides every obligation of a kernel, for all sizes. Raises BadInput if the kernel is not well formed or its
    shared memory does not fit a CTA."""
    started = time.perf_counter()
    problems = check(proc)
    if problems:
        raise BadInput(problems)
    plan_layout(proc)
    program = lower(proc)
    if _nothing_runs(program):
        reason = "the require(...) preconditions leave no sizes at which a task runs, so nothing is shown"
        return _report(proc, Status.VACUOUS, (), started, reason)
    obligations = tuple(_obligations(proc, program))
    reason = "" if obligations else "the kernel has nothing to prove"
    return _report(proc, _overall(obligations), obligations, started, reason)


def _nothing_runs(program: Program) -> bool:
    session = Session(program, "assumptions", {})
    session.add([session.ctx.le(1, session.model.sizes[TASKS])])
    return isinstance(session.check(), Unsat)


def prove(proc: Proc) -> tuple[ProvenKernel | None, Report]:
    """As `verify`, with the proven kernel if every obligation holds."""
    report = verify(proc)
    return seal(proc, report), report


def _obligations(proc: Proc, program: Program) -> Iterator[Obligation]:
    choices = tuple(choice_obligations(program))
    yield from choices
    if any(o.status is not Status.PROVED for o in choices):
        return  # everything below takes it that exactly one unit executes
    yield from race_obligations(program)
    yield from task_obligations(program)
    yield from barrier_obligations(program)
    yield from claim_obligations(program)
    yield from register_obligations(proc)
    yield from uninitialised(proc, program)


def _overall(obligations: tuple[Obligation, ...]) -> Status:
    """The worst verdict: refuted, then unsupported, then unknown; PROVED only if all are and there are some."""
    found = {o.status for o in obligations}
    for status in (Status.REFUTED, Status.UNSUPPORTED, Status.UNKNOWN, Status.VACUOUS):
        if status in found:
            return status
    return Status.PROVED if obligations else Status.UNKNOWN


def _report(proc: Proc, status: Status, obligations: tuple[Obligation, ...], started: float, reason: str) -> Report:
    seconds = time.perf_counter() - started
    return Report(proc.name, proc.span, status, obligations, version(), seconds, reason)
