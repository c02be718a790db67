"""`exogpu sync`: barriers, waits and fences for a kernel that has none or the wrong ones, with the proof."""

from __future__ import annotations

import argparse
import sys

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.edited import jobs, surveyed
from exogpu.cli.output import palette
from exogpu.cli.patch import Patch, patch
from exogpu.cli.targets import last_first, procedures
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.report.model import Exit, Run
from exogpu.report.sync import Synced, sync_json, sync_text
from exogpu.report.text import headline


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints the change of each kernel; exit 0 if all are proved as they stand, 1 if changes were found for those that
    are not, 3 if for some there are none."""
    run, kernels = surveyed(arguments, last_first if arguments.write else procedures, _synced)
    status = _status(run, kernels)
    if arguments.format == "json":
        sys.stdout.write(sync_json(run, axiom_policy(arguments), status, kernels))
    return status


def _status(run: Run, kernels: list[Synced]) -> Exit:
    if run.problems:
        return Exit.BAD_INPUT
    if any(kernel.result == "not found" for kernel in kernels):
        return Exit.UNDECIDED
    done = all(kernel.stands or kernel.written for kernel in kernels)
    return Exit.PROVED if done else Exit.REFUTED


def _synced(proc: Proc, arguments: argparse.Namespace, run: Run) -> Synced:
    from exogpu.sync import infer_sync

    found = infer_sync(
        proc, axiom_policy(arguments), jobs=jobs(arguments), tell=_told if sys.stderr.isatty() else _mute
    )
    source, change, written = "", Patch((), None), False
    if found.changed is not None and not found.stands:
        source = to_source(found.changed)
        change = patch(proc, found.changed, run.path(proc.span.file), "sync")
        written = arguments.write and change.write(proc.span.file)
    synced = Synced(proc.name, proc.span, found.stands, source, change.diff, written, found.report, found.reason)
    if arguments.format == "text":
        _print(synced, arguments, run)
    return synced


def _print(synced: Synced, arguments: argparse.Namespace, run: Run) -> None:
    lines = [*sync_text(synced, run)]
    if synced.report is not None and synced.result != "not found":
        lines.append(headline(run, synced.report, palette(arguments.color)))
    print("\n".join(lines), flush=True)
    if arguments.write and synced.result == "found" and not synced.written:
        text = "cannot be changed statement by statement, so nothing is written"
        print(f"exogpu sync: {run.path(synced.span.file)} {text}", file=sys.stderr)


def _told(text: str) -> None:
    print(f"{text} ...", file=sys.stderr)


def _mute(text: str) -> None:
    """Progress is for terminals."""
