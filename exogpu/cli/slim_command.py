"""`exogpu slim`: what synchronisation a kernel can do without, with the proof for all sizes."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.errors import UsageError
from exogpu.cli.output import palette, rejected
from exogpu.cli.targets import procedures, resolve
from exogpu.diagnostics import BadInput
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.report.edits import as_json, edit_json, row, slim_text
from exogpu.report.model import Exit, Run
from exogpu.report.text import headline

if TYPE_CHECKING:
    from exogpu.verify.slim import Slimmed


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints each weakening alone, then the greedy minimum; exit 0 if nothing can be taken away, 1 if something can."""
    try:
        procs = procedures(resolve(arguments.target))
    except BadInput as error:
        return rejected(error, arguments.color)
    run = Run(deterministic=arguments.deterministic)
    documents = []
    slimmer = False
    for proc in procs:
        found, document = _slim(proc, arguments, run)
        slimmer |= bool(found.taken)
        documents.append(document)
    if arguments.format == "json":
        print(json.dumps({"schema": "exogpu.slim/1", "kernels": documents}, indent=2))
    return Exit.REFUTED if slimmer else Exit.PROVED


def _slim(proc: Proc, arguments: argparse.Namespace, run: Run) -> tuple[Slimmed, dict[str, Any]]:
    from exogpu.verify.assess import Assessed, assess
    from exogpu.verify.edits import Edit
    from exogpu.verify.prove import verify
    from exogpu.verify.result import Status
    from exogpu.verify.slim import slim
    from exogpu.verify.workers import cores

    policy, jobs = axiom_policy(arguments), arguments.jobs or cores()
    original = verify(proc, policy, jobs=jobs)
    if original.status is not Status.PROVED:
        raise UsageError(f"{proc.name} is not proved, so it can do without nothing; see `exogpu verify`")

    def judge(edits: Sequence[Edit]) -> Iterator[Assessed]:
        for assessed in assess(original, edits, policy, jobs):
            if arguments.format == "text":
                print(row(assessed, run), flush=True)
            yield assessed

    found = slim(proc, judge)
    diff = _difference(proc, found.proc)
    proof = verify(found.proc, policy, jobs=jobs)
    if arguments.format == "text":
        print("\n".join(("", *slim_text(proc.name, found.taken, diff), headline(run, proof, palette(arguments.color)))))
    return found, {
        "name": proc.name,
        "alone": [as_json(a, run) for a in found.alone],
        "taken": [edit_json(edit, run) for edit in found.taken],
        "slim": {"status": proof.status.value, "axioms": list(proof.axioms), "source": to_source(found.proc)},
        "diff": list(diff),
    }


def _difference(before: Proc, after: Proc) -> list[str]:
    """A unified diff of two kernels as the printer writes them."""
    old, new = to_source(before).splitlines(), to_source(after).splitlines()
    return list(difflib.unified_diff(old, new, before.name, f"{before.name}, slim", lineterm=""))
