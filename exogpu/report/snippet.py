"""One diagnostic as text: headline, source lines with underlined places, facts and a fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from exogpu.diagnostics import Diagnostic
from exogpu.report.model import Run
from exogpu.report.style import Palette, Role
from exogpu.source import Span

ReadLines = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Mark:
    """An underlined place; the primary one comes first and uses `^`."""

    span: Span
    text: str
    primary: bool


def read_lines(file: str) -> Sequence[str]:
    """The lines of a source file; none if it cannot be read, so that a report still appears."""
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()


def render_diagnostic(
    run: Run,
    diagnostic: Diagnostic,
    severity: str = "error",
    palette: Palette = Palette(),  # noqa: B008  (immutable)
    lines: ReadLines = read_lines,
) -> list[str]:
    """The lines of one diagnostic. `severity` is the first word; `lines` gives a file's source lines."""
    role: Role = "error" if severity == "error" else "warning"
    marks = [_Mark(diagnostic.span, diagnostic.label, True)]
    marks += [_Mark(label.span, label.text, False) for label in diagnostic.labels]
    shown = [m for m in marks if m.span.line > 0]
    width = max((len(str(m.span.line)) for m in shown), default=1)
    out = [palette(role, f"{severity}[{diagnostic.code}]") + palette("bold", f": {diagnostic.message}")]
    if not shown:
        out.append(f"{' ' * width}{palette('note', '-->')} {run.place(diagnostic.span)}")
    files = list(dict.fromkeys(m.span.file for m in shown))
    for file in files:
        here = [m for m in shown if m.span.file == file]
        arrow = "-->" if file == diagnostic.span.file else ":::"
        out.append(f"{' ' * width}{palette('note', arrow)} {run.place(here[0].span)}")
        out += _excerpt(here, lines(file), width, role, palette)
    bar = f"{' ' * width} {palette('note', '=')} "
    out += [f"{bar}{_emphasised(note, palette)}" for note in diagnostic.notes]
    if diagnostic.help:
        out.append(f"{bar}{palette('help', 'help')}: {diagnostic.help}")
    return out


def _emphasised(note: str, palette: Palette) -> str:
    name, colon, rest = note.partition(": ")
    return palette("bold", name) + colon + rest if colon else note


def _excerpt(marks: Sequence[_Mark], source: Sequence[str], width: int, role: Role, palette: Palette) -> Iterator[str]:
    """The marked lines of one file in line order, an ellipsis where lines are left out."""
    bar = palette("note", "|")
    empty = f"{' ' * width} {bar}"
    marks = [m for m in marks if m.span.line <= len(source)]
    if not marks:
        return
    yield empty
    previous = 0
    ordered = sorted(marks, key=lambda m: (m.span.line, m.span.col))
    for number, group in groupby(ordered, key=lambda m: m.span.line):
        if previous and number == previous + 2:
            yield f"{palette('note', str(number - 1).rjust(width))} {bar} {_plain(source[number - 2])}".rstrip()
        elif previous and number > previous + 1:
            yield palette("note", "...")
        text = _plain(source[number - 1])
        yield f"{palette('note', str(number).rjust(width))} {bar} {text}".rstrip()
        for mark in group:
            yield f"{empty} {_underline(mark, text, role, palette)}"
        previous = number
    yield empty


def _underline(mark: _Mark, text: str, role: Role, palette: Palette) -> str:
    span = mark.span
    end = span.end_col if span.end_line == span.line else len(text)
    length = max(1, end - span.col)
    sign = ("^" if mark.primary else "-") * length + (f" {mark.text}" if mark.text else "")
    return " " * span.col + palette(role if mark.primary else "note", sign)


def _plain(line: str) -> str:
    """The line with each tab as one space, so that columns stay columns."""
    return line.replace("\t", " ")
