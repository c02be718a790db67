"""From a kernel to the parallel program that is verified."""

from __future__ import annotations

from exogpu.diagnostics import BadInput
from exogpu.ir.layout import plan_layout
from exogpu.ir.proc import Proc
from exogpu.ir.wellformed import check
from exogpu.verify.lower import lower
from exogpu.verify.program import Program


def prepare(proc: Proc) -> Program:
    """The parallel program of a kernel; BadInput if the kernel is not well formed or its shared memory does not fit
    a CTA."""
    problems = check(proc)
    if problems:
        raise BadInput(problems)
    plan_layout(proc)
    return lower(proc)
