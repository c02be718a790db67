"""The scalar functions of data expressions in NumPy, elementwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _rsqrt(x: Array) -> Array:
    return np.asarray(1 / np.sqrt(x))


def smaller(a: Array, b: Array) -> Array:
    """The smaller value, as on the GPU: a number rather than NaN, and -0.0 before 0.0."""
    return _zeros_in_order(np.fmin(a, b), a, b, np.logical_or)


def larger(a: Array, b: Array) -> Array:
    """The larger value, as on the GPU: a number rather than NaN, and 0.0 before -0.0."""
    return _zeros_in_order(np.fmax(a, b), a, b, np.logical_and)


def _zeros_in_order(found: Array, a: Array, b: Array, negative: np.ufunc) -> Array:
    """What was found, but for two zeros, of which NumPy takes any: it is negative if one or both are."""
    zeros = (a == 0) & (b == 0)
    if found.dtype.kind != "f" or not zeros.any():
        return np.asarray(found)
    sign = np.where(negative(np.signbit(a), np.signbit(b)), found.dtype.type(-1), found.dtype.type(1))
    return np.where(zeros, np.copysign(found.dtype.type(0), sign), found)


def _relu(x: Array) -> Array:
    return larger(x, np.asarray(0, dtype=x.dtype))


NUMPY: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "relu": _relu,
    "sigmoid": _sigmoid,
}
"""By the names of `exogpu.ir.functions`."""
