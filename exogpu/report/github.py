"""GitHub Actions workflow commands, which annotate the lines of a pull request."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from exogpu.diagnostics import Diagnostic
from exogpu.report.model import Run, failure, full_message, times, verdict, with_status
from exogpu.source import Span
from exogpu.verify.result import Status

LIMIT = 10
"""Annotations of one level that GitHub shows for a step; the rest is counted in a notice."""


def render_github(run: Run) -> str:
    """At most ten errors and ten warnings, bad input and refutations first."""
    errors, warnings = list(run.problems), []
    for report in run.reports:
        errors += [failure(o) for o in with_status(report, Status.REFUTED)]
        undecided = with_status(report, Status.UNKNOWN, Status.VACUOUS, Status.UNSUPPORTED)
        warnings += [failure(o) for o in undecided]
    errors, warnings = _once(errors), _once(warnings)
    lines = [_annotation(run, "error", d) for d in errors[:LIMIT]]
    lines += [_annotation(run, "warning", d) for d in warnings[:LIMIT]]
    hidden = max(0, len(errors) - LIMIT) + max(0, len(warnings) - LIMIT)
    if hidden:
        lines.append(f"::notice::{hidden} more findings")
    lines += [f"::notice::{_data(run.kernel(r))} {verdict(r)}" for r in run.reports]
    return "".join(f"{line}\n" for line in lines)


def _once(found: list[Diagnostic]) -> list[Diagnostic]:
    """Those of one message at one place as one, with their number."""
    first: dict[tuple[str, str, Span], Diagnostic] = {}
    counts = Counter((d.code, d.message, d.span) for d in found)
    for d in found:
        first.setdefault((d.code, d.message, d.span), d)
    return [replace(d, message=d.message + times(counts[key])) for key, d in first.items()]


def _annotation(run: Run, level: str, diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    place = {"file": run.path(span.file)}
    if span.line:
        place |= {"line": str(span.line), "endLine": str(span.end_line), "col": str(span.col + 1)}
        place |= {"endColumn": str(span.end_col)} if span.end_line == span.line else {}
    place["title"] = diagnostic.code
    fields = ",".join(f"{key}={_property(value)}" for key, value in place.items())
    return f"::{level} {fields}::{_data(full_message(diagnostic))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
