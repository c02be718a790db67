"""The barrier on which a copy completes. A copy that names none is part of a kernel whose synchronisation is not
written yet: it can be read, printed and interpreted, and neither verified nor compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.diagnostics import Diagnostic
from exogpu.ir.instr import CompleteTx
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import BarrierRef, InstrCall
from exogpu.ir.walk import walk


def completes_on(call: InstrCall) -> str | None:
    """The barrier named by a copy, empty if it names none; None for an instruction that completes otherwise."""
    if not isinstance(call.instr.completion, CompleteTx):
        return None
    ref = call.operand(call.instr.completion.barrier)
    return ref.name if isinstance(ref, BarrierRef) else ""


def completing_on(call: InstrCall, name: str | None) -> InstrCall:
    """The copy, completing on the named barrier or on none."""
    assert isinstance(call.instr.completion, CompleteTx)
    param = call.instr.completion.barrier
    given = {n: o for n, o in call.operands if n != param}
    if name is not None:
        given[param] = BarrierRef(name, call.span)
    return replace(call, operands=tuple((p.name, given[p.name]) for p in call.instr.params if p.name in given))


def completion_problems(proc: Proc) -> Iterator[Diagnostic]:
    """Copies that complete on no barrier."""
    for stmt in walk(proc.body):
        if isinstance(stmt, InstrCall) and completes_on(stmt) == "":
            yield Diagnostic(
                "mbar.missing",
                f"`{stmt.instr.name}` completes on no barrier, so nothing can wait for it",
                stmt.span,
                help="name an mbarrier as its last operand, or let `exogpu sync` place the synchronisation",
            )
