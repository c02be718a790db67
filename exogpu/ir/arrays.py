"""Index expressions and conditions for many lanes or points at once: a variable is a number, or an array of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.evaluate import compare, operate
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, IndexOp, Int, Not, Var

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]
Env = Mapping[str, "int | Numbers"]


class Bindings(Protocol):
    """The values of variables, as an `Env` gives them."""

    def __getitem__(self, name: str, /) -> int | Numbers:
        """The value of a variable; KeyError for a name that has none."""


def index(e: Index, env: Bindings) -> int | Numbers:
    """The value of an index expression; KeyError for a name not in `env`."""
    match e:
        case Int(value):
            return value
        case Var(name):
            return env[name]
        case Bin(op, left, right):
            result: int | Numbers = _operate(op, index(left, env), index(right, env))
            return result


def cond(c: Cond, env: Bindings) -> bool | Truths:
    """The truth value of a condition."""
    match c:
        case Bool(value):
            return value
        case Not(arg):
            return negated(cond(arg, env))
        case BoolOp(op, args):
            truth = cond(args[0], env)
            for arg in args[1:]:
                truth = truth & cond(arg, env) if op == "and" else truth | cond(arg, env)
            return truth
        case Cmp(op, left, right):
            a: Any = index(left, env)
            b: Any = index(right, env)
            return compare(op, a, b)


def negated(truth: bool | Truths) -> bool | Truths:
    """The negation of a condition's value."""
    return not truth if isinstance(truth, bool) else ~truth


def lanes(value: int | Numbers, count: int) -> Numbers:
    """A value as an array of one entry per lane."""
    return np.broadcast_to(np.asarray(value, np.int64), (count,))


def _operate(op: IndexOp, a: Any, b: Any) -> Any:
    if op in ("min", "max") and not (isinstance(a, int) and isinstance(b, int)):
        return np.minimum(a, b) if op == "min" else np.maximum(a, b)
    return operate(op, a, b)
