"""Runs of the machine: many copies in flight, and a bound on the steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify import machine
from exogpu.verify.concrete import Unrolling
from exogpu.verify.endings import CutOff, Finished
from exogpu.verify.lower import lower
from exogpu.verify.machine import Machine
from exogpu.verify.program import TASKS
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status

COLUMNS = """from exogpu.lang import *

@proc
def columns(M: size, X: f32[M, 512] @ GMEM, Y: f32[512] @ GMEM):
    block(128)
    for b in tasks(0, 1):
        line: f32[2, 512] @ SMEM
        for t in threads(128):
            cp_async(line[0, 4 * t : 4 * t + 4], X[0, 4 * t : 4 * t + 4])
            cp_async_commit()
        for k in seq(0, M):
            for t in threads(128):
                cp_async(line[(k + 1) % 2, 4 * t : 4 * t + 4], X[k + 1, 4 * t : 4 * t + 4])
                cp_async_commit()
                cp_async_wait(1)
            Fence()
            for t in threads(128):
                Y[4 * t] = line[k % 2, 4 * t]
            Fence()
        for t in threads(128):
            cp_async_wait_all()
"""


def unrolled(tmp_path: Path, rows: int) -> Unrolling:
    path = tmp_path / "columns.py"
    path.write_text(COLUMNS)
    return Unrolling(lower(load(path)["columns"]), {"M": rows, TASKS: 1}, {})


def test_a_run_has_a_bound_on_its_steps(tmp_path: Path) -> None:
    u = unrolled(tmp_path, 5)
    assert isinstance(Machine(u).run(), Finished)
    assert isinstance(Machine(u, limit=100).run(), CutOff)
    assert isinstance(Machine(u, limit=None).run(), Finished)


def test_every_copy_is_waited_for_by_its_own_thread(tmp_path: Path) -> None:
    """128 threads with 6 copies each; a log of issues, commits and waits says in which order."""
    u = unrolled(tmp_path, 5)
    run = Machine(u)
    run.run()
    issued = [m.thread for m in run.log if m.note == "issues cp_async"]
    landed = [m.thread for m in run.log if m.note == "cp_async completes"]
    assert sorted(issued) == sorted(landed) == sorted(list(range(128)) * 6)
    mine = [m.note for m in run.log if m.thread == 77]
    first = mine.index("cp_async_wait")
    assert mine[:first].count("issues cp_async") == 2
    assert mine[:first].count("cp_async completes") == 1


def test_a_run_that_is_cut_off_refutes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A barrier that no phase of which completes hangs every run; without a run there is no refutation."""
    path = tmp_path / "hang.py"
    path.write_text(
        COLUMNS.replace("    for b in tasks", "    bar = mbarrier(count=2)\n    for b in tasks").replace(
            "            Fence()\n", "            Fence()\n            Arrive(bar)\n            Await(bar)\n", 1
        )
    )
    proc = load(path)["columns"]
    assert {o.rule for o in verify(proc).obligations if o.status is Status.REFUTED} == {"mbar.count"}
    monkeypatch.setattr(machine, "STEPS", 10)
    report = verify(proc)
    assert report.status is Status.UNKNOWN
    assert any("too long to replay" in o.reason for o in report.obligations)


def trace(report: Report, rule: str) -> list[tuple[str, str]]:
    """Who did what in the replay of the first finding of a rule."""
    found = next(o for o in report.obligations if o.status is Status.REFUTED and o.rule == rule)
    assert found.counterexample is not None
    return [(s.actor, s.event) for s in found.counterexample.steps]


def test_a_trace_is_about_the_lanes_of_the_pair(tmp_path: Path) -> None:
    """The copying lane's own issue, commit and wait, the common fence, and nothing of the other 127."""
    path = tmp_path / "late.py"
    path.write_text(COLUMNS.replace("cp_async_wait(1)", "cp_async_wait(2)"))
    shown = trace(verify(load(path)["columns"]), "race.raw")
    lanes = {actor for actor, _ in shown if "lane" in actor}
    assert len(lanes) == 1
    assert [event for _, event in shown] == [
        "issues cp_async",
        "cp_async_commit",
        "issues cp_async",
        "cp_async_commit",
        "cp_async_wait",
        "Fence",
        "assignment to Y: is performed",
        "cp_async: is still outstanding",
    ]


SIGNALLED = COLUMNS.replace("    for b in tasks", "    full = mbarrier(count=128)\n    for b in tasks").replace(
    "                cp_async_wait(1)\n            Fence()\n",
    "                Arrive(full)\n            Await(full)\n",
)


def test_of_many_arrivals_the_trace_has_its_own_and_the_last(tmp_path: Path) -> None:
    path = tmp_path / "signalled.py"
    path.write_text(SIGNALLED)
    shown = trace(verify(load(path)["columns"]), "race.raw")
    arrivals = [actor for actor, event in shown if event.startswith("arrives on full")]
    assert len(arrivals) == 2 and arrivals[-1] == "warp 3 lane 31"
    assert shown[-1] == (arrivals[0], "cp_async: is still outstanding")
