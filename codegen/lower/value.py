"""Data expressions as C++ expressions computed in double, float or int (`exogpu.ir.value_type` has the types)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exogpu.codegen.cuda.tree import Apply, Binary, Convert, Expr, FloatLit, IntLit, Name, Spelled, Ternary, Unary
from exogpu.codegen.lower.place import place
from exogpu.codegen.lower.state import C_TYPES, State
from exogpu.ir.functions import FUNCTIONS
from exogpu.ir.proc import ScalarArg
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value, ValueOp
from exogpu.ir.value_type import Types, computed, value_type

_MIN_MAX = {Scalar.I32: ("min", "max"), Scalar.F32: ("fminf", "fmaxf"), Scalar.F64: ("fmin", "fmax")}


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression and the type it is computed in: I32, F32 or F64."""

    expr: Expr
    type: Scalar


def widened(expr: Expr, dtype: Scalar) -> Typed:
    """A stored element as a value."""
    return Typed(expr if dtype is computed(dtype) else Apply("widen", (expr,)), computed(dtype))


def converted(value: Typed, to: Scalar) -> Expr:
    """The value in a type that values are computed in."""
    return value.expr if value.type is to else Convert(C_TYPES[to], value.expr)


def narrowed(value: Typed, dtype: Scalar) -> Expr:
    """The value rounded to a storage type."""
    return value.expr if value.type is dtype else Apply("narrow", (value.expr,), (C_TYPES[dtype],))


def values_at(state: State, scalars: Mapping[str, Typed] | None = None) -> Values:
    """The translator at a place; `scalars` gives values for reads without indices."""
    known = scalars or {}
    types = {name: info.dtype for name, info in state.buffers.items()}
    types |= {a.name: a.dtype for a in state.proc.args if isinstance(a, ScalarArg)}
    return Values(state, types | {name: value.type for name, value in known.items()}, known)


@dataclass(frozen=True, slots=True)
class Values:
    """Translates data expressions at one place; `types` are those of everything that they can read."""

    state: State
    types: Types
    scalars: Mapping[str, Typed]

    def kind(self, v: Value, expected: Scalar) -> Scalar:
        """The type that `v` is computed in; literals and indices alone are of the `expected` one."""
        return value_type(v, self.types) or expected

    def value(self, v: Value, expected: Scalar) -> Typed:
        """The expression and the type it is computed in."""
        kind = self.kind(v, expected)
        match v:
            case Read():
                return self._read(v)
            case Num(number):
                return Typed(_literal(number, kind), kind)
            case FromIndex(index):
                return Typed(converted(Typed(self.state.indices.expr(index), Scalar.I32), kind), kind)
            case Arith(op, left, right):
                return Typed(_arithmetic(op, kind, self.operand(left, kind), self.operand(right, kind)), kind)
            case Neg(arg):
                return Typed(Unary("-", self.operand(arg, kind)), kind)
            case Cast(to, arg):
                return widened(narrowed(self.value(arg, Scalar.F64), to), to)
            case Select(cond, then, orelse):
                test = self.state.indices.cond(cond)
                return Typed(Ternary(test, self.operand(then, kind), self.operand(orelse, kind)), kind)
            case Call(fn, args):
                return Typed(Spelled(FUNCTIONS[fn].cuda[kind], tuple(self.operand(a, kind) for a in args)), kind)

    def operand(self, v: Value, kind: Scalar) -> Expr:
        """The value of an operand, converted to the type of the operation."""
        return converted(self.value(v, kind), kind)

    def _read(self, read: Read) -> Typed:
        if not read.index and read.buffer in self.scalars:
            return self.scalars[read.buffer]
        dtype = self.types[read.buffer]
        if read.buffer not in self.state.buffers:
            return widened(Name(read.buffer, user=True), dtype)
        return widened(place(self.state, read.buffer, read.index, read.span), dtype)


def _literal(number: float, kind: Scalar) -> Expr:
    """A literal; one of an integer type is whole, as `exogpu.ir.value_type` checks."""
    return IntLit(int(number)) if kind is Scalar.I32 else FloatLit(number, double=kind is Scalar.F64)


def _arithmetic(op: ValueOp, kind: Scalar, a: Expr, b: Expr) -> Expr:
    if op in ("min", "max"):
        return Apply(_MIN_MAX[kind][op == "max"], (a, b))
    return Binary(op, a, b)
