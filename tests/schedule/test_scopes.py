"""Operators that move scopes and allocations, shorten, remove, bind and inline: good applications and bad twins."""

from __future__ import annotations

import pytest

from exogpu.schedule import (
    Schedule,
    bind,
    cut,
    divide,
    eliminate,
    fix,
    inline,
    lift_alloc,
    lift_scope,
    restrict,
    simplify,
    sink_alloc,
    specialise,
    var,
)
from tests.schedule.common import example, keeps_meaning, refusal, same_results, start


def lines(s: Schedule) -> list[str]:
    """The statements of a schedule that keeps its meaning."""
    return [line.strip() for line in keeps_meaning(s).splitlines() if line.startswith("    ") and line[-1] != ","]


def test_an_if_leaves_a_loop() -> None:
    s = lift_scope(start("tested"), "if _: _")
    assert [line for line in lines(s) if line.endswith(":")] == [
        "if M > 3:",
        "for i in seq(0, N):",
        "else:",
        "for i_1 in seq(0, N):",
    ]
    refusal(lambda: lift_scope(start("guarded"), "if _: _"), "schedule.limit")


def test_a_loop_leaves_an_if() -> None:
    s = lift_scope(start("loop_in_test"), "j")
    assert lines(s)[:3] == ["for i in seq(0, N):", "for j in seq(0, 4):", "if i < M:"]
    refusal(lambda: lift_scope(start("two"), "y[_] = _"), "schedule.limit")


def test_specialise() -> None:
    s = specialise(start("copy"), "i", var("N") % 4 >= 1)
    assert lines(s).count("else:") == 1 and same_results(start("copy").proc, s.proc) > 0
    refusal(lambda: specialise(start("scratch"), "t: _", "N > 1"), "schedule.limit")
    refusal(lambda: specialise(start("copy"), "i", "q > 1"), "schedule.expression")


def test_an_allocation_goes_out_and_in_again() -> None:
    s = lift_alloc(start("scratch"), "t: _")
    assert lines(s)[0] == "t: f32[1] @ RMEM"
    assert lines(sink_alloc(s, "t: _")) == lines(start("scratch"))
    assert lines(sink_alloc(start("refilled"), "t: _"))[0] == "for i in seq(0, N):"


@pytest.mark.parametrize("name", ["carried", "half_filled"])
def test_a_value_that_an_iteration_leaves_to_the_next(name: str) -> None:
    found = example(lambda: sink_alloc(start(name), "t: _"))
    assert found["i"] < found["i'"]


def test_an_allocation_that_is_written_outside_the_loop() -> None:
    refusal(lambda: sink_alloc(start("running"), "t: _"), "schedule.limit")


def test_simplify() -> None:
    s = simplify(start("redundant"))
    assert lines(s)[1:] == ["for i in seq(0, N // 4):", "for j in seq(0, 4):", "if True:", "x[4 * i + j] = 1.0"]
    assert s.steps[-1].obligations
    assert "if i < M:" in lines(simplify(start("guarded")))


def test_eliminate_a_test_that_is_decided() -> None:
    assert "if" not in "".join(lines(eliminate(start("redundant"), "if _: _")))
    found = example(lambda: eliminate(start("guarded"), "if _: _"))
    assert found["i"] < found["N"]


def test_eliminate_a_loop() -> None:
    s = eliminate(fix(start("copy"), "N", 0), "i")
    assert "for" not in s.show()
    s = eliminate(cut(start("eight"), "i", 1), "i")
    keeps_meaning(s)
    example(lambda: eliminate(start("copy"), "i"))


def test_eliminate_what_nothing_reads() -> None:
    assert lines(eliminate(start("useless"), "t: _")) == ["for i in seq(0, N):", "x[i] = 1.0"]
    refusal(lambda: eliminate(start("scratch"), "t: _"), "schedule.limit")


def test_bind() -> None:
    s = bind(start("square"), "y[_] = _", "x[_] + 1.0", "t")
    assert lines(s)[1:3] == ["t: f32[1] @ RMEM", "t[0] = x[i] + 1.0"]
    assert lines(s)[3].startswith("y[i] = t[0] * t[0] + select")
    assert "half: bf16[1] @ RMEM" in lines(bind(start("square"), "y[_] = _", "h[_]", "half"))
    refusal(lambda: bind(start("square"), "y[_] = _", "x[i - 1]", "t"), "schedule.limit")
    assert lines(inline(s, "t[0] = _")) == lines(start("square"))


def test_inline() -> None:
    assert lines(inline(start("scratch"), "t[_] = _")) == ["for i in seq(0, N):", "y[i] = x[i] * x[i]"]
    refusal(lambda: inline(start("rounding"), "t[_] = _"), "schedule.limit")
    assert example(lambda: inline(start("changing"), "t[_] = _"))["N"] > 0


def test_restrict_and_fix() -> None:
    s = divide(restrict(start("copy"), var("N") % 4 <= 0), "i", 4)
    assert same_results(s.proc, s.proc, (0, 4, 8)) == 3
    fixed = fix(start("multiple"), "N", 8)
    assert "x: f32[8] @ GMEM" in fixed.show() and "for i in seq(0, 8):" in fixed.show()
    refusal(lambda: fix(start("copy"), "x", 8), "schedule.pattern")
    refusal(lambda: fix(start("copy"), "N", -1), "schedule.limit")
