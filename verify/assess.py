"""What becomes of an edited kernel: killed by a rule, not a kernel any more, harmless, or unknown."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass

from exogpu.diagnostics import BadInput
from exogpu.verify.axioms import Policy
from exogpu.verify.edits import Edit
from exogpu.verify.prove import attempt
from exogpu.verify.result import Status


class Fate(enum.Enum):
    """`KILLED`: refuted by a replayed counterexample; `REJECTED`: not well formed; `HARMLESS`: proved for all sizes."""

    KILLED = "killed"
    REJECTED = "rejected"
    HARMLESS = "still proved"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Assessed:
    """An edit and its fate: `cause` is the rule that kills or rejects it, or the reason why nothing is known."""

    edit: Edit
    fate: Fate
    cause: str
    seconds: float


FATES = {Status.REFUTED: Fate.KILLED, Status.PROVED: Fate.HARMLESS}


def assess(edit: Edit, policy: Policy) -> Assessed:
    """Verifies an edited kernel as far as needed: the first refutation ends it."""
    started = time.perf_counter()
    try:
        report = attempt(edit.proc, policy, edit.span)
    except BadInput as error:
        return Assessed(edit, Fate.REJECTED, error.diagnostics[0].code, time.perf_counter() - started)
    broken = [o.rule for o in report.obligations if o.status is Status.REFUTED]
    reasons = [report.reason, *(o.reason for o in report.obligations)]
    cause = broken[0] if broken else "; ".join(dict.fromkeys(filter(None, reasons)))
    return Assessed(edit, FATES.get(report.status, Fate.UNKNOWN), cause, time.perf_counter() - started)
