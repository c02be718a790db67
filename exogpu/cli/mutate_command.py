"""`exogpu mutate`: every single edit of a kernel's synchronisation, and what the verifier says of it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from functools import partial

from exogpu.cli.output import render
from exogpu.cli.targets import load_target, resolve
from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Proc
from exogpu.report.model import Exit, Run, exit_status


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints one line per mutant; exit 3 if some mutant is neither refuted nor proved."""
    try:
        procs = load_target(resolve(arguments.target))
    except BadInput as error:
        run = Run(problems=error.diagnostics)
        sys.stdout.write(render(run, "text", arguments.color))
        return exit_status(run)
    undecided = sum(_table(proc, arguments.jobs) for proc in procs)
    return Exit.UNDECIDED if undecided else Exit.PROVED


def _table(proc: Proc, jobs: int | None) -> int:
    """The table of one kernel; returns the number of undecided mutants."""
    from exogpu.verify.mutants import mutants
    from exogpu.verify.workers import cores, spread

    found: Counter[str] = Counter()
    all_mutants = list(mutants(proc))
    fates = spread([partial(_fate, mutant.proc) for mutant in all_mutants], jobs or cores())
    for mutant, (verdict, why) in zip(all_mutants, fates, strict=True):
        found[verdict] += 1
        print(f"{mutant.span.line:5}  {verdict:15}  {mutant.what}" + (f"  [{why}]" if why else ""), flush=True)
    print(f"{proc.name}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(found.items())))
    return found["undecided"]


def _fate(mutant: Proc) -> tuple[str, str]:
    """What becomes of a mutant, and why."""
    from exogpu.verify.prove import verify
    from exogpu.verify.result import Status

    try:
        report = verify(mutant)
    except BadInput as error:
        return "not well formed", error.diagnostics[0].message
    broken = sorted({o.rule for o in report.obligations if o.status is Status.REFUTED})
    open_ = sorted({o.reason for o in report.obligations if o.status is Status.UNKNOWN})
    verdict = {Status.REFUTED: "killed", Status.PROVED: "still proved"}.get(report.status, "undecided")
    return verdict, ", ".join(broken) if broken else "; ".join(open_)
