"""`exogpu mutate`: every single edit of a kernel's synchronisation, and what the verifier says of it."""

from __future__ import annotations

import argparse
import sys

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.edited import assessed, proof, surveyed
from exogpu.ir.proc import Proc
from exogpu.report.edits import Mutated, mutate_json, totals
from exogpu.report.model import Exit, Run


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints one line per mutant; exit 3 if of some it is not known whether they are correct."""
    run, kernels = surveyed(arguments, _mutated)
    status = _status(run, kernels)
    if arguments.format == "json":
        sys.stdout.write(mutate_json(run, axiom_policy(arguments), status, kernels))
    return status


def _status(run: Run, kernels: list[Mutated]) -> Exit:
    if run.problems:
        return Exit.BAD_INPUT
    unknown = any(a.verdict.fate.value == "unknown" for kernel in kernels for a in kernel.mutants)
    return Exit.UNDECIDED if unknown else Exit.PROVED


def _mutated(proc: Proc, arguments: argparse.Namespace, run: Run) -> Mutated:
    from exogpu.verify.mutants import mutants

    found = tuple(assessed(proof(proc, arguments), list(mutants(proc)), arguments, run))
    if arguments.format == "text":
        print(f"{proc.name}: {totals(found)}")
    return Mutated(proc.name, proc.span, found)
