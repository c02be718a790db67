"""The table of scalar functions against Python's own mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from exogpu.ir.functions import FUNCTIONS, Function
from exogpu.ir.interp.functions import NUMPY
from exogpu.ir.types import Scalar
from exogpu.lang import surface

REFERENCE: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "exp": math.exp,
    "exp2": lambda x: 2**x,
    "log": math.log,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "relu": lambda x: max(x, 0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


def test_every_function_is_a_word_and_has_a_reference() -> None:
    assert set(FUNCTIONS) == set(REFERENCE) == set(NUMPY)
    assert set(FUNCTIONS) <= set(surface.WORDS) | surface.PYTHON_WORDS


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_values(name: str) -> None:
    points = np.array([0.25, 0.5, 1.0, 3.0], dtype=np.float64)
    expected = [REFERENCE[name](float(x)) for x in points]
    np.testing.assert_allclose(NUMPY[name](points), expected, rtol=1e-14)
    assert NUMPY[name](points.astype(np.float32)).dtype == np.float32


def test_negative_arguments() -> None:
    points = np.array([-2.0, -0.5], dtype=np.float32)
    assert NUMPY["abs"](points).tolist() == [2.0, 0.5]
    assert NUMPY["relu"](points).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda f: f.name)
def test_cuda_spellings_have_their_argument_once(function: Function) -> None:
    assert function.arity == 1
    assert {Scalar.F32, Scalar.F64} <= set(function.cuda) <= {Scalar.I32, Scalar.F32, Scalar.F64}
    assert all(spelling.count("{0}") == 1 for spelling in function.cuda.values())


def test_relu_prefers_a_number_to_nan_as_on_the_gpu() -> None:
    assert NUMPY["relu"](np.array([np.nan, -1.0, 2.0])).tolist() == [0.0, 0.0, 2.0]
