"""Arguments: what is refused and how, random ones, and comparisons with a reference."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from exogpu.ir.index import Bin, BoolOp, Cmp, Index, Int
from exogpu.ir.interp import InterpError, compare, interpret, random_inputs, written_tensors
from exogpu.ir.numeric import storage_dtype
from exogpu.ir.proc import Proc, Require, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, If, Stmt
from exogpu.ir.types import Rmem, Scalar
from exogpu.ir.value import Arith, Num, Read, Select
from exogpu.source import Span
from tests.interp.small import I, N, loop, procedure

HERE = Span("kernel.py", 7, 4, 7, 20)
ARGS = (SizeArg("N"), ScalarArg("s", Scalar.F32), TensorArg("x", Scalar.F32, (N,)), TensorArg("y", Scalar.F32, (N,)))


def _scale(*index: Index) -> Proc:
    """`y[i] = s * x[index]`."""
    rhs = Arith("*", Read("s", ()), Read("x", index or (I,), HERE))
    even = Require(Cmp("==", Bin("%", N, Int(2)), Int(0)), HERE)
    return procedure(ARGS, loop("i", 0, N, Assign("y", (I,), "=", rhs)), requires=(even,))


def _args(**changes: Any) -> dict[str, Any]:
    x = np.arange(4, dtype=np.float32)
    return {"N": 4, "s": 2.0, "x": x, "y": np.zeros(4, np.float32)} | changes


def _refusal(proc: Proc, args: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(InterpError) as caught:
        interpret(proc, args)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.code, diagnostic.message


def test_inputs_are_left_alone() -> None:
    args = _args()
    assert interpret(_scale(), args)["y"].tolist() == [0, 2, 4, 6]
    assert args["y"].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"N": -2}, "size `N` must be an integer from 0 to"),
        ({"N": 2.0}, "size `N` must be an integer from 0 to"),
        ({"N": 2}, "`x` must be an array of shape (2,), not an array of shape (4,)"),
        ({"x": [1.0] * 4}, "`x` must be an array of shape (4,), not a list"),
        ({"x": np.zeros(4)}, "`x` must have elements of type float32, not float64"),
        ({"s": np.zeros(2)}, "`s` must be a number, not an array of shape (2,)"),
        ({"z": 1}, "`small` has no argument `z`"),
    ],
)
def test_unfit_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    code, text = _refusal(_scale(), _args(**changes))
    assert code == "interp.argument"
    assert text.startswith(message)


def test_missing_arguments_are_refused() -> None:
    args = _args()
    del args["s"]
    assert _refusal(_scale(), args) == ("interp.argument", "argument `s` is missing")


def test_preconditions_are_checked_at_their_place() -> None:
    x = np.zeros(3, np.float32)
    with pytest.raises(InterpError) as caught:
        interpret(_scale(), _args(N=3, x=x, y=x))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span) == ("interp.require", HERE)
    assert "N = 3" in diagnostic.message


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    ("index", "where", "at"),
    [
        (Bin("+", I, Int(1)), "i = 3", 4),
        (Bin("-", Int(2), I), "i = 3", -1),
        (Bin("+", Bin("//", I, Int(2)), Int(3)), "i = 2", 4),
    ],
)
def test_the_first_access_out_of_bounds_is_named(index: Index, where: str, at: int, together: bool) -> None:
    with pytest.raises(InterpError) as caught:
        interpret(_scale(index), _args(), together=together)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span) == ("interp.bounds", HERE)
    assert diagnostic.message == f"index {at} of dimension 0 is outside `x`, whose extent there is 4"
    assert diagnostic.notes == (f"where N = 4, {where}",)


@pytest.mark.parametrize("together", [True, False])
def test_guards_and_selects_protect_accesses(together: bool) -> None:
    after = Bin("+", I, Int(1))
    inside = BoolOp("and", (Cmp(">=", after, Int(0)), Cmp("<", after, N)))
    shifted = Select(inside, Read("x", (after,)), Num(-1.0))
    guarded: tuple[Stmt, ...] = (
        Assign("y", (I,), "=", shifted),
        If(inside, (Assign("y", (I,), "+=", Read("x", (after,))),), ()),
    )
    result = interpret(procedure(ARGS, loop("i", 0, N, *guarded)), _args(), together=together)
    assert result["y"].tolist() == [2, 4, 6, -1]


@pytest.mark.parametrize("together", [True, False])
def test_a_fresh_buffer_is_poisoned_each_time(together: bool) -> None:
    kept = Read("t", (Int(0),))
    body = (
        Alloc("t", Scalar.F32, (2,), Rmem()),
        Assign("y", (I,), "=", kept),
        Assign("t", (Int(0),), "=", Num(1.0)),
    )
    result = interpret(procedure(ARGS, loop("i", 0, N, *body)), _args(), together=together)
    assert np.isnan(result["y"]).all()


def test_random_inputs_are_representable_and_repeatable() -> None:
    proc = procedure(tuple(TensorArg(s.value, s, (N, Int(3))) for s in Scalar) + ARGS[:2])
    args = random_inputs(proc, {"N": 5}, seed=1)
    again = random_inputs(proc, {"N": 5}, seed=1)
    other = random_inputs(proc, {"N": 5}, seed=2)
    assert args["N"] == 5
    assert isinstance(args["s"], float)
    for scalar in Scalar:
        array = args[scalar.value]
        assert isinstance(array, np.ndarray)
        assert array.dtype == storage_dtype(scalar)
        assert array.shape == (5, 3)
        np.testing.assert_array_equal(array, again[scalar.value])
        assert len(np.unique(array.astype(np.float64))) > 3
    assert not np.array_equal(np.asarray(args["f32"]), np.asarray(other["f32"]))
    np.testing.assert_array_equal(interpret(proc, args)["tf32"], args["tf32"])


def test_elements_are_numbers_of_their_type() -> None:
    """So that a copy into a buffer of the same type is exact."""
    proc = procedure((ARGS[0], TensorArg("a", Scalar.TF32, (Int(2),)), TensorArg("b", Scalar.E5M2, (Int(1),))))
    b = np.array([np.inf], storage_dtype(Scalar.E5M2))
    got = interpret(proc, {"N": 0, "a": np.array([1 + 2**-11, np.inf], np.float32), "b": b})
    np.testing.assert_array_equal(got["a"], np.array([1.0, np.inf], np.float32))
    assert float(got["b"][0]) == 57344.0


def test_only_written_tensors_are_compared() -> None:
    assert written_tensors(_scale()) == ("y",)
    got = interpret(_scale(), _args())
    (same,) = compare(_scale(), got, {"y": got["y"], "x": None})
    assert same.relative == 0
    assert str(same) == "y: equal"


def test_a_mismatch_names_the_worst_element() -> None:
    want = np.array([3.0, 4.0, 0.0, 0.0])
    (mismatch,) = compare(_scale(), {"y": np.array([3.0, 4.0, 1.0, -0.5], np.float32)}, {"y": want})
    assert mismatch.relative == pytest.approx(np.sqrt(1.25) / 5)
    assert dataclasses.astuple(mismatch)[2:] == ((2,), 1.0, 0.0)
    assert str(mismatch) == "y: relative error 0.224, worst at [2]: 1, not 0"


@pytest.mark.parametrize(("got", "want"), [(np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0), (np.inf, -np.inf)])
def test_nan_and_infinity_match_only_themselves(got: float, want: float) -> None:
    (mismatch,) = compare(_scale(), {"y": np.array([1.0, got])}, {"y": np.array([1.0, want])})
    assert mismatch.relative == np.inf
    assert mismatch.index == (1,)
    (equal,) = compare(_scale(), {"y": np.array([1.0, got])}, {"y": np.array([1.0, got])})
    assert equal.relative == 0


def test_an_empty_tensor_is_equal() -> None:
    (mismatch,) = compare(_scale(), {"y": np.zeros(0)}, {"y": np.zeros(0)})
    assert mismatch.relative == 0
    assert mismatch.index is None
