"""`exogpu mutate`: every single edit of the synchronisation of a kernel or a skeleton, and what becomes of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.edited import announced, assessed, jobs, proof, shown, surveyed
from exogpu.cli.targets import Kernel, load_target
from exogpu.ir.proc import Proc
from exogpu.ir.skeleton.root import Skeleton
from exogpu.report.edits import Mutated, mutate_json, totals
from exogpu.report.model import Exit, Run

if TYPE_CHECKING:
    # the verifier is loaded only when there is something to verify
    from exogpu.verify.assess import Assessed
    from exogpu.verify.edits import Change


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints one line per mutant; exit 3 if of some it is not known whether they are correct."""
    run, kernels = surveyed(arguments, load_target, _mutated)
    status = _status(run, kernels)
    if arguments.format == "json":
        sys.stdout.write(mutate_json(run, axiom_policy(arguments), status, kernels))
    return status


def _status(run: Run, kernels: list[Mutated]) -> Exit:
    if run.problems:
        return Exit.BAD_INPUT
    unknown = any(a.verdict.fate.value == "unknown" for kernel in kernels for a in kernel.mutants)
    return Exit.UNDECIDED if unknown else Exit.PROVED


def _mutated(kernel: Kernel, arguments: argparse.Namespace, run: Run) -> Mutated:
    found = tuple(
        _skeletons(kernel, arguments, run) if isinstance(kernel, Skeleton) else _kernels(kernel, arguments, run)
    )
    if arguments.format == "text":
        print(f"{kernel.name}: {totals(found)}")
    return Mutated(kernel.name, kernel.span, found)


def _kernels(proc: Proc, arguments: argparse.Namespace, run: Run) -> Iterator[Assessed[Change]]:
    from exogpu.verify.mutants import mutants

    return assessed(proof(proc, arguments), list(mutants(proc)), arguments, run)


def _skeletons(skeleton: Skeleton, arguments: argparse.Namespace, run: Run) -> Iterator[Assessed[Change]]:
    from exogpu.verify.assess import assess_skeletons
    from exogpu.verify.skeleton.edits import mutants

    original, edits = proof(skeleton, arguments), list(mutants(skeleton))
    announced(original, len(edits))
    results = assess_skeletons(original, edits, axiom_policy(arguments), jobs(arguments))
    return shown(results, original, arguments, run)
