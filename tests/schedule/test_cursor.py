"""Cursors and patterns: found by text, by name and by navigation, carried along by later steps."""

from __future__ import annotations

import pytest

from exogpu.schedule import (
    Cursor,
    Refused,
    call,
    divide,
    eliminate,
    fission,
    label,
    reorder,
    schedule,
    specialise,
    swap,
    unroll,
)
from tests.schedule.common import refusal, start


def test_patterns() -> None:
    s = start("matmul")
    assert str(s.find("for j in _: _")) == "for j in seq(0, N):"
    assert s.find("for k in _: _").path == s.find("k").path == (0, 0, 0, 0, 0)
    assert s.find("C[_] += _") == s.find("C[i, j] += A[_] * _") == s.find("k").body()
    assert s.find("for _ in seq(0, M): _") == s.find("i")
    assert start("scratch").find("t: _").next() == start("scratch").find("t[_] = _")
    assert start("conditions").find("if not _: _").body().stmt == start("conditions").find("y[i] = x[i]").stmt
    assert start("two").find("for _ in _: y[_] = _; _").path == (0,)
    assert start("conditions").find("if _: _ #2").path == (0, 0, 2)


@pytest.mark.parametrize("pattern", ["for q in _: _", "C[_] = _", "if _: _", "D[_] += _", "C[i] += _"])
def test_nothing_matches(pattern: str) -> None:
    refusal(lambda: label(start("matmul"), "x", pattern), "schedule.pattern")


def test_an_unknown_name_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(Refused) as caught:
        start("matmul").find("q")
    assert caught.value.diagnostic.notes == ("the loops and allocations are `i`, `j`, `k`",)


@pytest.mark.parametrize("pattern", ["for k in", "a; b", "for k in _: _ #x", ""])
def test_not_a_pattern(pattern: str) -> None:
    refusal(lambda: label(start("matmul"), "x", pattern), "schedule.pattern")


def test_an_ambiguous_pattern_lists_the_matches() -> None:
    found = refusal(lambda: label(start("matmul"), "x", "for _ in _: _"), "schedule.pattern").diagnostic
    assert found.notes == ("#0: for i in seq(0, M):", "#1: for j in seq(0, N):", "#2: for k in seq(0, K):")


def test_navigation() -> None:
    k = start("matmul").find("k")
    assert str(k.parent().var) == "j" and k.parent().body() == k and k.body()[0].parent() == k
    assert str(k.find("C[_] += _")).startswith("C[i, j]")
    for wrong in (k.next, k.prev, k.parent().parent().parent, k.body().body):
        with pytest.raises(Refused, match=r"schedule\.cursor"):
            wrong()


def test_cursors_survive_rewrites() -> None:
    s = start("matmul")
    k, update = s.find("k"), s.find("C[_] += _")
    s = divide(s, "i", 4, tail="guard")
    s = reorder(s, "j")
    assert str(s.forward(k)) == "for k in seq(0, K):"
    assert str(s.forward(update)) == "C[4 * io + ii, j] += A[4 * io + ii, k] * B[k, j]"
    assert s.forward(update).parent().parent() == s.forward(k)


def test_a_cursor_follows_its_statement_into_another_loop() -> None:
    s = start("two")
    z = s.find("z[_] = _")
    s = fission(s, z.before)
    assert s.forward(z).path == (1, 0, 0)


def test_several_statements_stay_together_or_are_gone() -> None:
    s = start("two")
    both = s.find("i").body()
    assert both.count == 2
    s = divide(s, "i", 2, tail="guard")
    assert s.forward(both).count == 2
    apart = fission(start("two"), start("two").find("y[_] = _").after)
    with pytest.raises(Refused, match="gone since `fission"):
        apart.forward(Cursor(apart.original, 0, both.path, 2))


def test_a_removed_statement_is_named() -> None:
    s = start("eight")
    i = s.find("i")
    s = call(unroll(s, i), "flat")
    with pytest.raises(Refused, match="gone since `unroll") as caught:
        eliminate(s, i)
    assert caught.value.diagnostic.notes == ("it was `for i in seq(0, 8):`",)


def test_a_cursor_of_another_schedule() -> None:
    other = start("copy").find("i")
    refusal(lambda: unroll(start("two"), other), "schedule.cursor")


def test_labels() -> None:
    s = label(start("matmul"), "inner", "for k in _: _")
    s = divide(s, "j", 8, tail="cut")
    assert str(s.find("inner")) == "for k in seq(0, K):"
    assert str(divide(s, "inner", 2, tail="cut").steps[-1]) == 'divide("inner", 2, tail="cut")'


def test_a_label_is_no_name_of_a_loop_or_an_allocation() -> None:
    found = refusal(lambda: label(start("matmul"), "k", "for j in _: _"), "schedule.limit")
    assert "`k` is the name of a loop or an allocation" in str(found)
    refusal(lambda: label(start("scratch"), "t", "t[_] = _"), "schedule.limit")
    s = label(start("matmul"), "inner", "for k in _: _")
    s = divide(s, "j", 8, tail="cut", names=("outer", "inner"))
    found = refusal(lambda: divide(s, "inner", 2), "schedule.pattern")
    assert "`inner` is a label, and the name of `for inner in seq(0, 8):`" in str(found)
    assert str(s.find("for inner in _: _")) == "for inner in seq(0, 8):"


def test_of_equal_labels_the_last_counts() -> None:
    s = label(label(start("matmul"), "x", "for k in _: _"), "x", "for j in _: _")
    assert s.find("x") == s.find("j")


def test_replay_on_another_procedure() -> None:
    s = start("two")
    s = divide(s, s.find("i"), 4, tail="cut")
    assert s.replay().show() == s.show()
    assert "x[4 * io + ii]" in s.replay(start("copy").proc).show()
    assert schedule(s.proc).show() == s.show()


@pytest.mark.parametrize("first", ["a", "b", "c"])
def test_statements_that_change_places_stay_with_their_cursor(first: str) -> None:
    s = start("one_of_three")
    three = s.find("a[0] = _").until(s.find("c[0] = _"))
    later = swap(s, f"{first}[0] = _")
    moved = later.forward(three)
    assert set(three.block) <= set(moved.block) and set(moved.block) - set(three.block) <= {s.find("y[_] = _").stmt}
    assert moved.count == (4 if first == "c" else 3)
    two = s.find("a[0] = _").until(s.find("b[0] = _"))
    assert set(swap(s, "a[0] = _").forward(two).block) == set(two.block)


def test_a_statement_that_moves_into_another_one_stays_with_its_cursor() -> None:
    s = start("one_of_three")
    three = s.find("a[0] = _").until(s.find("c[0] = _"))
    inside = specialise(s, "b[0] = _", "N > 2")
    assert inside.forward(three).count == 3
    refusal(lambda: label(specialise(s, "a[0] = _", "N > 2"), "x", three), "schedule.cursor")
