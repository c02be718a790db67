"""From a kernel to the parallel program that is verified."""

from __future__ import annotations

from dataclasses import replace

from exogpu.diagnostics import BadInput
from exogpu.ir.completion import completion_problems
from exogpu.ir.layout import plan_layout
from exogpu.ir.named import plan_barriers
from exogpu.ir.proc import Proc
from exogpu.ir.wellformed import check
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.lower import lower
from exogpu.verify.program import Program


def prepare(proc: Proc, policy: Policy = DEFAULT) -> Program:
    """The parallel program of a kernel, whose orderings may use the axioms that `policy` allows; BadInput if the kernel
    is not well formed or its shared memory or named barriers do not suffice."""
    problems = (*check(proc), *completion_problems(proc))
    if problems:
        raise BadInput(problems)
    plan_layout(proc)
    plan_barriers(proc)
    return replace(lower(proc), axioms=policy.in_force)
