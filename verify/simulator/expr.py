"""Index expressions and conditions over many lanes: a variable is a number, or an array with one entry per lane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]
Env = Mapping[str, "int | Numbers"]


def index(e: Index, env: Env) -> int | Numbers:
    """The value of an index expression; KeyError for a name not in `env`."""
    match e:
        case Int(value):
            return value
        case Var(name):
            return env[name]
        case Bin(op, left, right):
            value_: int | Numbers = _operate(op, index(left, env), index(right, env))
            return value_


def cond(c: Cond, env: Env) -> bool | Truths:
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
            holds: bool | Truths = _compare(op, index(left, env), index(right, env))
            return holds


def negated(truth: bool | Truths) -> bool | Truths:
    """The negation of a condition's value."""
    return not truth if isinstance(truth, bool) else ~truth


def lanes(value: int | Numbers, count: int) -> Numbers:
    """A value as an array of one entry per lane."""
    return np.broadcast_to(np.asarray(value, np.int64), (count,))


def _operate(op: str, a: Any, b: Any) -> Any:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return a // b
        case "%":
            return a % b
        case "ceildiv":
            return -(-a // b)
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b) if op == "min" else max(a, b)
    return np.minimum(a, b) if op == "min" else np.maximum(a, b)


def _compare(op: str, a: Any, b: Any) -> Any:
    match op:
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case ">=":
            return a >= b
        case "==":
            return a == b
    return a != b
