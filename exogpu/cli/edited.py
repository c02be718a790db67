"""What `slim` and `mutate` share: a proved kernel, and what becomes of its edits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.errors import UsageError
from exogpu.cli.output import render
from exogpu.cli.targets import procedures, resolve
from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Proc
from exogpu.report.edits import row
from exogpu.report.model import Run
from exogpu.verify.result import Report, Status

if TYPE_CHECKING:
    # the verifier is loaded only when there is something to verify
    from exogpu.verify.assess import Assessed
    from exogpu.verify.edits import Edit

K = TypeVar("K")


def surveyed(
    arguments: argparse.Namespace, survey: Callable[[Proc, argparse.Namespace, Run], K], *, last_first: bool = False
) -> tuple[Run, list[K]]:
    """What `survey` finds of every kernel of the target; of the last of the file first if it may edit the file. A
    target that is not acceptable is a problem of the run, and as text printed at once."""
    run = Run(deterministic=arguments.deterministic)
    found: list[K] = []
    try:
        procs = procedures(resolve(arguments.target))
        for proc in sorted(procs, key=lambda p: p.span.line, reverse=True) if last_first else procs:
            found.append(survey(proc, arguments, run))
    except BadInput as error:
        run = replace(run, problems=error.diagnostics)
        if arguments.format == "text":
            sys.stdout.write(render(run, "text", arguments.color))
    return run, found


def jobs(arguments: argparse.Namespace) -> int:
    """Processes to use."""
    from exogpu.verify.workers import cores

    return arguments.jobs or cores()


def proof(proc: Proc, arguments: argparse.Namespace) -> Report:
    """The proof of a kernel; UsageError if it is not proved, since its edits then say nothing."""
    from exogpu.verify.prove import verify

    report = verify(proc, axiom_policy(arguments), jobs=jobs(arguments))
    if report.status is not Status.PROVED:
        raise UsageError(f"{proc.name} is not proved, so its edits would say nothing; see `exogpu verify`")
    return report


def assessed(
    original: Report, edits: Sequence[Edit], arguments: argparse.Namespace, run: Run, *, told: bool = True
) -> Iterator[Assessed]:
    """What becomes of the edits of a proved kernel; as text each is printed as soon as it is known, if `told`."""
    from exogpu.verify.assess import assess

    for found in assess(original, edits, axiom_policy(arguments), jobs(arguments)):
        if told and arguments.format == "text":
            print(row(found, run), flush=True)
        yield found
