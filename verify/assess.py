"""What becomes of edited kernels: killed by a rule, not a kernel any more, harmless, or unknown."""

from __future__ import annotations

import enum
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from exogpu.diagnostics import BadInput
from exogpu.verify.axioms import Policy
from exogpu.verify.data_verdicts import Suspects
from exogpu.verify.edits import Edit
from exogpu.verify.meaning import same_results
from exogpu.verify.prove import attempt
from exogpu.verify.result import Report, Status
from exogpu.verify.workers import spread


class Fate(enum.Enum):
    """`KILLED`: refuted by a replayed counterexample, or a run shows that it computes something else; `REJECTED`: not
    well formed; `HARMLESS`: proved for all sizes."""

    KILLED = "killed"
    REJECTED = "rejected"
    HARMLESS = "still proved"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A fate, found in `seconds`. `cause`: the rule that kills or rejects, the axioms that a harmless edit needs in
    addition, or the reason why nothing is known."""

    fate: Fate
    cause: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Assessed:
    """An edit and what becomes of it."""

    edit: Edit
    verdict: Verdict


def assess(original: Report, edits: Sequence[Edit], policy: Policy, jobs: int = 1) -> Iterator[Assessed]:
    """Verifies edited kernels, in order, each as far as needed: the first refutation ends it. `original` is the proof
    of the kernel as it was."""
    calls = [partial(_verdict, original, edit, policy) for edit in edits]
    with closing(spread(calls, jobs)) as verdicts:
        for edit, verdict in zip(edits, verdicts, strict=True):
            yield Assessed(edit, verdict)


def _verdict(original: Report, edit: Edit, policy: Policy) -> Verdict:
    started = time.perf_counter()
    fate, cause = _fate(original, edit, policy)
    return Verdict(fate, cause, time.perf_counter() - started)


def _fate(original: Report, edit: Edit, policy: Policy) -> tuple[Fate, str]:
    try:
        report = attempt(edit.proc, policy, _suspects(original, edit))
    except BadInput as error:
        return Fate.REJECTED, error.diagnostics[0].code
    match report.status:
        case Status.REFUTED:
            return Fate.KILLED, next(o.rule for o in report.obligations if o.status is Status.REFUTED)
        case Status.PROVED if edit.before is not None and not same_results(edit.before, edit.proc):
            return Fate.KILLED, "seq.mismatch"
        case Status.PROVED:
            more = [name for name in report.axioms if name not in original.axioms]
            return Fate.HARMLESS, f"relies on axiom {', '.join(more)}" if more else ""
        case _:
            reasons = [report.reason, *(o.reason for o in report.obligations)]
            return Fate.UNKNOWN, "; ".join(dict.fromkeys(filter(None, reasons)))


def _suspects(original: Report, edit: Edit) -> Suspects:
    """Pairs of statements whose proof ran through what was edited."""
    lines = range(edit.span.line, edit.span.end_line + 1)
    chains = (c.links for o in original.obligations for c in o.chains if c.links)
    return frozenset(
        (links[0].span, links[-1].span) for links in chains if any(link.span.line in lines for link in links[1:-1])
    )
