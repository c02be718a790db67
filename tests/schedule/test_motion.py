"""Invariant statements, and statements that run an iteration ahead."""

from __future__ import annotations

from exogpu.schedule import drop_guard, hoist, run_ahead
from tests.schedule.common import example, keeps_meaning, refusal, start


def test_hoist() -> None:
    s = start("invariant")
    s = hoist(s, "t[0] = _")
    assert keeps_meaning(s).index("t[0] = x[i]") < s.show().index("for j in")
    found = example(lambda: hoist(start("changed"), "t[0] = _"))
    assert found["j"] > 5
    assert example(lambda: hoist(start("constant"), "t[0] = _"))["N"] == 0
    refusal(lambda: hoist(start("total"), "s[0] += _"), "schedule.limit")
    assert "depend on `i`" in str(refusal(lambda: hoist(start("two"), "y[_] = _"), "schedule.limit"))


def test_run_ahead() -> None:
    s = run_ahead(start("slabs"), "i")
    assert "if k + 1 < N:" in keeps_meaning(s)
    assert "if 0 < N:" in s.show()
    assert example(lambda: run_ahead(start("refilled"), "a"))["i"] >= 0
    refusal(lambda: run_ahead(start("slabs"), "j"), "schedule.pattern")


def test_what_runs_ahead_of_no_iteration_is_dropped_if_it_may() -> None:
    s = run_ahead(start("slabs"), "i")
    assert example(lambda: drop_guard(s, "if 0 < N: _"))["N"] == 0
