"""Verification as the commands ask for it: on several processes or machines, and not again if it was done before."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from exogpu.cli.decide import decide
from exogpu.cli.output import not_kept
from exogpu.cli.scheduler import remotely
from exogpu.cli.targets import Kernel
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.skeleton.root import Skeleton
from exogpu.verify.acceptable import accept
from exogpu.verify.axioms import Policy
from exogpu.verify.cache import Cache, key, skeleton_key, user_cache
from exogpu.verify.result import Report


def decided(
    kernels: Iterable[Kernel], policy: Policy, arguments: argparse.Namespace
) -> tuple[list[Report], list[Diagnostic]]:
    """The reports on kernels and skeletons under a policy on axioms, from the user's cache unless `--no-cache`, and
    what makes others unacceptable."""
    cache = None if arguments.no_cache else user_cache(os.environ)
    accepted: list[tuple[Kernel, str]] = []
    problems: list[Diagnostic] = []
    for kernel in kernels:
        try:
            accepted.append((kernel, _name(kernel, policy, cached=cache is not None)))
        except BadInput as error:
            problems += error.diagnostics
    found = [_known(cache, name, policy) if cache else None for _, name in accepted]
    missing = [kernel for (kernel, _), report in zip(accepted, found, strict=True) if report is None]
    made = iter(_made(missing, policy, arguments))
    reports: list[Report] = []
    for (_, name), known in zip(accepted, found, strict=True):
        report = known or next(made)
        if cache and not known and not arguments.scheduler:  # a key names the solver of this machine
            _keep(cache, name, report)
        reports.append(report)
    return reports, problems


def _name(kernel: Kernel, policy: Policy, *, cached: bool) -> str:
    """The key of a kernel in the cache; BadInput if the kernel is not acceptable."""
    if isinstance(kernel, Skeleton):
        return skeleton_key(kernel, policy) if cached else ""
    accept(kernel)
    return key(kernel, policy) if cached else ""


def _known(cache: Cache, name: str, policy: Policy) -> Report | None:
    started = time.perf_counter()
    known = cache.get(name)
    return known and replace(known, seconds=time.perf_counter() - started, policy=policy)


def _keep(cache: Cache, name: str, report: Report) -> None:
    try:
        cache.put(name, report)
    except OSError as error:
        not_kept(cache.folder, error)


def _made(kernels: Sequence[Kernel], policy: Policy, arguments: argparse.Namespace) -> Iterable[Report]:
    if arguments.scheduler and kernels:
        return remotely(kernels, policy, arguments.scheduler)
    return _here(kernels, policy, arguments.jobs)


def _here(kernels: Iterable[Kernel], policy: Policy, jobs: int | None) -> Iterator[Report]:
    for kernel in kernels:
        from exogpu.verify.workers import cores

        if sys.stderr.isatty():
            print(f"verifying {kernel.name} ...", file=sys.stderr)
        yield decide(kernel, policy, jobs or cores())
