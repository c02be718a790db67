"""From a kernel to the parallel program that is verified."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.proc import Proc
from exogpu.verify.acceptable import accept
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.lower import lower
from exogpu.verify.program import Program


def prepare(proc: Proc, policy: Policy = DEFAULT) -> Program:
    """The parallel program of a kernel, whose orderings may use the axioms that `policy` allows; BadInput if the kernel
    is not acceptable."""
    accept(proc)
    return replace(lower(proc), axioms=policy.in_force)
