"""Random rings and staged tiles: whatever is accepted computes the same, and something is."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from exogpu.ir.index import Bin, Int, Var
from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Range, Window
from exogpu.schedule import Refused, Schedule, inline_window, ring_buffer, schedule, stage
from exogpu.schedule.stage import Before, Edges
from tests.schedule.storage_choices import BEFORE, EDGES, copies, rings, tiles

QUICK = settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def same_results(before: Proc, after: Proc, names: tuple[str, ...]) -> None:
    """Both compute the same for every size; what is read without having been written may be anything."""
    for n in range(9):
        args = random_inputs(before, {"N": n}, 0)
        want, other = (interpret(before, args, fill=fill) for fill in (7, -3))
        defined = {name: want[name] == other[name] for name in names}
        got = interpret(after, args, fill=5)
        for name in names:
            np.testing.assert_array_equal(got[name][defined[name]], want[name][defined[name]])


folded: Counter[str] = Counter()


@QUICK
@given(rings(), st.integers(1, 4))
def fold(proc: Proc, depth: int) -> None:
    try:
        s = ring_buffer(schedule(proc), "t: _", depth, 0)
    except Refused as refused:
        folded[refused.code] += 1
        return
    folded["accepted"] += 1
    same_results(proc, s.proc, ("y",))


def test_rings_that_are_accepted_keep_the_meaning() -> None:
    fold()
    assert folded["accepted"] > 5 and folded["schedule.condition"] > 5
    assert set(folded) <= {"accepted", "schedule.condition"}


inlined: Counter[str] = Counter()


@QUICK
@given(copies())
def inline_somewhere(proc: Proc) -> None:
    try:
        s = inline_window(schedule(proc), "t: _")
    except Refused as refused:
        inlined[refused.code] += 1
        return
    inlined["accepted"] += 1
    same_results(proc, s.proc, ("x", "y"))


def test_copies_that_go_keep_the_meaning() -> None:
    inline_somewhere()
    assert inlined["accepted"] > 0 and inlined["schedule.condition"] > 5
    assert set(inlined) <= {"accepted", "schedule.condition"}


staged: Counter[str] = Counter()


@settings(QUICK, max_examples=100)
@given(
    tiles(),
    st.sampled_from(("x", "y", "y")),
    st.sampled_from((0, 0, 0, 1)),
    st.sampled_from((3, 3, 6, 7)),
    st.sampled_from(EDGES),
    st.sampled_from(BEFORE),
    st.sampled_from(("i", "for i in _: _", "io")),
)
def stage_somewhere(proc: Proc, name: str, lo: int, extent: int, edges: Edges, before: Before, where: str) -> None:
    start = Bin("+", Bin("*", Int(3), Var("io")), Int(lo)) if where != "io" else Int(lo)
    window = Window(name, (Range(start, extent if where != "io" else 3 * extent),))
    try:
        s: Schedule = stage(schedule(proc), where, window, "t", edges=edges, before=before)
    except Refused as refused:
        staged[refused.code] += 1
        return
    staged[f"{edges} {before}"] += 1
    same_results(proc, s.proc, ("x", "y"))


def test_tiles_that_are_accepted_keep_the_meaning() -> None:
    stage_somewhere()
    assert {"guard copy", "zero copy"} <= set(staged) and staged["schedule.condition"] > 5
