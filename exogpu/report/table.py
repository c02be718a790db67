"""The replayed steps of a counterexample as a table that shows only what changed."""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.verify.result import Step

WIDTH = 120
"""Columns that a table with one column per state may take; a wider one lists the changes in one column."""

HEAD, TAIL = 12, 28
"""Steps shown at the start and end of a long execution."""


def render_steps(steps: Sequence[Step]) -> list[str]:
    """The table's lines; none without steps. The step numbers are those of the whole execution."""
    if not steps:
        return []
    fixed = [[str(n), s.actor, _at(s), _iteration(s), s.event] for n, s in enumerate(steps, 1)]
    names = list(dict.fromkeys(name for step in steps for name, _ in step.state))
    changes = _changes(steps)
    rows = [row + [changed.get(name, "") for name in names] for row, changed in zip(fixed, changes, strict=True)]
    lines = _layout([*FIXED, *names], rows)
    if max(map(len, lines)) > WIDTH:
        listed = [", ".join(f"{name} = {value}" for name, value in changed.items()) for changed in changes]
        rows = [[*row, text] for row, text in zip(fixed, listed, strict=True)]
        lines = _layout([*FIXED, "changed"], rows)
    return _shortened(lines)


FIXED = ("step", "actor", "at", "iteration", "event")


def _changes(steps: Sequence[Step]) -> list[dict[str, str]]:
    """For each step the state that differs from what the steps before it left."""
    known: dict[str, str] = {}
    result = []
    for step in steps:
        changed = {name: value for name, value in step.state if known.get(name) != value}
        known.update(changed)
        result.append(changed)
    return result


def _at(step: Step) -> str:
    return f"{step.span.line}:{step.span.col + 1}" if step.span.line else ""


def _iteration(step: Step) -> str:
    return " ".join(f"{name}={value}" for name, value in step.iteration)


def _layout(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns; a column that is empty everywhere is left out."""
    kept = [c for c in range(len(header)) if any(row[c] for row in rows)]
    widths = {c: max(len(header[c]), *(len(row[c]) for row in rows)) for c in kept}
    return [
        "  " + "  ".join(row[c].rjust(widths[c]) if c == 0 else row[c].ljust(widths[c]) for c in kept).rstrip()
        for row in (header, *rows)
    ]


def _shortened(lines: list[str]) -> list[str]:
    header, *rows = lines
    if len(rows) <= HEAD + TAIL + 1:
        return lines
    left_out = f"  ... {len(rows) - HEAD - TAIL} steps (all of them with --format json) ..."
    return [header, *rows[:HEAD], left_out, *rows[-TAIL:]]
