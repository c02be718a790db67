"""What becomes of edited kernels: killed by a rule, not a kernel any more, harmless, or unknown."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from exogpu.diagnostics import BadInput
from exogpu.verify.axioms import Policy
from exogpu.verify.data_verdicts import Suspects
from exogpu.verify.edits import Change, Edit
from exogpu.verify.meaning import same_results
from exogpu.verify.prove import attempt
from exogpu.verify.result import Report, Status
from exogpu.verify.skeleton.edits import SkeletonEdit
from exogpu.verify.skeleton.verdict import verify_skeleton
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


C = TypeVar("C", bound=Change, covariant=True)
E = TypeVar("E", bound=Change)


@dataclass(frozen=True, slots=True)
class Assessed(Generic[C]):
    """An edit and what becomes of it."""

    edit: C
    verdict: Verdict


def assess(original: Report, edits: Sequence[Edit], policy: Policy, jobs: int = 1) -> Iterator[Assessed[Edit]]:
    """Verifies edited kernels, in order, each as far as needed: the first refutation ends it. `original` is the proof
    of the kernel as it was."""
    yield from assessed(edits, lambda edit: attempt(edit.proc, policy, _suspects(original, edit)), original, jobs)


def assess_skeletons(
    original: Report, edits: Sequence[SkeletonEdit], policy: Policy, jobs: int = 1
) -> Iterator[Assessed[SkeletonEdit]]:
    """The same of a skeleton."""
    yield from assessed(edits, lambda edit: verify_skeleton(edit.skeleton, policy, hasty=True), original, jobs)


def assessed(edits: Sequence[E], report: Callable[[E], Report], original: Report, jobs: int) -> Iterator[Assessed[E]]:
    """What becomes of edits, by the report on each."""
    calls = [partial(_verdict, original, edit, report) for edit in edits]
    with closing(spread(calls, jobs)) as verdicts:
        for edit, verdict in zip(edits, verdicts, strict=True):
            yield Assessed(edit, verdict)


def _verdict(original: Report, edit: E, report: Callable[[E], Report]) -> Verdict:
    started = time.perf_counter()
    try:
        fate, cause = _fate(original, edit, report(edit))
    except BadInput as error:
        fate, cause = Fate.REJECTED, error.diagnostics[0].code
    return Verdict(fate, cause, time.perf_counter() - started)


def _fate(original: Report, edit: Change, report: Report) -> tuple[Fate, str]:
    match report.status:
        case Status.REFUTED:
            return Fate.KILLED, next(o.rule for o in report.obligations if o.status is Status.REFUTED)
        case Status.PROVED if isinstance(edit, Edit) and edit.before and not same_results(edit.before, edit.proc):
            return Fate.KILLED, "seq.mismatch"
        case Status.PROVED:
            more = [name for name in report.axioms if name not in original.axioms]
            return Fate.HARMLESS, f"relies on axiom {', '.join(more)}" if more else ""
        case _:
            reasons = [report.reason, *(o.reason for o in report.obligations)]
            return Fate.UNKNOWN, "; ".join(dict.fromkeys(filter(None, reasons)))


def _suspects(original: Report, edit: Edit) -> Suspects:
    """Pairs of statements whose proof ran through what was edited."""
    file, lines = edit.span.file, range(edit.span.line, edit.span.end_line + 1)
    chains = (c.links for o in original.obligations for c in o.chains if c.links)
    return frozenset(
        (links[0].span, links[-1].span)
        for links in chains
        if any(link.span.file == file and link.span.line in lines for link in links[1:-1])
    )
