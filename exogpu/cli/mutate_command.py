"""`exogpu mutate`: every single edit of a kernel's synchronisation, and what the verifier says of it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.errors import UsageError
from exogpu.cli.output import rejected
from exogpu.cli.targets import procedures, resolve
from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Proc
from exogpu.report.edits import as_json, row, totals
from exogpu.report.model import Exit, Run

if TYPE_CHECKING:
    from exogpu.verify.assess import Assessed


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints one line per mutant; exit 3 if of some it is not known whether they are correct."""
    try:
        procs = procedures(resolve(arguments.target))
    except BadInput as error:
        return rejected(error, arguments.color)
    run = Run(deterministic=arguments.deterministic)
    policy = axiom_policy(arguments)
    kernels: list[dict[str, Any]] = []
    undecided = False
    for proc in procs:
        found = _survey(proc, arguments, run)
        undecided |= any(a.verdict.fate.value == "unknown" for a in found)
        kernels.append({"name": proc.name, "mutants": [as_json(a, run) for a in found]})
        if arguments.format == "text":
            print(f"{proc.name}: {totals(found)}")
    if arguments.format == "json":
        strict = {"strict": policy.strict, "withdrawn": list(policy.withdrawn)}
        print(json.dumps({"schema": "exogpu.mutate/1", "axiom_policy": strict, "kernels": kernels}, indent=2))
    return Exit.UNDECIDED if undecided else Exit.PROVED


def _survey(proc: Proc, arguments: argparse.Namespace, run: Run) -> list[Assessed]:
    from exogpu.verify.assess import assess
    from exogpu.verify.mutants import mutants
    from exogpu.verify.prove import verify
    from exogpu.verify.result import Status
    from exogpu.verify.workers import cores

    policy, jobs = axiom_policy(arguments), arguments.jobs or cores()
    proof = verify(proc, policy, jobs=jobs)
    if proof.status is not Status.PROVED:
        raise UsageError(f"{proc.name} is not proved, so nothing can be said of its mutants; see `exogpu verify`")
    found: list[Assessed] = []
    for assessed in assess(proof, list(mutants(proc)), policy, jobs):
        found.append(assessed)
        if arguments.format == "text":
            print(row(assessed, run), flush=True)
    return found
