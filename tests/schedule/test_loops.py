"""Operators on loops: what each makes of the smallest program that it applies to, and why it refuses its bad twin."""

from __future__ import annotations

from exogpu.schedule import collapse, cut, divide, fission, fuse, join, reorder, shift, swap, unroll, var
from tests.schedule.common import example, keeps_meaning, refusal, start


def lines(text: str) -> list[str]:
    """The statements of a procedure's text, without leading spaces."""
    return [line.strip() for line in text.splitlines() if line.startswith("    ") and not line.endswith(",")]


def test_divide_perfectly() -> None:
    s = divide(start("multiple"), "i", 4, names=("tile", "lane"))
    assert lines(keeps_meaning(s)) == [
        "require(N % 4 == 0)",
        "for tile in seq(0, N // 4):",
        "for lane in seq(0, 4):",
        "y[4 * tile + lane] = x[4 * tile + lane]",
    ]


def test_divide_perfectly_needs_a_multiple() -> None:
    assert example(lambda: divide(start("copy"), "i", 4))["N"] % 4 != 0


def test_divide_with_a_guard_and_with_a_cut() -> None:
    guarded = divide(start("copy"), "i", 4, tail="guard")
    assert "if 4 * io + ii < N:" in lines(keeps_meaning(guarded))
    parts = divide(start("copy"), "i", 4, tail="cut")
    assert "for it in seq(0, N % 4):" in lines(keeps_meaning(parts))
    keeps_meaning(divide(start("backward"), "i", 2, tail="guard"))


def test_divide_with_a_cut_needs_a_trip_count_that_is_not_negative() -> None:
    down = shift(start("copy"), "i", 3)
    keeps_meaning(divide(down, "i", 4, tail="cut"))
    assert example(lambda: divide(start("negative"), "i", 4, tail="cut"))["N"] < 3


def test_reorder() -> None:
    s = reorder(start("smooth"), "i")
    assert lines(keeps_meaning(s))[0] == "for j in seq(1, M):"
    assert not s.reassociated
    found = example(lambda: reorder(start("wave"), "i"))
    assert found["i"] < found["i'"] and found["j"] > found["j'"]


def test_reorder_of_a_sum_changes_its_order() -> None:
    s = reorder(reorder(start("matmul"), "j"), "i")
    keeps_meaning(s)
    assert not s.reassociated
    s = reorder(start("total"), "i")
    keeps_meaning(s)
    assert s.reassociated


def test_a_sum_that_rounds_to_a_narrow_type_keeps_its_order() -> None:
    assert refusal(lambda: reorder(start("narrow_sum"), "i")).counterexample is not None


def test_bounds_that_depend_on_the_outer_loop() -> None:
    refusal(lambda: reorder(start("triangle"), "i"), "schedule.limit")


def test_fission() -> None:
    for name in ("two", "behind"):
        s = start(name)
        s = fission(s, s.find("y[_] = _").after)
        assert len([line for line in lines(keeps_meaning(s)) if line.startswith("for")]) == 2
    s = start("ahead")
    found = example(lambda: fission(s, s.find("y[_] = _").after))
    assert found["i'"] == found["i"] + 1


def test_fission_behind_an_allocation() -> None:
    s = start("scratch")
    assert "lift" in str(refusal(lambda: fission(s, s.find("t[_] = _").after), "schedule.limit"))


def test_fuse() -> None:
    s = fuse(start("apart"), "i")
    assert lines(keeps_meaning(s)) == ["for i in seq(0, N):", "y[i] = 1.0", "z[i] = y[i]"]
    found = example(lambda: fuse(start("reversed_read"), "i"))
    assert found["N"] - 1 - found["i"] == found["i'"] > found["i"]


def test_fuse_conditionals() -> None:
    s = fuse(start("conditions"), "if i < 4: _")
    assert len([line for line in lines(keeps_meaning(s)) if line.startswith("if")]) == 2
    assert example(lambda: fuse(s, "if _: _ #0"))["i"] in (4, 5)


def test_unroll() -> None:
    s = unroll(start("eight"), "i")
    assert keeps_meaning(s).count("RMEM") == 8
    refusal(lambda: unroll(start("copy"), "i"), "schedule.limit")


def test_cut_and_join() -> None:
    s = cut(start("copy"), "i", "min(N, 3)")
    keeps_meaning(s)
    assert lines(keeps_meaning(join(s, "i"))) == ["for i in seq(0, N):", "y[i] = x[i]"]
    assert example(lambda: cut(start("copy"), "i", 3))["N"] < 3
    refusal(lambda: join(start("apart"), "i"), "schedule.limit")


def test_join_needs_the_next_iteration() -> None:
    assert example(lambda: join(start("parted"), "i"))["N"] > 0


def test_shift() -> None:
    s = shift(start("smooth"), "i", 0)
    assert lines(keeps_meaning(s))[0] == "for i in seq(0, N - 1):"
    refusal(lambda: shift(start("copy"), "i", var("j")), "schedule.expression")


def test_collapse_undoes_a_division() -> None:
    s = collapse(divide(start("multiple"), "i", 4), "io", "all")
    assert lines(keeps_meaning(s))[1] == "for all in seq(0, 4 * (N // 4)):".replace(
        "all", s.find("for _ in _: _").var.__str__()
    )
    refusal(lambda: collapse(start("matmul"), "i"), "schedule.limit")


def test_swap() -> None:
    s = swap(start("independent"), "y[_] = _")
    assert lines(keeps_meaning(s))[1:] == ["z[i] = x[i] + 1.0", "y[i] = x[i]"]
    assert "N" in example(lambda: swap(start("two"), "y[_] = _"))
