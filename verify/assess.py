"""What becomes of edited kernels: killed by a rule, not a kernel any more, harmless, or unknown."""

from __future__ import annotations

import enum
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Proc
from exogpu.source import Span
from exogpu.verify.axioms import Policy
from exogpu.verify.edits import Edit
from exogpu.verify.prove import attempt
from exogpu.verify.result import Status
from exogpu.verify.workers import spread


class Fate(enum.Enum):
    """`KILLED`: refuted by a replayed counterexample; `REJECTED`: not well formed; `HARMLESS`: proved for all sizes."""

    KILLED = "killed"
    REJECTED = "rejected"
    HARMLESS = "still proved"
    UNKNOWN = "unknown"


FATES = {Status.REFUTED: Fate.KILLED, Status.PROVED: Fate.HARMLESS}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A fate, in seconds. `cause`: the rule that kills or rejects, the axioms that a harmless edit relies on, or the
    reason why nothing is known."""

    fate: Fate
    cause: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Assessed:
    """An edit and what becomes of it."""

    edit: Edit
    verdict: Verdict


def assess(edits: Sequence[Edit], policy: Policy, jobs: int = 1) -> Iterator[Assessed]:
    """Verifies edited kernels, in order, each as far as needed: the first refutation ends it."""
    calls = [partial(_verdict, edit.proc, policy, edit.span) for edit in edits]
    with closing(spread(calls, jobs)) as verdicts:
        for edit, verdict in zip(edits, verdicts, strict=True):
            yield Assessed(edit, verdict)


def _verdict(proc: Proc, policy: Policy, near: Span) -> Verdict:
    started = time.perf_counter()
    try:
        report = attempt(proc, policy, near)
    except BadInput as error:
        return Verdict(Fate.REJECTED, error.diagnostics[0].code, time.perf_counter() - started)
    fate = FATES.get(report.status, Fate.UNKNOWN)
    match fate:
        case Fate.KILLED:
            cause = next(o.rule for o in report.obligations if o.status is Status.REFUTED)
        case Fate.HARMLESS:
            cause = ""
        case _:
            reasons = [report.reason, *(o.reason for o in report.obligations)]
            cause = "; ".join(dict.fromkeys(filter(None, reasons)))
    return Verdict(fate, cause, time.perf_counter() - started)
