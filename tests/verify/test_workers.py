"""Proofs on several processes: the same report, errors of workers, and nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from exogpu.diagnostics import InternalError
from exogpu.kernels import gemm_f32
from exogpu.verify.prove import verify
from exogpu.verify.result import Report
from exogpu.verify.workers import spread

ROOT = Path(__file__).resolve().parents[2]


def square(n: int) -> int:
    time.sleep(0.05 if n == 0 else 0)
    return n * n


def sleep(seconds: int) -> int:
    time.sleep(seconds)
    return seconds


def fail(n: int) -> int:
    if n == 2:
        raise ValueError(f"no {n}")
    return n


def die(n: int) -> int:
    if n == 1:
        os._exit(3)
    return n


@pytest.mark.parametrize("jobs", [1, 2, 20])
def test_results_come_in_order(jobs: int) -> None:
    assert list(spread([partial(square, n) for n in range(9)], jobs)) == [n * n for n in range(9)]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_error_is_raised_here(jobs: int) -> None:
    results = spread([partial(fail, n) for n in range(5)], jobs)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="no 2"):
        next(results)
    assert multiprocessing.active_children() == []


def test_a_worker_that_dies_is_an_error() -> None:
    with pytest.raises(InternalError, match="status 3"):
        list(spread([partial(die, n) for n in range(4)], 2))
    assert multiprocessing.active_children() == []


def test_closing_ends_the_workers() -> None:
    results = spread([partial(square, 1), partial(sleep, 60)], 2)
    assert next(results) == 1
    results.close()
    assert multiprocessing.active_children() == []


def decided(report: Report) -> list[object]:
    """Everything of a report but the seconds, queries as their texts."""
    return [
        (o.name, o.rule, o.status, o.chains, [(q.name, q.answer, q.rlimit, q.smtlib) for q in o.queries])
        for o in report.obligations
    ]


def test_the_report_does_not_depend_on_the_number_of_processes() -> None:
    alone, together = verify(gemm_f32.gemm_f32), verify(gemm_f32.gemm_f32, jobs=3)
    assert (alone.status, decided(alone)) == (together.status, decided(together))


def test_an_interrupt_ends_the_command_and_its_workers() -> None:
    command = [sys.executable, "-m", "exogpu", "mutate", "gemm_bf16", "--jobs", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()  # ends when the last process that holds the pipe has ended
        assert process.wait(20) == 130
    assert "gemm_bf16:" not in rest
