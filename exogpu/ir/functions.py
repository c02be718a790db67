"""Scalar functions of data expressions: what the front end accepts, the interpreter computes and codegen spells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from exogpu.ir.types import Scalar

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function. `numpy` computes it elementwise; `cuda` spells it for each type that values are computed in,
    with `{0}` for the argument; a type that is missing there has no such function."""

    name: str
    arity: int
    numpy: Callable[..., Array]
    cuda: Mapping[Scalar, str]

    @property
    def integers(self) -> bool:
        """Whether it is also defined on integer types."""
        return Scalar.I32 in self.cuda


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _rsqrt(x: Array) -> Array:
    return np.asarray(1 / np.sqrt(x))


def _relu(x: Array) -> Array:
    return np.asarray(np.fmax(x, np.asarray(0, dtype=x.dtype)))  # as on the GPU, 0 for NaN


def _floating(f32: str, f64: str) -> Mapping[Scalar, str]:
    return {Scalar.F32: f32, Scalar.F64: f64}


_TABLE = (
    Function("abs", 1, np.abs, {**_floating("fabsf({0})", "fabs({0})"), Scalar.I32: "abs({0})"}),
    Function("exp", 1, np.exp, _floating("expf({0})", "exp({0})")),
    Function("exp2", 1, np.exp2, _floating("exp2f({0})", "exp2({0})")),
    Function("log", 1, np.log, _floating("logf({0})", "log({0})")),
    Function("log2", 1, np.log2, _floating("log2f({0})", "log2({0})")),
    Function("sqrt", 1, np.sqrt, _floating("sqrtf({0})", "sqrt({0})")),
    Function("rsqrt", 1, _rsqrt, _floating("rsqrtf({0})", "rsqrt({0})")),
    Function("tanh", 1, np.tanh, _floating("tanhf({0})", "tanh({0})")),
    Function("sin", 1, np.sin, _floating("sinf({0})", "sin({0})")),
    Function("cos", 1, np.cos, _floating("cosf({0})", "cos({0})")),
    Function("relu", 1, _relu, {**_floating("fmaxf({0}, 0.0f)", "fmax({0}, 0.0)"), Scalar.I32: "max({0}, 0)"}),
    Function("sigmoid", 1, _sigmoid, _floating("(1.0f / (1.0f + expf(-({0}))))", "(1.0 / (1.0 + exp(-({0}))))")),
)

FUNCTIONS: dict[str, Function] = {f.name: f for f in _TABLE}
