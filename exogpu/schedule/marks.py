"""Operators that name things: they change no statement."""

from __future__ import annotations

from dataclasses import replace

from exogpu.schedule.cursor import Where
from exogpu.schedule.work import Work, operator


@operator
def label(at: Work, name: str, where: Where) -> None:
    """Gives statements a name, which stands for them in later steps."""
    cursor = at.find(where)
    at.labels.append((name, cursor.path, cursor.count))


@operator
def call(at: Work, name: str) -> None:
    """Gives the procedure another name."""
    at.proc = replace(at.proc, name=name)
