"""Storage types: what a store keeps of a number, and the types that arithmetic is done in."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from exogpu.ir.index import Cmp, Int
from exogpu.ir.interp import interpret
from exogpu.ir.numeric import storage_dtype
from exogpu.ir.proc import TensorArg
from exogpu.ir.stmt import Assign, If, Stmt
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Value
from tests.interp.small import I, elementwise, loop, procedure

X = Read("x", (I,))
INF, NAN = float("inf"), float("nan")


def _stored(source: Scalar, target: Scalar, numbers: list[float], rhs: Value = X, precise: bool = False) -> Any:
    x = np.array(numbers).astype(storage_dtype(source))
    y = np.zeros(len(numbers), storage_dtype(target))
    return interpret(elementwise(source, target, rhs, len(numbers)), {"x": x, "y": y}, precise=precise)["y"]


@pytest.mark.parametrize(
    ("target", "number", "stored"),
    [
        (Scalar.BF16, 1 + 2**-8, 1.0),
        (Scalar.BF16, 1 + 3 * 2**-8, 1 + 2**-6),
        (Scalar.BF16, 1 + 2**-8 + 2**-40, 1 + 2**-7),
        (Scalar.BF16, -1 - 2**-8 - 2**-40, -1 - 2**-7),
        (Scalar.BF16, 1 + 2**-8 - 2**-40, 1.0),
        (Scalar.BF16, 3.4e38, INF),
        (Scalar.F16, 65520.0, INF),
        (Scalar.F16, 65519.0, 65504.0),
        (Scalar.F16, 1 + 2**-11, 1.0),
        (Scalar.TF32, 1 + 2**-11, 1.0),
        (Scalar.TF32, 1 + 3 * 2**-11, 1 + 2**-9),
        (Scalar.TF32, 1 + 2**-11 + 2**-23, 1 + 2**-10),
        (Scalar.TF32, 1 + 2**-11 + 2**-40, 1 + 2**-10),
        (Scalar.TF32, -INF, -INF),
        (Scalar.TF32, NAN, NAN),
        (Scalar.E4M3, 1.0625, 1.0),
        (Scalar.E4M3, 1.0626, 1.125),
        (Scalar.E4M3, 500.0, 448.0),
        (Scalar.E4M3, -INF, -448.0),
        (Scalar.E4M3, NAN, NAN),
        (Scalar.E5M2, 1e6, 57344.0),
        (Scalar.E5M2, 1.125, 1.0),
        (Scalar.F32, 1 + 2**-24, 1.0),
        (Scalar.F64, 1 + 2**-40, 1 + 2**-40),
        (Scalar.I32, 2.5, 2),
        (Scalar.I32, -3.5, -4),
        (Scalar.I32, 1e10, 2**31 - 1),
        (Scalar.I32, -INF, -(2**31)),
        (Scalar.I32, NAN, 0),
        (Scalar.I8, 127.6, 127),
        (Scalar.U8, -3.0, 0),
    ],
)
def test_a_store_rounds_to_nearest_even(target: Scalar, number: float, stored: float) -> None:
    np.testing.assert_array_equal(_stored(Scalar.F64, target, [number]).astype(np.float64), [stored])
    if not target.is_float:
        return
    exact = _stored(Scalar.F64, target, [number], Cast(target, X), precise=True)
    np.testing.assert_array_equal(exact, [number])


@pytest.mark.parametrize("target", [Scalar.BF16, Scalar.F16, Scalar.E4M3, Scalar.E5M2])
def test_a_cast_rounds_as_a_store_does(target: Scalar) -> None:
    numbers = np.random.default_rng(0).standard_normal(500).tolist()
    want = np.array(numbers, np.float32).astype(storage_dtype(target)).astype(np.float32)
    np.testing.assert_array_equal(_stored(Scalar.F32, Scalar.F32, numbers, Cast(target, X)), want)


def test_integers_wrap() -> None:
    assert _stored(Scalar.I32, Scalar.I8, [200, 128, -129]).tolist() == [-56, -128, 127]
    assert _stored(Scalar.I8, Scalar.I32, [100], Arith("*", X, X)).tolist() == [10000]
    assert _stored(Scalar.I32, Scalar.I32, [2**30], Arith("*", X, Num(2.0))).tolist() == [-(2**31)]
    assert _stored(Scalar.U8, Scalar.U8, [200], Arith("+", X, X)).tolist() == [144]


def test_narrow_operands_are_computed_in_f32() -> None:
    product = Arith("*", Arith("*", X, X), Num(2.0**-8))
    assert _stored(Scalar.F16, Scalar.F16, [512.0], product).tolist() == [1024.0]
    tiny = Arith("-", Arith("+", X, Num(2.0**-20)), X)
    assert _stored(Scalar.BF16, Scalar.BF16, [1.0], tiny).astype(float).tolist() == [2.0**-20]
    rounded = Arith("-", Cast(Scalar.BF16, Arith("+", X, Num(2.0**-20))), X)
    assert _stored(Scalar.BF16, Scalar.BF16, [1.0], rounded).astype(float).tolist() == [0.0]


def test_the_wider_operand_decides() -> None:
    third = Arith("/", Num(1.0), Num(3.0))
    assert _stored(Scalar.F64, Scalar.F64, [1.0], Arith("*", X, third)).tolist() == [1 / 3]
    assert _stored(Scalar.F32, Scalar.F64, [1.0], Arith("*", X, third)).tolist() == [float(np.float32(1 / 3))]
    assert _stored(Scalar.F32, Scalar.F32, [0, 0], Arith("/", FromIndex(I), Num(2.0))).tolist() == [0.0, 0.5]
    assert _stored(Scalar.I32, Scalar.F32, [7], Cast(Scalar.F32, X)).tolist() == [7.0]


def test_min_and_max_prefer_a_number_to_nan() -> None:
    assert _stored(Scalar.F32, Scalar.F32, [NAN, -INF], Arith("max", X, Num(1.0))).tolist() == [1.0, 1.0]
    assert _stored(Scalar.F32, Scalar.F32, [NAN, 3.0], Arith("min", X, Num(1.0))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", [Scalar.F32, Scalar.F64, Scalar.BF16])
def test_zeros_are_ordered_by_their_signs(dtype: Scalar) -> None:
    """So that neither the order of operands nor that of a reduction matters."""
    signs = [0.0, -0.0]
    for negative, zero in ((False, 0.0), (True, -0.0)):
        least, most = (_stored(dtype, dtype, signs, Arith(op, X, Num(zero))) for op in ("min", "max"))
        turned = [_stored(dtype, dtype, signs, Arith(op, Num(zero), X)) for op in ("min", "max")]
        assert np.signbit(least).tolist() == np.signbit(turned[0]).tolist() == [negative, True]
        assert np.signbit(most).tolist() == np.signbit(turned[1]).tolist() == [False, negative]
    assert not np.signbit(_stored(dtype, dtype, signs, Call("relu", (X,)))).any()


def test_functions_and_signs() -> None:
    x = [0.5, -2.0]
    assert _stored(Scalar.F32, Scalar.F32, x, Call("relu", (Neg(X),))).tolist() == [0.0, 2.0]
    assert _stored(Scalar.I32, Scalar.I32, [-3], Call("abs", (X,))).tolist() == [3]
    got = _stored(Scalar.F64, Scalar.F64, x, Call("exp", (X,)))
    np.testing.assert_allclose(got, np.exp(x), rtol=1e-15)


def test_results_have_the_storage_type() -> None:
    assert _stored(Scalar.F32, Scalar.BF16, [1.0]).dtype == ml_dtypes.bfloat16
    assert _stored(Scalar.F32, Scalar.E4M3, [1.0]).dtype == ml_dtypes.float8_e4m3fn
    assert _stored(Scalar.F32, Scalar.BF16, [1.0], precise=True).dtype == np.float64


@pytest.mark.parametrize("guarded", [False, True])
def test_values_added_to_an_integer_are_rounded_and_clamped_one_after_the_other(guarded: bool) -> None:
    shape = (Int(4),)
    add: Stmt = Assign("s", (Int(0),), "+=", Read("x", (I,)))
    body = If(Cmp("<", I, Int(3)), (add,), ()) if guarded else add
    args = (TensorArg("x", Scalar.F32, shape), TensorArg("s", Scalar.I8, (Int(1),)))
    proc = procedure(args, loop("i", 0, Int(3), body))
    given: dict[str, Any] = {"x": np.array([100.5, 100.0, -50.25, 9.0], np.float32), "s": np.zeros(1, np.int8)}
    for together in (True, False):
        assert interpret(proc, given, together=together)["s"][0] == 77
