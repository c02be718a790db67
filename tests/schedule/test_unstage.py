"""Copies that are read no longer."""

from __future__ import annotations

import pytest

from exogpu.schedule import inline_window, stage, var, window
from tests.schedule.common import example, keeps_meaning, refusal, start


def test_what_was_staged_goes_back() -> None:
    tile = window("A", (4 * var("io"), 4), (2 * var("ko"), 2))
    s = inline_window(stage(start("product"), "i", tile, "sA", edges="guard"), "sA: _")
    assert keeps_meaning(s) == start("product").show()


def test_another_order_and_a_condition() -> None:
    text = keeps_meaning(inline_window(start("copied"), "t: _"))
    assert "t:" not in text
    assert "select(i > 0, x[i, 3 - 2 * a - b], 0.0) + select(i > 0, x[i, 0], 0.0)" in text
    assert "for j" not in text


def test_a_source_that_changes_where_it_is_read() -> None:
    assert "x[i, k] = x[i, k] + 1.0" in keeps_meaning(inline_window(start("copied_in_place"), "t: _"))
    found = example(lambda: inline_window(start("copied_and_changed"), "t: _"))
    assert found["k'"] == 3 - found["k"] < found["k"]


def test_an_element_that_changes() -> None:
    assert example(lambda: inline_window(start("copied_in_turn"), "t: _"))["c"] == 1


def test_an_element_that_was_not_written() -> None:
    found = example(lambda: inline_window(start("copied_early"), "t: _"))
    assert found["k"] == found["i"]


@pytest.mark.parametrize("name", ["rounding", "running", "vectors", "delayed", "wide_values"])
def test_what_is_no_copy(name: str) -> None:
    refusal(lambda: inline_window(start(name), "t: _" if name != "wide_values" else "u: _"), "schedule.limit")
