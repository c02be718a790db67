"""`exogpu mutate`: every single edit of a kernel's synchronisation, and what the verifier says of it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.edited import assessed, proof
from exogpu.cli.output import render
from exogpu.cli.targets import procedures, resolve
from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Proc
from exogpu.report.edits import Mutated, mutate_json, totals
from exogpu.report.model import Exit, Run


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints one line per mutant; exit 3 if of some it is not known whether they are correct."""
    run, policy = Run(deterministic=arguments.deterministic), axiom_policy(arguments)
    kernels: list[Mutated] = []
    try:
        for proc in procedures(resolve(arguments.target)):
            kernels.append(_mutated(proc, arguments, run))
    except BadInput as error:
        run = replace(run, problems=error.diagnostics)
    status = _status(run, kernels)
    if arguments.format == "json":
        sys.stdout.write(mutate_json(run, policy, status, kernels))
    elif run.problems:
        sys.stdout.write(render(run, "text", arguments.color))
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
