"""A zero that is added may be left out only where the sign of a zero sum shows in no other number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from exogpu.equiv.equivalent import equivalent
from exogpu.equiv.result import Verdict
from exogpu.ir.interp import Argument, interpret
from exogpu.ir.proc import Proc
from exogpu.lang import load


@cache
def cases() -> Mapping[str, Proc]:
    return load(Path(__file__).parent / "cases" / "zeros.py")


SHOWS = (
    ("inverse", "inverse_of_sum"),
    ("inverse", "inverse_of_zero_and_sum"),
    ("inverse", "inverse_of_one_or_other"),
    ("inverse_of_sum", "inverse_of_one_or_other"),
    ("inverse_of_scaled", "inverse_of_scaled_sum"),
    ("inverse_root", "inverse_root_of_sum"),
)
PROVED = (
    ("inverse_of_sum", "inverse_of_zero_and_sum"),
    ("inverse", "inverse_of_sum_with_minus_zero"),
    ("root", "root_of_sum"),
    ("shares", "shares_backwards"),
)


@pytest.mark.parametrize(("a", "b"), SHOWS)
def test_where_the_sign_of_zero_shows(a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        assert equivalent(cases()[one], cases()[other]).verdict is Verdict.UNKNOWN
    args: dict[str, Argument] = {"N": 9, "x": np.full(9, -0.0, np.float32), "y": np.zeros(9, np.float32)}
    x, y = (np.asarray(interpret(cases()[name], args)["y"]) for name in (a, b))
    assert (np.isinf(x) & (x == -y)).any(), "and it does"


def test_a_zero_in_every_step_of_a_sum_shows() -> None:
    found = equivalent(cases()["over_sum"], cases()["over_sum_with_zeros"])
    assert found.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("a", "b"), PROVED)
def test_where_it_does_not(a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        found = equivalent(cases()[one], cases()[other])
        assert found.proved and found.reassociated == ("y",)


@pytest.mark.parametrize("name", sorted({name for pair in (*SHOWS, *PROVED) for name in pair}))
def test_everything_is_the_same_as_itself(name: str) -> None:
    found = equivalent(cases()[name], cases()[name])
    assert found.proved and found.reassociated == ()
