"""Scalar functions of data expressions: what the front end accepts, the interpreter computes and codegen spells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exogpu.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function. `cuda` spells it for each type that values are computed in, with `{0}` for the argument; a
    type that is missing there has no such function."""

    name: str
    arity: int
    cuda: Mapping[Scalar, str]

    @property
    def integers(self) -> bool:
        """Whether it is also defined on integer types."""
        return Scalar.I32 in self.cuda


def _floating(f32: str, f64: str) -> Mapping[Scalar, str]:
    return {Scalar.F32: f32, Scalar.F64: f64}


_TABLE = (
    Function("abs", 1, {**_floating("fabsf({0})", "fabs({0})"), Scalar.I32: "abs({0})"}),
    Function("exp", 1, _floating("expf({0})", "exp({0})")),
    Function("exp2", 1, _floating("exp2f({0})", "exp2({0})")),
    Function("log", 1, _floating("logf({0})", "log({0})")),
    Function("log2", 1, _floating("log2f({0})", "log2({0})")),
    Function("sqrt", 1, _floating("sqrtf({0})", "sqrt({0})")),
    Function("rsqrt", 1, _floating("rsqrtf({0})", "rsqrt({0})")),
    Function("tanh", 1, _floating("tanhf({0})", "tanh({0})")),
    Function("sin", 1, _floating("sinf({0})", "sin({0})")),
    Function("cos", 1, _floating("cosf({0})", "cos({0})")),
    Function("relu", 1, {**_floating("fmaxf({0}, 0.0f)", "fmax({0}, 0.0)"), Scalar.I32: "max({0}, 0)"}),
    Function("sigmoid", 1, _floating("(1.0f / (1.0f + expf(-({0}))))", "(1.0 / (1.0 + exp(-({0}))))")),
)

FUNCTIONS: dict[str, Function] = {f.name: f for f in _TABLE}
