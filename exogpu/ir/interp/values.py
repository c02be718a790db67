"""Data expressions at all points of a grid (`exogpu.ir.value_type` has the types, `exogpu.ir.numeric` rounding)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from exogpu.ir.arrays import negated
from exogpu.ir.interp.functions import NUMPY, larger, smaller
from exogpu.ir.interp.grid import Grid
from exogpu.ir.numeric import Array, compute_dtype, convert
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value, ValueOp
from exogpu.ir.value_type import Types, value_type


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates data expressions; `read` loads an element, `types` are those of buffers and scalar arguments."""

    read: Callable[[Read, Grid], Array]
    types: Types
    precise: bool

    def kind(self, v: Value, expected: Scalar) -> Scalar:
        """The type that `v` is computed in; literals and indices alone are of the `expected` one."""
        return value_type(v, self.types) or expected

    def value(self, v: Value, grid: Grid, expected: Scalar) -> Array:
        """The value of an expression at the points of the grid that execute (anything at the others): a number, or
        an array with one axis for each axis of the grid, of length 1 where nothing depends on it."""
        kind = self.kind(v, expected)
        match v:
            case Read():
                return self.read(v, grid)
            case Num(number):
                return np.asarray(number, compute_dtype(kind, self.precise))
            case FromIndex(index):
                return np.asarray(grid.index(index)).astype(compute_dtype(kind, self.precise))
            case Arith(op, left, right):
                return arithmetic(op, self.widened(left, grid, kind), self.widened(right, grid, kind))
            case Neg(arg):
                return -self.value(arg, grid, kind)
            case Cast(to, arg):
                return convert(self.value(arg, grid, Scalar.F64), to, self.precise)
            case Call(fn, args):
                return NUMPY[fn](*(self.widened(a, grid, kind) for a in args))
            case Select():
                return self._select(v, grid, kind)

    def widened(self, v: Value, grid: Grid, kind: Scalar) -> Array:
        """The value of an operand, converted to the type of the operation."""
        return self.value(v, grid, kind).astype(compute_dtype(kind, self.precise), copy=False)

    def _select(self, v: Select, grid: Grid, kind: Scalar) -> Array:
        truth = grid.cond(v.cond)
        yes, no = grid.where(truth), grid.where(negated(truth))
        if yes is None:
            return self.widened(v.orelse, grid, kind)
        if no is None:
            return self.widened(v.then, grid, kind)
        return np.where(truth, self.widened(v.then, yes, kind), self.widened(v.orelse, no, kind))


def arithmetic(op: ValueOp, a: Array, b: Array) -> Array:
    """An operation on operands of one type."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
        case "min":
            return smaller(a, b)
        case "max":
            return larger(a, b)
