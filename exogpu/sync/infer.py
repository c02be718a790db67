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
from exogpu.ir.layout import plan_layout
from exogpu.ir.proc import Proc
from exogpu.ir.wellformed import check
from exogpu.sync.bare import bare
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
    None if there is none, and `reason` says what kept inference from trying more."""

    kernel: Proc
    changed: Proc | None
    report: Report | None
    reason: str = ""

    @property
    def stands(self) -> bool:
        """The kernel is proved as it stands."""
        return self.changed is self.kernel


def infer_sync(proc: Proc, policy: Policy = DEFAULT, *, jobs: int = 1, tell: Tell = lambda text: None) -> Inferred:
    """Synchronisation with which a kernel is proved, and which cannot be weakened where it is new. Raises BadInput if
    its data statements are not acceptable."""
    _acceptable(bare(proc))
    own = _judged(proc, policy, [])
    if own is not None and own.status is Status.PROVED:
        return Inferred(proc, proc, verify(proc, policy, jobs=jobs))  # `own` decides some obligations twice
    reasons: list[str] = []
    closest: Proc | None = None
    for proposed, report in _synchronised(proc, policy, reasons):
        if report.status is Status.PROVED:
            tell("a proof is found; looking for the fewest changes")
            few = _fewest(changes(proc, proposed), policy)
            tell("looking for what is not needed")
            return Inferred(proc, *_slimmed(few, policy, jobs))
        closest = closest or proposed
    left = verify(closest, policy, jobs=jobs) if closest is not None else None
    return Inferred(proc, None, left, "; ".join(dict.fromkeys(reasons)))


def _acceptable(proc: Proc) -> None:
    problems = check(proc)
    if problems:
        raise BadInput(problems)
    plan_layout(proc)


def _judged(proc: Proc, policy: Policy, reasons: list[str]) -> Report | None:
    """The verdict, as far as the first refutation; None if the kernel is not acceptable: `reasons` gets why."""
    try:
        return attempt(proc, policy, frozenset())
    except BadInput as error:
        reasons += (f"{d.message} [{d.code}]" for d in error.diagnostics)
        return None


def _synchronised(proc: Proc, policy: Policy, reasons: list[str]) -> Iterator[tuple[Proc, Report]]:
    """Synchronised forms of the kernel's data statements with their verdicts, until one is proved."""
    for proposed in proposals(proc, reasons):
        found, report = proposed, _judged(proposed, policy, reasons)
        if report is not None and _unordered(report):
            found = fenced(proposed, policy) or proposed
            report = _judged(found, policy, reasons)
        if report is not None:
            yield found, report
        if report is not None and report.status is Status.PROVED:
            return


def _unordered(report: Report) -> bool:
    """What is refuted first may be a matter of fences: phases get their arrivals and bytes."""
    refuted = [o.rule for o in report.obligations if o.status is Status.REFUTED]
    return bool(refuted) and refuted[0] not in ("mbar.count", "mbar.tx_bytes", "deadlock.cycle")


# -- few changes -------------------------------------------------------------------------------------------------------


def _fewest(found: Changes, policy: Policy) -> Proc:
    """The kernel with so few of the changes that it is proved: one, two, or all but those that take back what the
    kernel may keep; and without what the changes make superfluous."""
    for number in (1, 2) if found.count <= FEW else (1,):
        for some in combinations(range(found.count), number) if number < found.count else ():
            made = frozenset(some)
            if _holds(found.made(made), policy):
                for removal in sorted(found.removals - made):
                    if _holds(found.made(made | {removal}), policy):
                        made |= {removal}
                return found.made(made)
    made = frozenset(range(found.count))
    for change in sorted(made - found.additions):
        if len(made) > 1 and _holds(found.made(made - {change}), policy):
            made -= {change}
    return found.made(made)


def _holds(proc: Proc, policy: Policy) -> bool:
    report = _judged(proc, policy, [])
    return report is not None and report.status is Status.PROVED


# -- no more than needed -----------------------------------------------------------------------------------------------


def _slimmed(proc: Proc, policy: Policy, jobs: int) -> tuple[Proc, Report]:
    """The kernel with its generated statements weakened until no weakening of one is proved, and its proof."""
    proof = verify(proc, policy, jobs=jobs)

    def judge(edits: Sequence[Edit], *, alone: bool) -> Iterator[Assessed[Edit]]:
        ours = [e for e in edits if e.span.file == GENERATED]
        verdicts = {a.edit.key: a for a in assess(proof, ours, policy, jobs)}
        for edit in edits:
            yield verdicts.get(edit.key) or Assessed(edit, Verdict(Fate.REJECTED, "", 0.0))

    left = slim(proc, judge)
    # a wait by fewer threads may have made something superfluous that was needed before
    return _slimmed(left.proc, policy, jobs) if left.taken else (proc, proof)
