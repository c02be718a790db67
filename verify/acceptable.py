"""What is asked of a kernel before anything is proved of it."""

from __future__ import annotations

from exogpu.diagnostics import BadInput
from exogpu.ir.completion import completion_problems
from exogpu.ir.layout import plan_layout
from exogpu.ir.named import plan_barriers
from exogpu.ir.proc import Proc
from exogpu.ir.wellformed import check


def accept(proc: Proc) -> None:
    """BadInput if a kernel is not well formed or its shared memory or named barriers do not suffice."""
    problems = (*check(proc), *completion_problems(proc))
    if problems:
        raise BadInput(problems)
    plan_layout(proc)
    plan_barriers(proc)
