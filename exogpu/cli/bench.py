"""Measures verification: whole commands in processes of their own, and the explicit engine beside them."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from exogpu.ir.evaluate import evaluate
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc, SizeArg
from exogpu.verify.prepare import prepare
from exogpu.verify.program import TASKS, Program

SIZES = (512, 1024, 2048, 4096)
"""Problem sizes M = N = K at which the explicit engine runs."""
CTAS = 132
"""Streaming multiprocessors of an H100 or H200 SXM: a persistent CTA walks its share of the tasks."""
POLL = 0.01
"""Seconds between two looks at the memory of a command."""


@dataclass(frozen=True, slots=True)
class Command:
    """One `exogpu verify`: wall-clock seconds, CPU seconds of all its processes, its peak memory in bytes (pages that
    processes share count once), and its JSON report on the only kernel."""

    seconds: float
    cpu: float
    memory: int
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of one kernel. `explicit` maps a size to what the explicit engine took, in words."""

    label: str
    cold: Command
    cached: Command
    explicit: Mapping[int, str]


def rows(kernels: Iterable[tuple[str, Proc]], jobs: int | None, limit: int) -> Iterator[Row]:
    """Measures kernels under their labels; the explicit engine gets `limit` CPU seconds a size, none if 0."""
    for label, proc in kernels:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kernel.py"
            file.write_text(to_source(proc), encoding="utf-8")
            cold, cached = (_command(file, Path(folder) / "cache", jobs) for _ in range(2))
        yield Row(label, cold, cached, dict(_explicit(proc, limit)) if limit else {})


def _command(file: Path, cache: Path, jobs: int | None) -> Command:
    command = [sys.executable, "-m", "exogpu", "verify", str(file), "--format", "json"]
    command += ["--jobs", str(jobs)] if jobs else []
    environment = {**os.environ, "EXOGPU_CACHE": str(cache)}
    before, started = os.times(), time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        peak = _Peak(process.pid)
        output, _ = process.communicate()
        seconds = time.perf_counter() - started
        memory = peak.stop()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    (report,) = json.loads(output)["kernels"]
    return Command(seconds, cpu, memory, report)


# -- memory ------------------------------------------------------------------------------------------------------------


class _Peak:
    """Watches a process and its descendants from a thread."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> int:
        """The most memory seen, in bytes."""
        self._done.set()
        self._thread.join()
        return self._peak

    def _watch(self) -> None:
        while not self._done.wait(POLL):
            self._peak = max(self._peak, sum(map(_proportional, _tree(self._pid))))


def _tree(pid: int) -> Iterator[int]:
    """A process and its descendants that are alive."""
    yield pid
    for child in _read(f"/proc/{pid}/task/{pid}/children").split():
        yield from _tree(int(child))


def _proportional(pid: int) -> int:
    """Resident bytes of a process, shared pages divided by their number of users (proc(5), smaps_rollup)."""
    fields = (line.split() for line in _read(f"/proc/{pid}/smaps_rollup").splitlines())
    return sum(1024 * int(f[1]) for f in fields if f[0] == "Pss:")


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""  # the process has ended


# -- the explicit engine -----------------------------------------------------------------------------------------------


def _explicit(proc: Proc, limit: int) -> Iterator[tuple[int, str]]:
    """CPU seconds per size for a matrix multiplication; sizes above one that takes too long are not tried."""
    if {a.name for a in proc.args if isinstance(a, SizeArg)} != {"M", "N", "K"}:
        return
    program = prepare(proc)
    for size in SIZES:
        took = _timed(program, size, limit)
        yield size, took
        if took.startswith(">"):
            return


def _timed(program: Program, size: int, limit: int) -> str:
    forking = multiprocessing.get_context("fork")
    ours, theirs = forking.Pipe(duplex=False)
    process = forking.Process(target=_check, args=(program, size, limit, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        # the limit is of CPU time; an hour of waiting means that the machine gives none
        answer: str = ours.recv() if ours.poll(3600) else f"> {limit} s"
    except EOFError:
        process.join()
        answer = f"> {limit} s" if process.exitcode == -signal.SIGXCPU else "failed"
    finally:
        process.terminate()
        process.join()
    return answer


def _check(program: Program, size: int, limit: int, answer: Connection) -> None:
    from exogpu.verify.explicit import faults
    from exogpu.verify.nest import TooLarge

    used = int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + limit, used + 2 * limit))
    sizes = dict.fromkeys(program.sizes, size)
    grid = 1
    for task in program.tasks:
        grid *= evaluate(task.hi, sizes) - evaluate(task.lo, sizes)
    sizes[TASKS] = -(-grid // (CTAS // program.cluster)) if program.persistent else 1
    started = time.process_time()
    try:
        found = list(faults(program, sizes))
    except TooLarge:
        answer.send("too large")
        return
    answer.send(f"{len(found)} faults" if found else f"{time.process_time() - started:.1f} s")
