"""Synchronisation for a kernel that has none, proved for all sizes and so that none of it can be removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Proc
from exogpu.sync.bare import bare
from exogpu.sync.fences import fenced
from exogpu.sync.propose import proposals
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status


@dataclass(frozen=True, slots=True)
class Tried:
    """A synchronised form of a kernel and what the verifier says of it."""

    proc: Proc
    report: Report


def tried(proc: Proc, policy: Policy = DEFAULT, jobs: int = 1) -> Iterator[Tried]:
    """Synchronised forms of a bare kernel, until one is proved."""
    for proposed in proposals(bare(proc)):
        try:
            found = fenced(proposed, policy) or proposed
            report = verify(found, policy, jobs=jobs)
        except BadInput:
            continue
        yield Tried(found, report)
        if report.status is Status.PROVED:
            return
