"""Findings as data: a `Diagnostic` is collected where it is found and rendered once, by `exogpu.report`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exogpu.source import Span


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that a diagnostic points at, with a short text."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable dotted `code`, a one-sentence `message`, its place, facts (`notes`) and a fix (`help`)."""

    code: str
    message: str
    span: Span
    label: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None


class BadInput(Exception):
    """The user's program is not acceptable; carries at least one `Diagnostic`. The CLI renders it and exits 2."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("; ".join(f"{d.span}: {d.message} [{d.code}]" for d in self.diagnostics))


class InternalError(Exception):
    """A fault of exogpu itself (exit 4): never used for anything a user's program can cause."""
