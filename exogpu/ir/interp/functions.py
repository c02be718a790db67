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


def _relu(x: Array) -> Array:
    return np.asarray(np.fmax(x, np.asarray(0, dtype=x.dtype)))  # as on the GPU, 0 for NaN


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
