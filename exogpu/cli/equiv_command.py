"""`exogpu equiv`: whether two procedures compute the same, for all sizes."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace

from exogpu.cli.output import not_kept, palette, render
from exogpu.cli.targets import one_proc
from exogpu.diagnostics import BadInput
from exogpu.equiv.result import Equivalence, Verdict
from exogpu.ir.interp import sequential
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.report.equivalence import equivalence_json, equivalence_status, equivalence_text
from exogpu.report.model import Exit, Run
from exogpu.verify.cache import SOURCES, hashed, user_cache
from exogpu.verify.entries import Entries

RECORDS = frozenset({"exogpu.equiv.result", "exogpu.source"})
"""Modules whose classes an outcome consists of."""
ROOMS = (*SOURCES, "equiv")
"""Rooms that a verdict depends on."""


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints the outcome of the comparison."""
    run = Run(deterministic=arguments.deterministic)
    found: Equivalence | None = None
    try:
        found = _compared(one_proc(arguments.a), one_proc(arguments.b), cached=not arguments.no_cache)
    except BadInput as error:
        run = replace(run, problems=error.diagnostics)
    if arguments.format == "json":
        sys.stdout.write(equivalence_json(run, found))
    elif found is None:
        sys.stdout.write(render(run, "text", arguments.color))
    else:
        sys.stdout.write(equivalence_text(run, found, palette(arguments.color)))
    return equivalence_status(run, found)


def _compared(a: Proc, b: Proc, *, cached: bool) -> Equivalence:
    """The outcome, from the user's cache if it is there; BadInput if the two cannot be compared."""
    started = time.perf_counter()
    cache = user_cache(os.environ) if cached else None
    if cache is None:
        return _decide(a, b)
    entries, name = Entries(cache.folder, RECORDS), hashed(ROOMS, "equiv", *_text(a), *_text(b))
    known = entries.get(name)
    if isinstance(known, Equivalence):
        return replace(known, cached=True, seconds=time.perf_counter() - started)
    found = _decide(a, b)
    if found.verdict is not Verdict.UNKNOWN:
        _keep(entries, name, found)
    return found


def _decide(a: Proc, b: Proc) -> Equivalence:
    from exogpu.equiv.equivalent import equivalent  # only now: it loads the solver

    return equivalent(a, b)


def _text(proc: Proc) -> tuple[str, ...]:
    """All that the outcome depends on and shows of a procedure."""
    return str(proc.span), repr(proc.args), to_source(proc), repr(sequential(proc))


def _keep(entries: Entries, name: str, found: Equivalence) -> None:
    try:
        entries.put(name, found)
    except OSError as error:
        not_kept(entries.folder, error)
