"""`exogpu verify`: prove kernels and print the report."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.errors import UsageError
from exogpu.cli.output import render
from exogpu.cli.proofs import decided
from exogpu.cli.targets import chosen, load_kernels
from exogpu.report.model import Exit, Run, exit_status


def execute(arguments: argparse.Namespace) -> Exit:
    """Verifies every target and prints one report on all of them."""
    if bool(arguments.targets) == arguments.all:
        raise UsageError("give PATH[:NAME] of what to verify, or --all for the shipped kernels")
    targets, unresolved = chosen(arguments.targets, every=arguments.all)
    kernels, unreadable = load_kernels(targets)
    reports, unacceptable = decided(kernels, axiom_policy(arguments), arguments)
    run = Run(
        tuple(reports),
        (*unresolved, *unreadable, *unacceptable),
        deterministic=arguments.deterministic,
        allow_unknown=arguments.allow_unknown,
    )
    sys.stdout.write(render(run, arguments.format, arguments.color, chains=arguments.chains, explain=arguments.explain))
    if arguments.smt_dir:
        write_queries(run, Path(arguments.smt_dir))
    return exit_status(run)


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
