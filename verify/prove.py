"""The verifier's entry points: every obligation of a kernel, and its verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain

from exogpu.ir.proc import Proc
from exogpu.smt.solver import Unsat, version
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.barrier_verdicts import barrier_pieces, quick_barrier_pieces
from exogpu.verify.data_verdicts import (
    Suspects,
    choice_obligations,
    claim_pieces,
    race_pieces,
    split_race_pieces,
    task_pieces,
)
from exogpu.verify.initialised import uninitialised
from exogpu.verify.pieces import Piece, groups
from exogpu.verify.prepare import prepare
from exogpu.verify.program import TASKS, Program
from exogpu.verify.proven import ProvenKernel, seal
from exogpu.verify.reductions import reassociated
from exogpu.verify.registers import register_obligations
from exogpu.verify.result import Obligation, Report, Status
from exogpu.verify.session import Session
from exogpu.verify.workers import spread


def verify(proc: Proc, policy: Policy = DEFAULT, *, jobs: int = 1) -> Report:
    """Decides every obligation of a kernel, for all sizes, on at most `jobs` processes, with the memory-model axioms
    that `policy` allows. Raises BadInput if the kernel is not well formed or its shared memory does not fit a CTA."""
    started = time.perf_counter()
    program = prepare(proc, policy)
    calls: list[Callable[[], list[Obligation] | None]] = [partial(_something_runs, program)]
    calls.append(partial(_choices, program))
    calls += [group.decide for group in groups(program, _pieces(proc, program))]
    obligations: list[Obligation] = []
    with closing(spread(calls, jobs)) as results:
        for n, found in enumerate(results):
            if found is None:
                return _report(proc, program, (), started, policy, vacuous=True)
            obligations += found
            if n == 1 and any(o.status is not Status.PROVED for o in found):
                break  # everything else takes it that exactly one unit executes
    return _report(proc, program, obligations, started, policy)


def attempt(proc: Proc, policy: Policy, suspects: Suspects) -> Report:
    """As `verify`, but the first refutation ends it, so a refuted kernel's other obligations are missing. A fault is
    looked for among the suspected pairs and in barriers first."""
    started = time.perf_counter()
    program = prepare(proc, policy)
    if _something_runs(program) is None:
        return _report(proc, program, (), started, policy, vacuous=True)
    obligations = _choices(program)
    if any(o.status is not Status.PROVED for o in obligations):
        return _report(proc, program, obligations, started, policy)
    likely, others = split_race_pieces(program, suspects)
    first = (quick_barrier_pieces(program), likely, barrier_pieces(program), others)
    for piece in chain(*first, task_pieces(program), _single(proc, program)):
        for obligation in piece.decide(program):
            obligations.append(obligation)
            if obligation.status is Status.REFUTED:
                return _report(proc, program, obligations, started, policy)
    return _report(proc, program, obligations, started, policy)


def _something_runs(program: Program) -> list[Obligation] | None:
    """None if no task runs at any sizes; it adds no obligation."""
    session = Session(program, "assumptions", {})
    session.add([session.ctx.le(1, session.model.sizes[TASKS])])
    return None if isinstance(session.check(), Unsat) else []


def _choices(program: Program) -> list[Obligation]:
    return list(choice_obligations(program))


def prove(proc: Proc, policy: Policy = DEFAULT, *, jobs: int = 1) -> tuple[ProvenKernel | None, Report]:
    """As `verify`, with the proven kernel if every obligation holds."""
    report = verify(proc, policy, jobs=jobs)
    return seal(proc, report), report


def _pieces(proc: Proc, program: Program) -> Iterator[Piece]:
    yield from race_pieces(program)
    yield from task_pieces(program)
    yield from barrier_pieces(program)
    yield from _single(proc, program)


def _single(proc: Proc, program: Program) -> Iterator[Piece]:
    """What concerns single statements and declarations."""
    yield from claim_pieces(program)
    yield Piece(0, lambda _: register_obligations(proc))
    yield Piece(1, partial(uninitialised, proc))


def _overall(obligations: Sequence[Obligation]) -> Status:
    """The worst verdict: refuted, then unsupported, then unknown; PROVED only if all are and there are some."""
    found = {o.status for o in obligations}
    for status in (Status.REFUTED, Status.UNSUPPORTED, Status.UNKNOWN, Status.VACUOUS):
        if status in found:
            return status
    return Status.PROVED if obligations else Status.UNKNOWN


def _report(
    proc: Proc,
    program: Program,
    obligations: Sequence[Obligation],
    started: float,
    policy: Policy,
    *,
    vacuous: bool = False,
) -> Report:
    status, reason = _overall(obligations), "" if obligations else "the kernel has nothing to prove"
    if vacuous:
        status = Status.VACUOUS
        reason = "the require(...) preconditions leave no sizes at which a task runs, so nothing is shown"
    sums = tuple(reassociated(proc, program)) if status is Status.PROVED else ()
    seconds = time.perf_counter() - started
    return Report(proc.name, proc.span, status, tuple(obligations), version(), seconds, reason, policy, sums)
