"""`exogpu compile`: prove a kernel, emit it, write the bundle."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from exogpu.cli.axioms import axiom_policy
from exogpu.cli.errors import UsageError
from exogpu.cli.output import palette, render
from exogpu.cli.proofs import decided
from exogpu.cli.targets import one_proc
from exogpu.diagnostics import BadInput
from exogpu.report.model import Exit, Run, exit_status
from exogpu.report.text import headline
from exogpu.verify.proven import ProvenKernel, seal


def execute(arguments: argparse.Namespace) -> Exit:
    """Writes a bundle only for a proven kernel; else prints the same report as `verify`."""
    try:
        proc = one_proc(arguments.target)
        reports, problems = decided([proc], axiom_policy(arguments), arguments)
        run = Run(tuple(reports), tuple(problems))
        proven = seal(proc, reports[0]) if reports else None
        if proven is not None:
            print(headline(run, proven.report, palette(arguments.color)))
            print(_compile(proven, Path(arguments.output or f"{proc.name}.exogpu")))
            return Exit.PROVED
    except BadInput as error:
        run = Run(problems=error.diagnostics)
    sys.stdout.write(render(run, "text", arguments.color))
    return exit_status(run)


def _compile(proven: ProvenKernel, path: Path) -> str:
    """Emits, compiles and writes the bundle; a line that says what it holds."""
    from exogpu.codegen.bundle import write
    from exogpu.codegen.emit import emit

    bundle = emit(proven)
    try:
        write(bundle, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    m = bundle.manifest
    spilled = m.resources["spill_store_bytes"] + m.resources["spill_load_bytes"]
    return (
        f"wrote {path}: {m.threads} threads a CTA, {m.resources['registers']} registers a thread, "
        f"{spilled} bytes spilled, {m.shared_bytes} bytes of shared memory"
    )
