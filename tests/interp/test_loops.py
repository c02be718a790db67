"""Loops of particular shapes, run at once and one iteration after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exogpu.ir.index import Bin, Cmp, Index, Int, Var
from exogpu.ir.interp import interpret, machine, random_inputs
from exogpu.ir.proc import SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, If, Stmt
from exogpu.ir.types import Rmem, Scalar
from exogpu.ir.value import Arith, FromIndex, Num, Read
from tests.interp.small import I, N, loop, procedure

J, K = Var("j"), Var("k")
ARGS = (
    SizeArg("N"),
    TensorArg("x", Scalar.I32, (N, Int(8))),
    TensorArg("y", Scalar.I32, (N,)),
    TensorArg("b", Scalar.BF16, (N,)),
)
SIZE = 6


def _run(*body: Stmt, together: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    proc = procedure(ARGS, *body)
    args: dict[str, Any] = dict(random_inputs(proc, {"N": SIZE}, seed=2))
    return args, interpret(proc, args, together=together)


def _plus(a: Index, b: Index) -> Index:
    return Bin("+", a, b)


both_ways = pytest.mark.parametrize("together", [True, False], ids=["together", "in order"])


@both_ways
def test_bounds_that_depend_on_an_outer_loop(together: bool) -> None:
    add = Assign("y", (I,), "+=", Read("x", (J, I)))
    args, got = _run(loop("i", 0, N, loop("j", 0, _plus(I, Int(1)), add)), together=together)
    want = args["y"] + np.array([args["x"][: i + 1, i].sum() for i in range(SIZE)])
    assert got["y"].tolist() == want.tolist()


@both_ways
def test_a_band(together: bool) -> None:
    first, end = Bin("max", Bin("-", I, Int(1)), Int(0)), Bin("min", _plus(I, Int(2)), N)
    inner = loop("j", 0, end, If(Cmp(">=", J, first), (Assign("x", (I, J), "=", FromIndex(J)),), ()))
    args, got = _run(loop("i", 0, N, inner), together=together)
    want = args["x"].copy()
    for i in range(SIZE):
        for j in range(max(i - 1, 0), min(i + 2, SIZE)):
            want[i, j] = j
    assert got["x"].tolist() == want.tolist()


@both_ways
def test_sums_that_meet_irregularly(together: bool) -> None:
    half = Bin("//", I, Int(2))
    add = Assign("y", (_plus(half, Bin("//", J, Int(4))),), "+=", Read("x", (I, J)))
    args, got = _run(loop("i", 0, N, loop("j", 0, Int(8), add)), together=together)
    want = args["y"].copy()
    for i in range(SIZE):
        for j in range(8):
            want[i // 2 + j // 4] += args["x"][i, j]
    assert got["y"].tolist() == want.tolist()


@both_ways
def test_products_are_summed(together: bool) -> None:
    product = Arith("*", Read("x", (I, K)), Read("x", (J, K)))
    body = loop("i", 0, N, loop("j", 0, N, loop("k", 0, Int(8), Assign("y", (I,), "+=", product))))
    args, got = _run(body, together=together)
    assert got["y"].tolist() == (args["y"] + (args["x"] @ args["x"].T).sum(axis=1)).tolist()


@both_ways
def test_a_sum_of_the_same_number(together: bool) -> None:
    body = loop("i", 0, N, loop("j", 0, Int(8), Assign("y", (I,), "+=", Arith("*", Num(2.0), FromIndex(I)))))
    args, got = _run(body, together=together)
    assert got["y"].tolist() == (args["y"] + 16 * np.arange(SIZE)).tolist()


@both_ways
def test_a_running_maximum_is_taken_in_order(together: bool) -> None:
    largest = Assign("y", (I,), "=", Arith("max", Read("y", (I,)), Read("x", (I, J))))
    prefix = loop("i", 1, N, Assign("y", (I,), "+=", Read("y", (Bin("-", I, Int(1)),))))
    args, got = _run(loop("i", 0, N, loop("j", 0, Int(8), largest)), prefix, together=together)
    assert got["y"].tolist() == np.cumsum(np.maximum(args["y"], args["x"].max(axis=1))).tolist()


@both_ways
def test_a_private_buffer_lives_for_one_iteration(together: bool) -> None:
    body: tuple[Stmt, ...] = (
        Alloc("t", Scalar.I32, (8,), Rmem()),
        loop("j", 0, Int(8), Assign("t", (J,), "=", Read("x", (I, Bin("-", Int(7), J))))),
        loop("k", 0, Int(8), Assign("x", (I, K), "=", Read("t", (K,)))),
    )
    args, got = _run(loop("i", 0, N, *body), together=together)
    assert got["x"].tolist() == args["x"][:, ::-1].tolist()


@both_ways
def test_narrow_sums_round_each_time(together: bool) -> None:
    """256 + 1 rounds to 256 in bf16, however often."""
    start = Assign("b", (I,), "=", Num(256.0))
    body = loop("i", 0, N, start, loop("j", 0, Int(8), Assign("b", (I,), "+=", Num(1.0))))
    _, got = _run(body, together=together)
    assert got["b"].astype(float).tolist() == [256.0] * SIZE


@pytest.mark.parametrize("limit", [1, 7, 20, 100])
def test_a_large_loop_is_cut(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LIMIT", limit)
    body: tuple[Stmt, ...] = (
        Alloc("t", Scalar.I32, (8,), Rmem()),
        loop("j", 0, Int(8), Assign("t", (J,), "=", Read("x", (I, J)))),
        loop("k", 0, Int(8), Assign("y", (I,), "+=", Read("t", (K,)))),
    )
    args, got = _run(loop("i", 0, N, *body), together=True)
    assert got["y"].tolist() == (args["y"] + args["x"].sum(axis=1)).tolist()
