"""Iterations taken out of loops, statements put into them, and sums of their own."""

from __future__ import annotations

from exogpu.schedule import Warps, accumulate, assign_role, fission, fuse, into_loop, launch, peel, restrict
from tests.schedule.common import example, keeps_meaning, refusal, start


def test_peel() -> None:
    s = peel(start("eight"), "i")
    assert keeps_meaning(s).count("in seq(1, 8)") == 1
    assert "for i in seq(0, 7)" in keeps_meaning(peel(start("eight"), "i", "last"))
    assert example(lambda: peel(start("copy"), "i"))["N"] == 0
    keeps_meaning(peel(restrict(start("multiple"), "N >= 1"), "i"))


def test_a_statement_goes_into_the_first_or_last_iteration() -> None:
    s = restrict(start("running"), "N >= 1")
    s = into_loop(s, "t[0] = _")
    assert "if i == 0:" in s.show()
    assert example(lambda: into_loop(start("running"), "t[0] = _"))["N"] == 0
    refusal(lambda: into_loop(start("running"), "t: _"), "schedule.pattern")
    s = accumulate(start("always"), "i", "t")
    keeps_meaning(into_loop(s, "s[_] += _", "last"))


def test_accumulate() -> None:
    s = accumulate(start("matmul"), "k", "acc")
    assert "C[i, j] += acc[0]" in keeps_meaning(s)
    assert s.reassociated
    refusal(lambda: accumulate(start("matmul"), "j", "acc"), "schedule.limit")
    refusal(lambda: accumulate(start("narrow_sum"), "j", "acc"), "schedule.limit")
    assert example(lambda: accumulate(start("prefix"), "j", "acc"))["N"] > 0
    assert example(lambda: accumulate(start("seldom"), "j", "acc"))["i"] >= 4


def test_conditionals_and_roles_are_cut_and_joined() -> None:
    s = start("both_in_test")
    s = fission(s, s.find("y[_] = _").after)
    assert keeps_meaning(s).count("if i < 3:") == 2
    assert keeps_meaning(fuse(s, "if _: _ #0")) == start("both_in_test").show()
    s = launch(start("both_in_test"), roles={"all": Warps(1)})
    s = assign_role(s, s.find("if _: _").body(), "all")
    s = fission(s, s.find("y[_] = _").after)
    assert s.show().count("with role(all):") == 2
    assert fuse(s, "with role(all): _ #0").show().count("with role(all):") == 1
