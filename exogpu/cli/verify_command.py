"""`exogpu verify`: prove kernels and print the report."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from exogpu.cli.errors import UsageError
from exogpu.cli.output import render
from exogpu.cli.proofs import decided
from exogpu.cli.targets import Target, load_procs, resolve, shipped
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.report.model import Exit, Run, exit_status


def execute(arguments: argparse.Namespace) -> Exit:
    """Verifies every target and prints one report on all of them."""
    if bool(arguments.targets) == arguments.all:
        raise UsageError("give PATH[:NAME] of what to verify, or --all for the shipped kernels")
    targets, unresolved = _targets(arguments)
    procs, unreadable = load_procs(targets)
    reports = tuple(decided(proc, arguments) for proc in procs)
    run = Run(
        reports,
        (*unresolved, *unreadable),
        deterministic=arguments.deterministic,
        allow_unknown=arguments.allow_unknown,
    )
    sys.stdout.write(render(run, arguments.format, arguments.color, arguments.chains))
    if arguments.smt_dir:
        write_queries(run, Path(arguments.smt_dir))
    return exit_status(run)


def _targets(arguments: argparse.Namespace) -> tuple[list[Target], list[Diagnostic]]:
    targets: list[Target] = list(shipped()) if arguments.all else []
    problems: list[Diagnostic] = []
    for text in arguments.targets:
        try:
            targets.append(resolve(text))
        except BadInput as error:
            problems += error.diagnostics
    return targets, problems


def write_queries(run: Run, folder: Path) -> None:
    """Writes each solver query to `folder/KERNEL/NAME.smt2`; UsageError if the folder cannot be written."""
    try:
        for report in run.reports:
            for query in (q for o in report.obligations for q in o.queries):
                name = re.sub(r"[^\w.+-]+", "_", query.name)
                path = folder / report.kernel / f"{name}.smt2"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(query.smtlib, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from error
