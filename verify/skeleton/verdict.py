"""The verdict on a skeleton."""

from __future__ import annotations

import time
from dataclasses import replace

from exogpu.ir.skeleton.operations import Unsupported
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.smt.solver import version
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.pieces import GROUP, Piece, groups
from exogpu.verify.program import Program
from exogpu.verify.result import Obligation, Report, Status
from exogpu.verify.skeleton.barriers import Signals
from exogpu.verify.skeleton.lower import Walk
from exogpu.verify.skeleton.numbering import numbered
from exogpu.verify.skeleton.obligations import Facts, pieces
from exogpu.verify.skeleton.operations import Operations
from exogpu.verify.skeleton.rank import progress
from exogpu.verify.skeleton.unsupported import NotModelled
from exogpu.verify.skeleton.walk import every_statement
from exogpu.verify.skeleton.windows import Windows


def verify_skeleton(skeleton: Skeleton, policy: Policy = DEFAULT, *, jobs: int = 1) -> Report:
    """The verdict on a skeleton."""
    started = time.perf_counter()
    features = sorted({s.feature for s in every_statement(skeleton) if isinstance(s, Unsupported)})
    if features:
        reason = f"there is no model of {', '.join(features)}"
        return _report(skeleton, Status.UNSUPPORTED, (), started, policy, reason)
    try:
        program, facts = prepare(skeleton, policy)
        parts = (*pieces(program, facts), Piece(GROUP, lambda p: (progress(p, facts),)))
        found = tuple(o for group in groups(program, parts) for o in group.decide())
    except (NotModelled, NoClosedForm) as error:
        return _report(skeleton, Status.UNKNOWN, (), started, policy, str(error))
    bad = next((o for o in found if o.status is not Status.PROVED), None)
    return _report(skeleton, Status.PROVED if bad is None else bad.status, found, started, policy)


def prepare(skeleton: Skeleton, policy: Policy) -> tuple[Program, Facts]:
    """The parallel program of a skeleton, with phases, and what else is known of it; raises `NotModelled`."""
    windows = Windows({o.name: o for o in skeleton.objects}, skeleton.cluster)
    signals = Signals(skeleton)
    operations = Operations(skeleton, windows, signals)
    walk = Walk(skeleton, operations)
    walk.run()
    program = Program(
        name=skeleton.name,
        span=skeleton.span,
        sizes=skeleton.sizes,
        requires=tuple(r.cond for r in skeleton.requires),
        threads=skeleton.threads,
        cluster=skeleton.cluster,
        persistent=False,
        tasks=(),
        buffers=windows.buffers(),
        barriers=signals.barriers,
        events=tuple(operations.events),
        axioms=policy.in_force,
        sequential=False,
        derived=walk.derived,
    )
    phased = numbered(program, signals)
    checks = tuple(replace(c, event=phased.program.events[c.event.id]) for c in operations.checks)
    return phased.program, Facts(phased.flows, phased.starts, signals.slots, checks)


def _report(
    skeleton: Skeleton,
    status: Status,
    obligations: tuple[Obligation, ...],
    started: float,
    policy: Policy,
    reason: str = "",
) -> Report:
    seconds = time.perf_counter() - started
    return Report(skeleton.name, skeleton.span, status, obligations, version(), seconds, reason, policy)
