"""What operators are given, and cannot use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from exogpu.lang import GMEM, RMEM
from exogpu.schedule import (
    Schedule,
    Warps,
    assign_role,
    bind,
    cut,
    launch,
    restrict,
    set_memory,
    shift,
    specialise,
    stage,
    unit_loop,
    var,
)
from tests.schedule.common import refusal, start

N = var("N")
ANY: dict[str, Any] = {"class": GMEM, "other class": RMEM, "false": False, "half": 0.5}


@pytest.mark.parametrize("text", ["N // 0", "N % -2", "ceildiv(4, N)", "N * N"])
def test_factors_and_divisors_are_literals(text: str) -> None:
    s = start("copy")
    for apply in (
        lambda: cut(s, "i", text),
        lambda: shift(s, "i", text),
        lambda: stage(s, "y[_] = _", f"x[{text}]", "t"),
        lambda: specialise(s, "i", f"{text} == 1"),
        lambda: restrict(s, f"1 < {text}"),
    ):
        assert "not a literal" in str(refusal(apply, "schedule.expression"))


def test_divisors_of_built_expressions_are_positive() -> None:
    refusal(lambda: cut(start("copy"), "i", N % 0), "schedule.expression")


@pytest.mark.parametrize("given", ["false", "half", "class"])
def test_what_is_no_expression(given: str) -> None:
    s = start("copy")
    assert "a.equals(b)" in str(refusal(lambda: restrict(s, ANY[given]), "schedule.argument")) or given == "class"
    refusal(lambda: cut(s, "i", ANY[given]), "schedule.argument")


@pytest.mark.parametrize("given", ["class", "other class"])
def test_a_memory_is_no_class(given: str) -> None:
    s = start("copy")
    memory = ANY[given]
    assert "parentheses" in str(refusal(lambda: bind(s, "y[_] = _", "x[_]", "t", memory), "schedule.argument"))
    held = bind(s, "y[_] = _", "x[_]", "t")
    refusal(lambda: set_memory(held, "t", memory), "schedule.argument")


def role(s: Schedule) -> Schedule:
    return assign_role(launch(s, roles={"all": Warps(4)}), "t", "all")


@pytest.mark.parametrize("apply", [role, lambda s: unit_loop(s, "t", "u", 1), lambda s: specialise(s, "t", "N > 2")])
def test_an_allocation_stays_where_it_is_used(apply: Callable[[Schedule], Schedule]) -> None:
    found = refusal(lambda: apply(bind(start("copy"), "y[_] = _", "x[_]", "t")), "schedule.limit")
    assert "`t` is used after these statements" in str(found)
