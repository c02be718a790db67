"""`exogpu slim`: what synchronisation a kernel can do without, with the proof for all sizes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.edited import assessed, proof, surveyed
from exogpu.cli.output import palette
from exogpu.cli.patch import patch
from exogpu.cli.targets import procedures
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.report.edits import Slimmer, slim_json, slim_text
from exogpu.report.model import Exit, Run
from exogpu.report.text import headline

if TYPE_CHECKING:
    from exogpu.verify.assess import Assessed
    from exogpu.verify.edits import Edit


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints each weakening alone, then the greedy minimum; exit 0 if nothing can be taken away, 1 if something can."""
    run, kernels = surveyed(arguments, procedures, _slimmer)
    status = _status(run, kernels)
    if arguments.format == "json":
        sys.stdout.write(slim_json(run, axiom_policy(arguments), status, kernels))
    return status


def _status(run: Run, kernels: list[Slimmer]) -> Exit:
    if run.problems:
        return Exit.BAD_INPUT
    return Exit.REFUTED if any(kernel.taken for kernel in kernels) else Exit.PROVED


def _slimmer(proc: Proc, arguments: argparse.Namespace, run: Run) -> Slimmer:
    from exogpu.verify.slim import slim

    original = proof(proc, arguments)

    def judge(edits: Sequence[Edit], *, alone: bool) -> Iterator[Assessed[Edit]]:
        return assessed(original, edits, arguments, run, told=alone)

    left = slim(proc, judge)
    found = Slimmer(
        proc.name,
        proc.span,
        left.alone,
        left.taken,
        to_source(left.proc),
        patch(proc, left.proc, run.path(proc.span.file)).diff,
        proof(left.proc, arguments),
    )
    if arguments.format == "text":
        print("\n".join(("", *slim_text(found), headline(run, found.proof, palette(arguments.color)))))
    return found
