"""Random operators applied to random programs never change what the interpreter computes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, assume, event, given, settings
from hypothesis import strategies as st

from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.proc import Proc
from exogpu.ir.wellformed import check_meaning
from exogpu.schedule import Cursor, Refused, Schedule, drop_guard, schedule
from tests.schedule.programs import MOST, OPERATORS, guarded_tiles, places, programs


def results(proc: Proc, seed: int, fill: int | None = None) -> list[dict[str, Any]]:
    """What the procedure computes for every size that it allows."""
    return [interpret(proc, random_inputs(proc, {"N": n}, seed), fill=fill) for n in range(MOST + 1)]


def assert_same(got: list[dict[str, Any]], want: list[dict[str, Any]]) -> None:
    for one, other in zip(got, want, strict=True):
        for name, array in other.items():
            np.testing.assert_array_equal(one[name].astype(np.float64), array.astype(np.float64))


def somewhere(s: Schedule, name: str, first: int, n: int) -> Schedule:
    """An operator applied to the first statement that it applies to, from a random one on."""
    paths = places(s.proc)
    for i in range(min(len(paths), 8)):
        path = paths[(first + i) % len(paths)]
        try:
            s = OPERATORS[name](s, Cursor(s.proc, len(s.steps), path), n)
            event(f"{name}: applied")
            return s
        except Refused as refused:
            assert refused.code in ("schedule.condition", "schedule.limit", "schedule.pattern", "schedule.cursor")
            assert (refused.counterexample is not None) == (refused.code == "schedule.condition")
    return s


def keeps_the_meaning(proc: Proc, data: st.DataObject) -> None:
    """Four random steps, and their replay, compute what the program does."""
    assert check_meaning(proc) == ()
    want = results(proc, 0, fill=7)
    try:
        assert_same(results(proc, 0, fill=-3), want)
    except AssertionError:
        assume(False)  # it reads what it has not written: then it may compute anything
    s = schedule(proc)
    for _ in range(4):
        name = data.draw(st.sampled_from(sorted(OPERATORS)))
        s = somewhere(s, name, data.draw(st.integers(0, 99)), data.draw(st.integers(0, 999)))
    assert_same(results(s.proc, 0), want)
    assert_same(results(s.replay().proc, 0), want)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(programs(), st.data())
def test_random_schedules_keep_the_meaning(proc: Proc, data: st.DataObject) -> None:
    keeps_the_meaning(proc, data)


@settings(max_examples=120, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def every_application(proc: Proc) -> None:
    """Notes which operators apply to some statement of the program."""
    for name in OPERATORS.keys() - applied:
        for path in places(proc):
            try:
                OPERATORS[name](schedule(proc), Cursor(proc, 0, path), 0)
            except Refused:
                continue
            applied.add(name)
            break


applied: set[str] = set()


def test_every_operator_applies_to_some_program() -> None:
    """Otherwise the random test would say nothing about it. Guards have programs of their own."""
    every_application()
    assert applied | {"drop a guard"} == set(OPERATORS)


dropped: list[Proc] = []


@settings(max_examples=60, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(guarded_tiles())
def without_a_guard(proc: Proc) -> None:
    """Drops the guard of the sum, if that is accepted, and compares."""
    s = schedule(proc)
    try:
        s = drop_guard(s, s.find("acc[i] += _").parent())
    except Refused:
        return
    dropped.append(proc)
    assert_same(results(s.proc, 0), results(proc, 0))


def test_dropped_guards_keep_the_meaning() -> None:
    without_a_guard()
    assert dropped
