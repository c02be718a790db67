"""Scalar functions of data expressions: what the front end accepts, the interpreter computes and codegen spells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function. `numpy` computes it elementwise; `cuda` is its f32 spelling, with `{0}` for the argument.

    `integers`: also defined on integer types (the others take floating-point arguments only).
    """

    name: str
    arity: int
    numpy: Callable[..., Array]
    cuda: str
    integers: bool = False


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _rsqrt(x: Array) -> Array:
    return np.asarray(1 / np.sqrt(x))


def _relu(x: Array) -> Array:
    return np.asarray(np.maximum(x, np.asarray(0, dtype=x.dtype)))


_TABLE = (
    Function("abs", 1, np.abs, "fabsf({0})", integers=True),
    Function("exp", 1, np.exp, "expf({0})"),
    Function("exp2", 1, np.exp2, "exp2f({0})"),
    Function("log", 1, np.log, "logf({0})"),
    Function("log2", 1, np.log2, "log2f({0})"),
    Function("sqrt", 1, np.sqrt, "sqrtf({0})"),
    Function("rsqrt", 1, _rsqrt, "rsqrtf({0})"),
    Function("tanh", 1, np.tanh, "tanhf({0})"),
    Function("sin", 1, np.sin, "sinf({0})"),
    Function("cos", 1, np.cos, "cosf({0})"),
    Function("relu", 1, _relu, "fmaxf({0}, 0.0f)", integers=True),
    Function("sigmoid", 1, _sigmoid, "(1.0f / (1.0f + expf(-({0}))))"),
)

FUNCTIONS: dict[str, Function] = {f.name: f for f in _TABLE}
