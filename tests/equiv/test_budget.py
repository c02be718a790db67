"""Where a proof takes long, a difference is found first."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.equiv import equivalent as module
from exogpu.equiv.conditions import QUESTION, RLIMIT, Facts, Logic
from exogpu.equiv.effort import effort
from exogpu.equiv.equivalent import equivalent
from exogpu.equiv.prove import Equal, Open, prove
from exogpu.equiv.result import Verdict
from exogpu.ir.proc import Proc
from exogpu.lang import load

CASES = load(Path(__file__).parent / "cases" / "tangled.py")


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What each search for a proof had spent when it ended."""
    found: list[int] = []

    def watched(a: Proc, b: Proc, facts: Facts, logic: Logic) -> Equal | Open:
        outcome = prove(a, b, facts, logic)
        found.append(logic.spent)
        return outcome

    monkeypatch.setattr(module, "prove", watched)
    return found


def test_a_difference_does_not_wait_for_a_long_search(monkeypatch: pytest.MonkeyPatch, spent: list[int]) -> None:
    monkeypatch.setattr(module, "SHORT", 1000)
    assert equivalent(CASES["tangled"], CASES["tangled_later"]).verdict is Verdict.REFUTED
    assert len(spent) == 1 and 1000 < spent[0] <= 1000 + RLIMIT + QUESTION


def test_a_long_search_goes_on_where_there_is_no_difference(monkeypatch: pytest.MonkeyPatch, spent: list[int]) -> None:
    monkeypatch.setattr(module, "SHORT", 0)
    assert equivalent(CASES["shifted"], CASES["shifted_back"]).verdict is Verdict.PROVED
    assert len(spent) == 2 and spent[0] < spent[1]


def test_values_of_very_many_parts_are_given_up() -> None:
    found = equivalent(CASES["squared_often"], CASES["squared_often"])
    assert found.verdict is Verdict.UNKNOWN and "made of more than 1000 parts" in found.reason


def test_very_long_runs_are_left_out() -> None:
    found = equivalent(CASES["long_sum"], CASES["longer_sum"])
    assert found.verdict is Verdict.UNKNOWN
    assert "no difference at 0 choices of sizes; a run would take too long (N = 0)" in found.reason


@pytest.mark.parametrize("name", ["tangled", "squared_often", "shifted"])
def test_small_procedures_can_be_run(name: str) -> None:
    assert effort(CASES[name], {"N": 5}) < 10_000 * 16
