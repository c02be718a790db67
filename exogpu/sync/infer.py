"""Synchronisation for a kernel that has none, too little or the wrong one, proved for all sizes.

A kernel that is proved is left alone. Otherwise its data statements are synchronised anew; if what the kernel has
differs from that in a few places, the fewest changes are made that give a proof. What was put in, `slim` then
weakens as far as the proof allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Proc
from exogpu.sync.changes import Changes, changes
from exogpu.sync.fences import fenced
from exogpu.sync.plan import GENERATED
from exogpu.sync.propose import proposals
from exogpu.verify.assess import Assessed, Fate, Verdict, assess
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.edits import Edit
from exogpu.verify.prove import attempt, verify
from exogpu.verify.result import Report, Status
from exogpu.verify.slim import slim

FEW = 4
"""Changes up to which all pairs are tried."""
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was found for a kernel. `changed`: the synchronised kernel, which `report` proves; the kernel itself if it
    is proved as it stands; None if nothing that is proved was found: `report` is then on the form that came closest,
    and `reason` says what kept inference from trying more."""

    kernel: Proc
    changed: Proc | None
    report: Report
    reason: str = ""

    @property
    def stands(self) -> bool:
        """The kernel is proved as it stands."""
        return self.changed is self.kernel


def infer_sync(proc: Proc, policy: Policy = DEFAULT, *, jobs: int = 1, tell: Tell = lambda text: None) -> Inferred:
    """Synchronisation with which a kernel is proved, and which cannot be weakened where it is new. Raises BadInput if
    not even a synchronised form is acceptable."""
    own = _judged(proc, policy)
    if own is not None and own.status is Status.PROVED:
        return Inferred(proc, proc, own)
    reasons: list[str] = []
    closest: Proc | None = None
    for proposed, report in _synchronised(proc, policy, reasons):
        if report.status is Status.PROVED:
            tell("a proof is found; looking for the fewest changes")
            few = _fewest(changes(proc, proposed), policy)
            tell("looking for what is not needed")
            return Inferred(proc, *_slimmed(few, policy, jobs))
        closest = closest or proposed
    return Inferred(proc, None, verify(closest or proc, policy, jobs=jobs), "; ".join(reasons))


def _judged(proc: Proc, policy: Policy) -> Report | None:
    """The verdict, as far as the first refutation; None if the kernel is not acceptable."""
    try:
        return attempt(proc, policy, frozenset())
    except BadInput:
        return None


def _synchronised(proc: Proc, policy: Policy, reasons: list[str]) -> Iterator[tuple[Proc, Report]]:
    """Synchronised forms of the kernel's data statements with their verdicts, until one is proved."""
    for proposed in proposals(proc, reasons):
        found, report = proposed, _judged(proposed, policy)
        if report is not None and report.status is Status.REFUTED:
            found = fenced(proposed, policy) or proposed
            report = _judged(found, policy)
        if report is not None:
            yield found, report
        if report is not None and report.status is Status.PROVED:
            return


# -- few changes -------------------------------------------------------------------------------------------------------


def _fewest(found: Changes, policy: Policy) -> Proc:
    """The kernel with so few of the changes that it is proved: one, two, or all; and without what the changes make
    superfluous."""
    for number in (1, 2) if found.count <= FEW else (1,):
        for some in combinations(range(found.count), min(number, found.count)):
            made = frozenset(some)
            if _holds(found.made(made), policy):
                for removal in sorted(found.removals - made):
                    if _holds(found.made(made | {removal}), policy):
                        made |= {removal}
                return found.made(made)
    return found.after


def _holds(proc: Proc, policy: Policy) -> bool:
    report = _judged(proc, policy)
    return report is not None and report.status is Status.PROVED


# -- no more than needed -----------------------------------------------------------------------------------------------


def _slimmed(proc: Proc, policy: Policy, jobs: int) -> tuple[Proc, Report]:
    """The kernel with its generated statements weakened as far as the proof allows."""
    original = verify(proc, policy, jobs=jobs)

    def judge(edits: Sequence[Edit], *, alone: bool) -> Iterator[Assessed[Edit]]:
        ours = [e for e in edits if e.span.file == GENERATED]
        verdicts = {a.edit.key: a for a in assess(original, ours, policy, jobs)}
        for edit in edits:
            yield verdicts.get(edit.key) or Assessed(edit, Verdict(Fate.REJECTED, "", 0.0))

    left = slim(proc, judge)
    return left.proc, verify(left.proc, policy, jobs=jobs) if left.taken else original
