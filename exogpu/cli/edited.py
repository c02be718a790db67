"""What `slim`, `mutate` and `sync` share: the kernels of a target, their proofs, and what becomes of their edits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.errors import UsageError
from exogpu.cli.output import render
from exogpu.cli.targets import Kernel, Target, resolve
from exogpu.diagnostics import BadInput
from exogpu.report.edits import row
from exogpu.report.model import Run
from exogpu.verify.result import Report, Status

if TYPE_CHECKING:
    # the verifier is loaded only when there is something to verify
    from exogpu.verify.assess import Assessed
    from exogpu.verify.edits import Change, Edit

T = TypeVar("T")
C = TypeVar("C", bound="Change")
K = TypeVar("K")


def surveyed(
    arguments: argparse.Namespace,
    read: Callable[[Target], Sequence[T]],
    survey: Callable[[T, argparse.Namespace, Run], K],
) -> tuple[Run, list[K]]:
    """What `survey` finds of everything that is to be `read` from the target. A target that is not acceptable is a
    problem of the run, and as text printed at once."""
    run = Run(deterministic=arguments.deterministic)
    found: list[K] = []
    try:
        for kernel in read(resolve(arguments.target)):
            found.append(survey(kernel, arguments, run))
    except BadInput as error:
        run = replace(run, problems=error.diagnostics)
        if arguments.format == "text":
            sys.stdout.write(render(run, "text", arguments.color))
    return run, found


def jobs(arguments: argparse.Namespace) -> int:
    """Processes to use."""
    from exogpu.verify.workers import cores

    return arguments.jobs or cores()


def proof(kernel: Kernel, arguments: argparse.Namespace) -> Report:
    """The proof of a kernel or a skeleton; UsageError if it is not proved, since its edits then say nothing."""
    from exogpu.cli.decide import decide

    report = decide(kernel, axiom_policy(arguments), jobs=jobs(arguments))
    if report.status is not Status.PROVED:
        raise UsageError(f"{kernel.name} is not proved, so its edits would say nothing; see `exogpu verify`")
    return report


def assessed(
    original: Report, edits: Sequence[Edit], arguments: argparse.Namespace, run: Run, *, told: bool = True
) -> Iterator[Assessed[Edit]]:
    """What becomes of the edits of a proved kernel; as text each is printed as soon as it is known, if `told`."""
    from exogpu.verify.assess import assess

    results = assess(original, edits, axiom_policy(arguments), jobs(arguments))
    announced(original, len(edits))
    yield from shown(results, original, arguments, run, told=told)


def announced(original: Report, edits: int) -> None:
    """Says at a terminal how many edits will be tried."""
    if sys.stderr.isatty():
        print(f"trying {edits} edits of {original.kernel} ...", file=sys.stderr)


def shown(
    results: Iterable[Assessed[C]], original: Report, arguments: argparse.Namespace, run: Run, *, told: bool = True
) -> Iterator[Assessed[C]]:
    """What becomes of the edits of `original`; as text each is printed as soon as it is known, if `told`."""
    for found in results:
        if told and arguments.format == "text":
            print(row(found, original.span, run), flush=True)
        yield found
