"""Verification as the commands ask for it: on several processes, and not again if it was done before."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace

from exogpu.ir.proc import Proc
from exogpu.verify.axioms import Policy
from exogpu.verify.cache import Cache, key, user_cache
from exogpu.verify.prepare import prepare
from exogpu.verify.result import Report


def decided(proc: Proc, policy: Policy, arguments: argparse.Namespace) -> Report:
    """The report on a kernel under a policy on axioms, from the user's cache unless `--no-cache`; BadInput if it is
    not well formed."""
    cache = None if arguments.no_cache else user_cache(os.environ)
    return _decide(proc, policy, arguments.jobs) if cache is None else _remembered(proc, policy, arguments.jobs, cache)


def _remembered(proc: Proc, policy: Policy, jobs: int | None, cache: Cache) -> Report:
    started = time.perf_counter()
    name = key(proc, prepare(proc, policy))
    known = cache.get(name)
    if known is not None:
        return replace(known, seconds=time.perf_counter() - started, policy=policy)
    report = _decide(proc, policy, jobs)
    try:
        cache.put(name, report)
    except OSError as error:
        print(f"exogpu: note: {cache.folder} cannot keep the proof: {error.strerror}", file=sys.stderr)
    return report


def _decide(proc: Proc, policy: Policy, jobs: int | None) -> Report:
    from exogpu.verify.prove import verify
    from exogpu.verify.workers import cores

    if sys.stderr.isatty():
        print(f"verifying {proc.name} ...", file=sys.stderr)
    return verify(proc, policy, jobs=jobs or cores())
