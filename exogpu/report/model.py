"""What the renderers take: the reports and problems of one run, and how paths are shown."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass, field
from pathlib import Path

from exogpu.diagnostics import Diagnostic
from exogpu.source import Span
from exogpu.verify.result import Obligation, Report, Status

PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])


class Exit(enum.IntEnum):
    """Exit status of the command; stable."""

    PROVED = 0
    REFUTED = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    INTERNAL = 4


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of one command: a report for each kernel checked, and a problem for each input not accepted.

    `root` is the folder that shown paths are relative to. `deterministic` leaves out seconds, versions and
    absolute paths, so that equal inputs give equal text. `allow_unknown` tolerates undecided obligations.
    """

    reports: tuple[Report, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    root: str = field(default_factory=os.getcwd)
    deterministic: bool = False
    allow_unknown: bool = False

    def path(self, file: str) -> str:
        """`file` as shown: relative to `root` where it lies below it (for deterministic text, also relative to
        the folder that holds the package)."""
        roots = (self.root, PACKAGE_PARENT) if self.deterministic else (self.root,)
        for root in roots:
            if file.startswith(root.rstrip("/") + "/"):
                return str(Path(file).relative_to(root))
        return file

    def place(self, span: Span) -> str:
        """`path:line:column`, columns counted from 1; only the path if the span names no line."""
        return f"{self.path(span.file)}:{span.line}:{span.col + 1}" if span.line else self.path(span.file)

    def kernel(self, report: Report) -> str:
        """The name of a kernel in summaries: `path::name`."""
        return f"{self.path(report.span.file)}::{report.kernel}"


def exit_status(run: Run) -> Exit:
    """The exit status that a run deserves: bad input first, then a refutation, then anything left undecided."""
    statuses = {report.status for report in run.reports}
    if run.problems:
        return Exit.BAD_INPUT
    if Status.REFUTED in statuses:
        return Exit.REFUTED
    tolerated = {Status.PROVED, Status.UNKNOWN} if run.allow_unknown else {Status.PROVED}
    return Exit.PROVED if statuses <= tolerated else Exit.UNDECIDED


def verdict(report: Report) -> str:
    """The verdict in words."""
    return report.status.value + " up to reassociation" * bool(report.reassociated)


def with_status(report: Report, *statuses: Status) -> tuple[Obligation, ...]:
    """The report's obligations that have one of `statuses`: what is refuted first, causes before consequences."""
    return tuple(sorted((o for o in report.obligations if o.status in statuses), key=_rank))


CAUSES = ("mbar.lag", "bar.", "mbar.", "group.", "deadlock.")
"""Rules whose violation brings others with it: a barrier that does not work orders nothing."""


def _rank(obligation: Obligation) -> tuple[bool, bool, bool]:
    rule = obligation.rule
    return obligation.status is not Status.REFUTED, not rule.startswith(CAUSES), not rule.startswith(CAUSES[0])


def times(count: int) -> str:
    """How often a finding was made, to go after its message."""
    return f" ({count} times)" if count > 1 else ""


def failure(obligation: Obligation) -> Diagnostic:
    """The diagnostic of an obligation that is not proved: its message if refuted, else what was left undecided."""
    message = obligation.message
    if obligation.status is not Status.REFUTED or not message:
        message = f"{VERB[obligation.status]}: {obligation.title}"
    return Diagnostic(
        code=obligation.rule,
        message=message,
        span=obligation.span,
        label=obligation.label,
        labels=obligation.labels,
        notes=_notes(obligation),
        help=obligation.help,
    )


def full_message(diagnostic: Diagnostic) -> str:
    """The message, the facts and the fix, one a line, for formats that carry a single text."""
    fix = (f"help: {diagnostic.help}",) if diagnostic.help else ()
    return "\n".join((diagnostic.message, *diagnostic.notes, *fix))


VERB = {
    Status.PROVED: "proved",
    Status.REFUTED: "does not hold",
    Status.UNKNOWN: "not decided",
    Status.VACUOUS: "holds only because assumptions contradict each other",
    Status.UNSUPPORTED: "outside what the verifier supports",
}


def _notes(obligation: Obligation) -> tuple[str, ...]:
    notes = [f"reason: {obligation.reason}"] if obligation.reason else []
    witness = obligation.counterexample
    if witness is not None:
        sizes = ", ".join(f"{name} = {value}" for name, value in witness.sizes) or "any sizes"
        notes.append(f"witness: {sizes}" + (" (no smaller sizes fail)" if witness.minimal else ""))
        notes += [f"{name}: {value}" for name, value in witness.facts]
        notes.append(f"confirmed by: {witness.replay}")
    return tuple(notes)
