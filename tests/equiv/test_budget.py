"""Where a proof takes long, a difference is found first."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.equiv import equivalent as module
from exogpu.equiv.conditions import QUESTION, RLIMIT, Facts, Logic
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
