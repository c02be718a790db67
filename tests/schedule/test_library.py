"""Schedules composed of operators, and the small operators that they need."""

from __future__ import annotations

import numpy as np

from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.stmt import Unroll
from exogpu.ir.types import Smem
from exogpu.isa import tma_load, tma_load_multicast, tma_store, vec_copy
from exogpu.schedule import (
    Warps,
    by,
    conjoin,
    each,
    insert,
    launch,
    reorder_dimensions,
    separate,
    stage,
    unroll,
    wait,
    when,
)
from exogpu.schedule.library import (
    apart,
    clear_first,
    modes,
    once,
    outwards,
    pipeline,
    spread,
    sums_apart,
    through_shared,
    tile,
    unguarded,
    warp_specialise,
)
from tests.schedule.common import example, keeps_meaning, refusal, start


def test_tiles_have_guards_inside() -> None:
    text = keeps_meaning(tile(start("matmul"), ("i", 4, "ti"), ("j", 2, "tj"), ("k", 3, "tk")))
    order = [text.index(f"for {name} in") for name in ("ti", "tj", "tk", "i", "j", "k")]
    assert order == sorted(order) and text.index("for k in") < text.index("if ")
    assert "tk" in str(refusal(lambda: outwards(tile(start("matmul"), ("i", 4, "ti")), "k", "tk"), "schedule.cursor"))


def test_sums_of_a_tile() -> None:
    s = tile(start("dots"), ("i", 4, "ti"), ("j", 2, "tj"))
    s = sums_apart(s, "acc", "k", "tj")
    assert "acc: f32[4, 2] @ RMEM" in keeps_meaning(s)
    assert not s.reassociated
    s = outwards(s, "k", "tj")
    s = clear_first(s, "acc", "i")
    assert "if k == 0:" in keeps_meaning(s)


def test_a_carried_value_is_not_spread() -> None:
    s = spread(start("invariant"), "t", "i")
    assert s.show() == start("invariant").show()
    s = apart(start("independent"), start("independent").find("y[_] = _").after, "i")
    assert s.show() == start("independent").show()
    refusal(lambda: spread(start("scratch"), "t", "j"), "schedule.cursor")
    assert "not a literal" in str(refusal(lambda: spread(start("inner"), "t", "i"), "schedule.limit"))


def test_a_pipeline_of_loads() -> None:
    s = launch(start("streamed"), roles={"producer": Warps(1), "consumer": Warps(1)})
    whole = s.find("k").body()
    s = stage(s, whole, "A[0:64, 64 * k : 64 * k + 64]", "sA", Smem(swizzle=128), edges="zero")
    wrong = [("sA", "sA.load", tma_load_multicast)]
    refusal(lambda: pipeline(s, wrong, 3, 1, ("full", "empty")), "schedule.limit")
    s = pipeline(s, [("sA", "sA.load", tma_load)], 3, 1, ("full", "empty"))
    s = once(s, "full")
    s = warp_specialise(s, {"producer": [s.find("full").parent()]})
    text = keeps_meaning(s)
    assert "sA: bf16[64, 64] @ SMEM(swizzle=128, ring=3)" in text
    order = [text.index(t) for t in ("with role(producer)", "in threads(1)", "Await(empty, lag=3)", "tma_load(", "tx=")]
    assert order == sorted(order) and "Arrive(full, tx=8192)" in text


def test_stores_through_shared_memory() -> None:
    s = tile(start("copies"), ("i", 16, "ti"), ("j", 64, "tj"))
    part = "y[16 * ti : 16 * ti + 16, 64 * tj : 64 * tj + 64]"
    memory = Smem()
    refusal(lambda: through_shared(s, "i", part, "t", memory, fill=vec_copy, drain=tma_store), "schedule.limit")


def test_modes_of_all_loops_of_a_name() -> None:
    s = modes(unroll(start("rows"), "h"), Unroll(), "j")
    assert s.show().count("in unroll(0, 3)") == 2


def test_separate() -> None:
    assert "literal" in str(refusal(lambda: separate(start("rows"), "t", ("a", "b")), "schedule.limit"))
    s = unroll(start("rows"), "h")
    text = keeps_meaning(separate(s, "t", ("a", "b")))
    assert "a: f32[3] @ RMEM" in text and "a[1] * b[2]" in text
    refusal(lambda: separate(s, "t", ("a",)), "schedule.limit")
    refusal(lambda: separate(s, "t", ("a", "a")), "schedule.limit")
    refusal(lambda: separate(s, "t", ("a", "x")), "schedule.limit")
    refusal(lambda: separate(start("scratch"), "t", ("a",)), "schedule.limit")


def test_conjoin() -> None:
    assert "if i > 1 and i < 4:" in keeps_meaning(conjoin(start("nested"), "if i > 1: _"))
    refusal(lambda: conjoin(start("nested"), "if i > 5: _"), "schedule.limit")


def test_unguarded() -> None:
    assert example(lambda: unguarded(start("seldom"), "x[_] += _"))["i"] >= 4


def test_a_tensor_in_another_order() -> None:
    s = reorder_dimensions(start("dots"), "B", 1, 0)
    args = random_inputs(s.original, {"M": 3, "N": 5}, seed=0)
    want = interpret(s.original, args)["C"]
    got = interpret(s.proc, {**args, "B": np.asarray(args["B"]).T.copy()})["C"]
    np.testing.assert_array_equal(got, want)
    s = reorder_dimensions(s, "C", 1, 0)
    got = interpret(s.proc, {**args, "B": np.asarray(args["B"]).T.copy(), "C": np.asarray(args["C"]).T.copy()})["C"]
    np.testing.assert_array_equal(got.T, want)
    refusal(lambda: reorder_dimensions(s, "C", 1, 1), "schedule.limit")
    refusal(lambda: reorder_dimensions(s, "M", 0), "schedule.pattern")


def test_statements_built_once_are_inserted_several_times() -> None:
    s = launch(start("scratch"), roles={"all": Warps(1)})
    twice = each("v", 1, when("N > 0", each("v", 1)), unit=32)
    s = insert(s, s.find("y[_] = _").after, (by("all", twice, twice, unit="N % 1"), twice))
    assert keeps_meaning(s).count("for v") == 6
    refusal(lambda: insert(s, s.find("y[_] = _").after, wait("none")), "schedule.limit")
    refusal(lambda: insert(s, s.find("y[_] = _").after, when("v > 0", each("w", 1))), "schedule.expression")
    aside = (each("v", 1), when("v > 0", each("w", 1)))
    refusal(lambda: insert(s, s.find("y[_] = _").after, aside), "schedule.expression")
