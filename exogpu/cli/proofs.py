"""Verification as the commands ask for it: on several processes, and not again if it was done before."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace

from exogpu.ir.proc import Proc
from exogpu.verify.cache import Cache, key, user_cache
from exogpu.verify.prepare import prepare
from exogpu.verify.result import Report


def decided(proc: Proc, arguments: argparse.Namespace) -> Report:
    """The report on a kernel, from the user's cache unless `--no-cache`; BadInput if it is not well formed."""
    cache = None if arguments.no_cache else user_cache(os.environ)
    return _decide(proc, arguments.jobs) if cache is None else _remembered(proc, arguments.jobs, cache)


def _remembered(proc: Proc, jobs: int | None, cache: Cache) -> Report:
    started = time.perf_counter()
    name = key(proc, prepare(proc))
    known = cache.get(name)
    if known is not None:
        return replace(known, seconds=time.perf_counter() - started)
    report = _decide(proc, jobs)
    try:
        cache.put(name, report)
    except OSError as error:
        print(f"exogpu: note: {cache.folder} cannot keep the proof: {error.strerror}", file=sys.stderr)
    return report


def _decide(proc: Proc, jobs: int | None) -> Report:
    from exogpu.verify.prove import verify
    from exogpu.verify.workers import cores

    if sys.stderr.isatty():
        print(f"verifying {proc.name} ...", file=sys.stderr)
    return verify(proc, jobs=jobs or cores())
