"""Guards that nobody needs, and those that somebody does."""

from __future__ import annotations

from exogpu.schedule import drop_guard
from tests.schedule.common import example, keeps_meaning, refusal, start


def test_rows_that_are_not_stored_and_columns_that_add_zero() -> None:
    s = drop_guard(start("tiled"), "if 4 * io + i2 < M: _")
    s = drop_guard(s, "if _ < K: _")
    assert keeps_meaning(s).count("if ") == 1
    assert any("select" not in o.text for o in s.steps[-1].obligations)


def test_the_store_keeps_its_guard() -> None:
    assert example(lambda: drop_guard(start("tiled"), "if 4 * io + i3 < M: _"))["M"] % 4


def test_a_tile_that_is_not_filled_with_zero() -> None:
    s = drop_guard(start("untidy"), "if _ + i2 < M: _")
    keeps_meaning(s)
    assert example(lambda: drop_guard(s, "if _ < K: _"))["K"] % 4


def test_elements_that_were_never_written() -> None:
    refusal(lambda: drop_guard(start("unfilled"), "if _: _"), "schedule.limit")


def test_an_argument_is_seen() -> None:
    refusal(lambda: drop_guard(start("conditions"), "if _: _ #0"), "schedule.limit")
    refusal(lambda: drop_guard(start("conditions"), "if _: _ #2"), "schedule.limit")
