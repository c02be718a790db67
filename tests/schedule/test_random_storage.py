"""Random rings, copies and staged tiles: whatever is accepted computes the same, and something is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from exogpu.ir.index import Bin, Int, Var
from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Range, Window
from exogpu.schedule import Refused, Schedule, inline, inline_window, ring_buffer, schedule, sink_alloc, stage
from exogpu.schedule.stage import Before, Edges
from tests.schedule.storage_choices import BEFORE, EDGES, carried, copies, named_values, rings, tiles

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


def attempt(met: Counter[str], proc: Proc, apply: Callable[[Schedule], Schedule], accepted: str = "accepted") -> None:
    """Applies an operator, and compares if it is accepted."""
    try:
        s = apply(schedule(proc))
    except Refused as refused:
        met[refused.code] += 1
        return
    met[accepted] += 1
    same_results(proc, s.proc, ("x", "y"))


def both_answers(met: Counter[str]) -> None:
    """Some programs were accepted, and some refused with a counterexample; nothing else happened."""
    assert met["accepted"] > 0 and met["schedule.condition"] > 0
    assert set(met) <= {"accepted", "schedule.condition"}


folded: Counter[str] = Counter()
inlined: Counter[str] = Counter()
sunk: Counter[str] = Counter()
unnamed: Counter[str] = Counter()


@QUICK
@given(rings(), st.integers(1, 4))
def fold(proc: Proc, depth: int) -> None:
    attempt(folded, proc, lambda s: ring_buffer(s, "t: _", depth, 0))


def test_rings_that_are_accepted_keep_the_meaning() -> None:
    fold()
    both_answers(folded)


@QUICK
@given(copies())
def inline_somewhere(proc: Proc) -> None:
    attempt(inlined, proc, lambda s: inline_window(s, "t: _"))


def test_copies_that_go_keep_the_meaning() -> None:
    inline_somewhere()
    both_answers(inlined)


@QUICK
@given(carried())
def sink(proc: Proc) -> None:
    attempt(sunk, proc, lambda s: sink_alloc(s, "t: _"))


def test_allocations_that_sink_keep_the_meaning() -> None:
    sink()
    both_answers(sunk)


@QUICK
@given(named_values())
def inline_a_value(proc: Proc) -> None:
    attempt(unnamed, proc, lambda s: inline(s, "t[0] = _"))


def test_values_that_lose_their_names_keep_the_meaning() -> None:
    inline_a_value()
    both_answers(unnamed)


staged: Counter[str] = Counter()


@settings(QUICK, max_examples=150)
@given(
    tiles(),
    st.sampled_from(("x", "y", "y")),
    st.sampled_from((0, 0, 0, 1)),
    st.sampled_from((3, 3, 6, 7)),
    st.sampled_from((*EDGES, "zero")),
    st.sampled_from(BEFORE),
    st.sampled_from(("i", "for i in _: _", "io")),
)
def stage_somewhere(proc: Proc, name: str, lo: int, extent: int, edges: Edges, before: Before, where: str) -> None:
    start = Bin("+", Bin("*", Int(3), Var("io")), Int(lo)) if where != "io" else Int(lo)
    window = Window(name, (Range(start, extent if where != "io" else 3 * extent),))
    kind = f"{edges} {before}"
    attempt(staged, proc, lambda s: stage(s, where, window, "t", edges=edges, before=before), kind)


def test_tiles_that_are_accepted_keep_the_meaning() -> None:
    stage_somewhere()
    assert {"guard copy", "zero copy"} <= set(staged) and staged["schedule.condition"] > 5
