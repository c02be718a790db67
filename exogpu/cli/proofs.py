"""Verification as the commands ask for it: on several processes or machines, and not again if it was done before."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from exogpu.cli.scheduler import remotely
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.proc import Proc
from exogpu.verify.axioms import Policy
from exogpu.verify.cache import Cache, key, user_cache
from exogpu.verify.prepare import prepare
from exogpu.verify.result import Report


def decided(
    procs: Iterable[Proc], policy: Policy, arguments: argparse.Namespace
) -> tuple[list[Report], list[Diagnostic]]:
    """The reports on kernels under a policy on axioms, from the user's cache unless `--no-cache`, and what makes others
    unacceptable."""
    cache = None if arguments.no_cache else user_cache(os.environ)
    accepted: list[tuple[Proc, str]] = []
    problems: list[Diagnostic] = []
    for proc in procs:
        try:
            program = prepare(proc, policy)
            accepted.append((proc, key(proc, program) if cache else ""))
        except BadInput as error:
            problems += error.diagnostics
    found = [_known(cache, name, policy) if cache else None for _, name in accepted]
    missing = [proc for (proc, _), report in zip(accepted, found, strict=True) if report is None]
    made = iter(_made(missing, policy, arguments))
    reports: list[Report] = []
    for (_, name), known in zip(accepted, found, strict=True):
        report = known or next(made)
        if cache and not known:
            _keep(cache, name, report)
        reports.append(report)
    return reports, problems


def _known(cache: Cache, name: str, policy: Policy) -> Report | None:
    started = time.perf_counter()
    known = cache.get(name)
    return known and replace(known, seconds=time.perf_counter() - started, policy=policy)


def _keep(cache: Cache, name: str, report: Report) -> None:
    try:
        cache.put(name, report)
    except OSError as error:
        print(f"exogpu: note: {cache.folder} cannot keep the proof: {error.strerror}", file=sys.stderr)


def _made(procs: Sequence[Proc], policy: Policy, arguments: argparse.Namespace) -> Iterable[Report]:
    if arguments.scheduler and procs:
        return remotely(procs, policy, arguments.scheduler)
    return _here(procs, policy, arguments.jobs)


def _here(procs: Iterable[Proc], policy: Policy, jobs: int | None) -> Iterator[Report]:
    for proc in procs:
        from exogpu.verify.prove import verify  # only now: it loads the solver
        from exogpu.verify.workers import cores

        if sys.stderr.isatty():
            print(f"verifying {proc.name} ...", file=sys.stderr)
        yield verify(proc, policy, jobs=jobs or cores())
