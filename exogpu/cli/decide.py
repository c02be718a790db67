"""The verdict on one kernel or skeleton."""

from __future__ import annotations

from exogpu.cli.targets import Kernel
from exogpu.ir.skeleton.root import Skeleton
from exogpu.verify.axioms import Policy
from exogpu.verify.result import Report


def decide(kernel: Kernel, policy: Policy, jobs: int = 1) -> Report:
    """The report on a kernel or a skeleton; the prover is imported only now, since it loads the solver."""
    if isinstance(kernel, Skeleton):
        from exogpu.verify.skeleton.verdict import verify_skeleton

        return verify_skeleton(kernel, policy, jobs=jobs)
    from exogpu.verify.prove import verify

    return verify(kernel, policy, jobs=jobs)
