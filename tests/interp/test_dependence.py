"""Loops run at once only if their iterations are independent: by enumeration, and the idioms of kernels."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Bin, Cmp, Cond, Index, Int, Var
from exogpu.ir.interp.dependence import Access, Mode, Order, order_of
from exogpu.ir.interp.linear import Ranges, interval_of, linear
from exogpu.ir.interp.narrow import narrow
from tests.interp.programs import Scope, conds, indices

RANGES: Ranges = {"u": (0, 3), "v": (0, 11), "w": (0, 3)}
SCOPE = Scope({name: hi for name, (_, hi) in RANGES.items()}, {}, 0)
EXTENT = 500
U, V, W = Var("u"), Var("v"), Var("w")
Case = tuple[Mode, tuple[Index, ...], Cond]


def _order(accesses: list[Case], rank: int) -> Order:
    forms = [
        Access("b", mode, tuple(linear(i, {}) for i in index[:rank]), narrow(RANGES, cond, {}))
        for mode, index, cond in accesses
    ]
    return order_of("v", forms, frozenset("u"))


cases = st.tuples(st.sampled_from(Mode), st.tuples(indices(SCOPE, EXTENT), indices(SCOPE, EXTENT)), conds(SCOPE))


@settings(max_examples=400, deadline=None)
@given(st.lists(cases, min_size=1, max_size=3), st.integers(1, 2))
def test_iterations_that_run_at_once_never_conflict(accesses: list[Case], rank: int) -> None:
    order = _order(accesses, rank)
    if order is Order.SERIAL:
        return
    touched: dict[tuple[int, ...], set[tuple[int, Mode]]] = {}
    for u, v, w in itertools.product(*(range(hi + 1) for _, hi in RANGES.values())):
        env = {"u": u, "v": v, "w": w}
        for mode, index, cond in accesses:
            if holds(cond, env):
                place = (u, *(evaluate(i, env) for i in index[:rank]))
                touched.setdefault(place, set()).add((v, mode))
    for seen in touched.values():
        for (v, mode), (other, its_mode) in itertools.combinations(seen, 2):
            allowed = mode is its_mode and (mode is Mode.READ or (mode is Mode.SUM and order is Order.SUMS))
            assert v == other or allowed


@settings(max_examples=200, deadline=None)
@given(conds(SCOPE), indices(SCOPE, EXTENT))
def test_ranges_hold_wherever_the_condition_does(cond: Cond, index: Index) -> None:
    ranges = narrow(RANGES, cond, {})
    form = linear(index, {})
    for point in itertools.product(*(range(hi + 1) for _, hi in RANGES.values())):
        env = dict(zip(RANGES, point, strict=True))
        if holds(cond, env):
            assert all(ranges[n][0] <= v <= ranges[n][1] for n, v in env.items())
            lo, hi = interval_of(form, ranges)
            assert lo <= evaluate(index, env) <= hi
            assert evaluate(index, env) == form.const + sum(c * evaluate(a, env) for a, c in form.terms.items())


def _times(c: int, e: Index) -> Index:
    return Bin("*", Int(c), e)


def _plus(*parts: Index) -> Index:
    total = parts[0]
    for part in parts[1:]:
        total = Bin("+", total, part)
    return total


ALWAYS = Cmp("==", Int(0), Int(0))


@pytest.mark.parametrize(
    ("index", "order"),
    [
        ((V, W), Order.FREE),
        ((_plus(_times(12, U), V), W), Order.FREE),
        ((_plus(_times(4, V), W), U), Order.FREE),
        ((Bin("%", V, Int(4)), Bin("//", V, Int(4))), Order.FREE),
        ((_plus(_times(3, W), Bin("//", V, Int(4))), Bin("%", V, Int(4))), Order.FREE),
        ((_plus(_times(8, Bin("//", V, Int(2))), Bin("%", V, Int(2)), _times(2, W)), U), Order.FREE),
        ((_plus(_times(4, Bin("//", Bin("+", _times(8, V), W), Int(4))), W), U), Order.FREE),
        ((Bin("%", V, Int(12)), W), Order.FREE),
        ((_plus(_times(12, W), V), U), Order.FREE),
        ((_plus(_times(11, W), V), U), Order.SERIAL),
        ((_plus(_times(4, W), V), U), Order.SERIAL),
        ((_plus(_times(3, V), W), U), Order.SERIAL),
        ((Bin("%", V, Int(11)), W), Order.SERIAL),
        ((Bin("%", Bin("%", V, Int(4)), Int(3)), Bin("//", V, Int(3))), Order.SERIAL),
        ((Bin("%", V, Int(4)), W), Order.SERIAL),
        ((Bin("//", V, Int(4)), W), Order.SERIAL),
        ((U, W), Order.SERIAL),
    ],
)
def test_the_element_tells_the_iteration(index: tuple[Index, ...], order: Order) -> None:
    assert _order([(Mode.WRITE, index, ALWAYS), (Mode.READ, index, ALWAYS)], 2) is order


def test_sums_commute_but_not_with_reads() -> None:
    total = (Mode.SUM, (U, W), ALWAYS)
    assert _order([total, total], 2) is Order.SUMS
    assert _order([total, (Mode.READ, (U, W), ALWAYS)], 2) is Order.SERIAL
    assert _order([total, (Mode.READ, (U, Bin("+", W, Int(1))), ALWAYS)], 2) is Order.SERIAL
    assert _order([total, (Mode.READ, (Bin("+", U, Int(1)), W), ALWAYS)], 2) is Order.SUMS
    assert _order([total, (Mode.READ, (U, Bin("+", W, Int(4))), ALWAYS)], 2) is Order.SUMS


def test_halves_of_a_tree_reduction_are_separate() -> None:
    low = Cmp("<", V, Int(6))
    write, near = (Mode.WRITE, (V, Int(0)), low), (Mode.READ, (V, Int(0)), low)
    assert _order([write, near, (Mode.READ, (Bin("+", V, Int(6)), Int(0)), low)], 2) is Order.FREE
    assert _order([write, near, (Mode.READ, (Bin("+", V, Int(5)), Int(0)), low)], 2) is Order.SERIAL


def test_one_iteration_may_do_anything() -> None:
    assert _order([(Mode.WRITE, (U, W), Cmp("==", V, Int(3)))], 2) is Order.FREE
