"""`exogpu bench verify`: what proofs cost."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from exogpu.cli.bench import SIZES, Row, rows
from exogpu.cli.errors import UsageError
from exogpu.cli.output import render
from exogpu.cli.targets import chosen, load_procs
from exogpu.ir.proc import Proc
from exogpu.report.model import Exit, Run, exit_status

HEAD = ("kernel", "obligations", "queries", "cold", "CPU", "cached", "memory")
EXPLICIT = tuple(f"explicit {n}" for n in SIZES)


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints a table with one row per kernel; exit 3 if some kernel is not proved."""
    if (len(arguments.targets) > 0) + arguments.all + arguments.scaling != 1:
        raise UsageError("give PATH[:NAME] of what to measure, --all for the shipped kernels, or --scaling")
    targets, unresolved = chosen(arguments.targets, every=arguments.all)
    procs, unreadable = load_procs(targets)
    run = Run(problems=(*unresolved, *unreadable))
    if run.problems:
        sys.stdout.write(render(run, "text", "auto"))
        return exit_status(run)
    limit = 0 if arguments.scaling else arguments.limit
    head = HEAD + EXPLICIT if limit else HEAD
    print(_line(head))
    print(_line("---" for _ in head))
    proved = True
    kernels = scaling() if arguments.scaling else ((p.name, p) for p in procs)
    for row in rows(kernels, arguments.jobs, limit):
        print(_line((*_cells(row), *_explicit(row))[: len(head)]), flush=True)
        proved = proved and row.cold.report["status"] == "PROVED"
    return Exit.PROVED if proved else Exit.UNDECIDED


def scaling() -> Iterator[tuple[str, Proc]]:
    """The flagship in other shapes, one parameter at a time; the tile is as wide as shared memory allows."""
    from exogpu.kernels.gemm_bf16_cluster import build

    for stages in (2, 4, 6, 8):
        yield f"ring {stages}", build(stages=stages, columns=64)
    for cluster in (1, 2, 4, 8):
        yield f"cluster {cluster}", build(cluster=cluster)
    for consumers in (1, 2, 3, 4):
        yield f"consumers {consumers}", build(consumers=consumers, stages=2, columns=128)


def _cells(row: Row) -> Iterator[str]:
    obligations = row.cold.report["obligations"]
    status = row.cold.report["status"]
    yield row.label if status == "PROVED" else f"{row.label} ({status})"
    yield str(len(obligations))
    yield str(sum(len(o["queries"]) for o in obligations))
    yield f"{row.cold.seconds:.2f} s"
    yield f"{row.cold.cpu:.2f} s"
    yield f"{row.cached.seconds:.2f} s"
    yield f"{row.cold.memory / 1e6:.0f} MB"


def _explicit(row: Row) -> Iterator[str]:
    """A size that was not tried has a dash."""
    for size in SIZES:
        yield row.explicit.get(size, "-")


def _line(cells: Iterator[str] | tuple[str, ...]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"
