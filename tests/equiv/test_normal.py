"""Normal forms have the values of what they stand for, and mixed radix numbers fall together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exogpu.equiv.normal import Normal
from exogpu.equiv.ranges import Range
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Bin, Cmp, CmpOp, Index, IndexOp, Int, Var
from exogpu.ir.print_expr import cond_text, index_text

RANGES: dict[str, Range] = {"x": (0, None), "y": (0, 15), "z": (-3, 3)}
LEAVES: st.SearchStrategy[Index] = st.sampled_from("xyz").map(Var) | st.integers(-5, 20).map(Int)
DIVISIONS: tuple[IndexOp, ...] = ("//", "%", "ceildiv")
SUMS: tuple[IndexOp, ...] = ("+", "-", "min", "max")
COMPARISONS: tuple[CmpOp, ...] = ("<", "<=", ">", ">=", "==", "!=")


def _larger(inner: st.SearchStrategy[Index]) -> st.SearchStrategy[Index]:
    return st.one_of(
        st.builds(Bin, st.sampled_from(SUMS), inner, inner),
        st.builds(Bin, st.sampled_from(DIVISIONS), inner, st.sampled_from((1, 2, 3, 4, 8, 16, 32)).map(Int)),
        st.builds(lambda n, e: Bin("*", Int(n), e), st.sampled_from((-1, 1, 2, 3, 4, 8, 16)), inner),
    )


INDICES = st.recursive(LEAVES, _larger, max_leaves=8)
VALUES = st.fixed_dictionaries({"x": st.integers(0, 300), "y": st.integers(0, 15), "z": st.integers(-3, 3)})


@settings(max_examples=300, deadline=None)
@given(INDICES, st.lists(VALUES, min_size=5, max_size=5))
def test_index_keeps_its_value(e: Index, points: list[dict[str, int]]) -> None:
    normal = Normal(RANGES).index(e)
    for env in points:
        assert evaluate(normal, env) == evaluate(e, env)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(COMPARISONS), INDICES, INDICES, st.lists(VALUES, min_size=5, max_size=5))
def test_condition_keeps_its_truth(op: CmpOp, a: Index, b: Index, points: list[dict[str, int]]) -> None:
    cond = Cmp(op, a, b)
    normal = Normal(RANGES).cond(cond)
    for env in points:
        assert holds(normal, env) == holds(cond, env)


def _digit(a: int, b: int) -> Index:
    return Bin("%", Bin("//", Var("x"), Int(a)), Int(b))


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (Bin("+", Bin("*", Int(128), Bin("//", Var("x"), Int(128))), Bin("%", Var("x"), Int(128))), "x"),
        (Bin("+", Bin("*", Int(4), _digit(4, 32)), Bin("%", Var("x"), Int(4))), "x % 128"),
        (Bin("//", Bin("+", Bin("*", Int(16), Var("x")), Var("y")), Int(16)), "x"),
        (Bin("%", Bin("+", Bin("*", Int(16), Var("x")), Var("y")), Int(32)), "16 * (x % 2) + y"),
        (Bin("%", Bin("%", Var("x"), Int(64)), Int(4)), "x % 4"),
        (Bin("//", Bin("%", Var("x"), Int(64)), Int(4)), "x // 4 % 16"),
        (Bin("min", Var("y"), Int(20)), "y"),
    ],
)
def test_digits_fall_together(e: Index, text: str) -> None:
    assert index_text(Normal(RANGES).index(e)) == text


@pytest.mark.parametrize(
    ("cond", "text"),
    [
        (Cmp("<", Var("y"), Int(16)), "True"),
        (Cmp("==", Bin("*", Int(2), Var("x")), Int(3)), "False"),
        (Cmp(">=", Var("x"), Var("z")), "z <= x"),
        (Cmp("<", Bin("*", Int(4), Var("x")), Bin("+", Bin("*", Int(4), Var("z")), Int(3))), "x <= z"),
    ],
)
def test_conditions_are_decided_or_short(cond: Cmp, text: str) -> None:
    assert cond_text(Normal(RANGES).cond(cond)) == text
