"""Reductions in parts."""

from __future__ import annotations

import pytest

from exogpu.ir.stmt import Tasks
from exogpu.isa import atomic_add
from exogpu.schedule import Schedule, launch, replace, set_mode, split_reduction, unit_loop, var, window
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from tests.schedule.common import example, keeps_meaning, refusal, start

TILE = "y[4 * io : 4 * io + 4]"


def by_atomics(s: Schedule) -> Schedule:
    """The sum of a part is added by atomics."""
    i = var("acc_0_1")
    dst, src = window("y", (4 * var("io") + i, 1)), window("acc", (i, 1))
    return replace(s, "y[_] += _", atomic_add, dst=dst, src=src)


def test_every_part_adds_its_sum() -> None:
    s = split_reduction(start("blocks"), "k", 3, TILE, "acc", edges="guard", names=("step", "part"))
    text = keeps_meaning(s)
    assert s.reassociated
    assert "for part in seq(0, 3):" in text and "for step in seq(0, ceildiv(K, 3)):" in text
    assert "if 3 * step + part < K:" in text and "y[4 * io + acc_0_1] += acc[acc_0_1]" in text
    s = by_atomics(s)
    assert "atomic_add(y[4 * io + acc_0_1 : 4 * io + acc_0_1 + 1], acc[acc_0_1 : acc_0_1 + 1])" in keeps_meaning(s)


def test_parts_that_run_side_by_side() -> None:
    s = split_reduction(start("blocks"), "k", 3, TILE, "acc", edges="guard", names=("step", "part"))
    s = by_atomics(s)
    s = launch(set_mode(set_mode(s, "io", Tasks()), "part", Tasks()), 32)
    s = unit_loop(s, s.find("part").body(), "t", 1)
    assert verify(s.kernel).status is Status.PROVED


def test_sums_that_are_kept_until_the_end() -> None:
    s = split_reduction(start("blocks"), "k", 3, TILE, "acc", edges="guard", sums="kept")
    text = keeps_meaning(s)
    assert "acc: f32[3, 4] @ RMEM" in text and "acc[kp, i] += x[4 * io + i, 3 * ko + kp]" in text
    assert "y[4 * io + acc_0_1] += acc[kp_1, acc_0_1]" in text
    assert s.find("acc.store").parent() == s.find("kp_1")


def test_integers_are_summed_exactly() -> None:
    s = split_reduction(start("sums_of_integers"), "i", 4, "s[0]", "part", sums="kept")
    assert "part[ip, 0] += x[4 * io + ip]" in keeps_meaning(s)
    assert not s.reassociated


def test_what_is_no_sum() -> None:
    found = example(lambda: split_reduction(start("recurrence"), "i", 2, "x[i + 1]", "t"))
    assert found["N"] > 0
    example(lambda: split_reduction(start("narrow_sum"), "i", 2, "s[0]", "t"))
    refusal(lambda: split_reduction(start("scaled"), "j", 2, "y[i, :]", "t"), "schedule.limit")
    refusal(lambda: split_reduction(start("blocks"), "k", 0, TILE, "t"), "schedule.limit")
    refusal(lambda: split_reduction(start("blocks"), "y[_] += _", 2, TILE, "t"), "schedule.pattern")


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_a_window_that_reaches_over_the_edge(parts: int) -> None:
    assert example(lambda: split_reduction(start("blocks"), "k", parts, TILE, "acc"))["N"] % 4
