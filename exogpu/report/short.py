"""One line per finding, `path:line:col: severity: message [code]`, as editors and grep expect."""

from __future__ import annotations

from collections import Counter

from exogpu.report.model import Run, failure, times, verdict, with_status
from exogpu.source import Span
from exogpu.verify.result import Obligation, Status


def render_short(run: Run) -> str:
    """Errors for bad input and refutations, warnings for what is undecided, each once, then a note per kernel."""
    lines = [f"{_place(run, d.span)}: error: {d.message} [{d.code}]" for d in run.problems]
    for report in run.reports:
        found = (_finding(run, o) for o in with_status(report, *(s for s in Status if s is not Status.PROVED)))
        lines += [f"{text}{times(count)} [{rule}]" for (text, rule), count in Counter(found).items()]
        lines.append(f"{_place(run, report.span)}: note: {report.kernel} {verdict(report)}")
    return "".join(f"{line}\n" for line in lines)


def _finding(run: Run, o: Obligation) -> tuple[str, str]:
    severity = "error" if o.status is Status.REFUTED else "warning"
    return f"{_place(run, o.span)}: {severity}: {failure(o).message}", o.rule


def _place(run: Run, span: Span) -> str:
    """`path:line:column`; the start of the file for a finding about the whole file."""
    return run.place(span) if span.line else f"{run.path(span.file)}:1:1"
