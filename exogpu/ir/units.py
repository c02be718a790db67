"""Units of a role that are chosen by numbers: all of a role's units count the arrives and awaits of them all, so what
different ones do to a barrier would be for different phases of it."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.diagnostics import Diagnostic, Label
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import CopyArrive, NamedArrive
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Arrive, Await, BarrierRef, InstrCall, Role, Stmt
from exogpu.ir.walk import index_names, walk
from exogpu.source import Span

_Use = tuple[str, str, str]
"""A role, what its units do, and a barrier."""


def unit_problems(proc: Proc) -> Iterator[Diagnostic]:
    """Two units of a role, each known by its number, that both arrive on a barrier or both wait for it."""
    first: dict[_Use, tuple[int, Span]] = {}
    for role in walk(proc.body):
        if not isinstance(role, Role) or role.index is None or index_names(role.index):
            continue
        unit = evaluate(role.index, {})
        for stmt in walk(role.body):
            for does, barrier in _counted(stmt):
                other, span = first.setdefault((role.name, does, barrier), (unit, stmt.span))
                if other != unit:
                    yield _both(role.name, other, unit, does, barrier, Label(span, "counts before it"), stmt.span)


def _both(role: str, one: int, other: int, does: str, barrier: str, label: Label, span: Span) -> Diagnostic:
    return Diagnostic(
        "lang.role",
        f"`{role}[{one}]` and `{role}[{other}]` both {does} `{barrier}`, and each counts what the other does",
        span,
        "is for the next phase",
        labels=(label,),
        help="declare a role for each, which then counts for itself; or, if they take turns, choose the unit by a loop "
        "variable",
    )


def _counted(stmt: Stmt) -> Iterator[tuple[str, str]]:
    match stmt:
        case Arrive(barrier):
            yield "arrive on", barrier
        case Await(barrier):
            yield "wait for", barrier
        case InstrCall(instr) if isinstance(instr.effect, CopyArrive | NamedArrive):
            joined = stmt.operand(instr.effect.barrier)
            if isinstance(joined, BarrierRef):
                yield "arrive on", joined.name
        case _:
            pass
