"""Operators that name things: they change no statement."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.substitute import declared
from exogpu.schedule.cursor import Where
from exogpu.schedule.errors import limit
from exogpu.schedule.work import Work, operator


@operator
def label(at: Work, name: str, where: Where) -> None:
    """Gives statements a name, which stands for them in later steps. No loop or allocation may have it; of labels that
    are equal the last counts."""
    cursor = at.find(where)
    if name in declared(at.proc.body):
        raise limit(f"`{name}` is the name of a loop or an allocation", cursor.stmt.span, "take another label")
    at.labels.append((name, cursor.path, cursor.count))


@operator
def call(at: Work, name: str) -> None:
    """Gives the procedure another name."""
    at.proc = replace(at.proc, name=name)
