"""Data expressions as C++ expressions computed in double, float or int."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from exogpu.codegen.cuda.tree import Apply, Binary, Convert, Expr, FloatLit, IntLit, Name, Spelled, Ternary, Unary
from exogpu.codegen.lower.place import place
from exogpu.codegen.lower.state import C_TYPES, State
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.functions import FUNCTIONS
from exogpu.ir.proc import ScalarArg
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.source import Span


class Kind(enum.IntEnum):
    """The type that a value is computed in; the wider of two is the larger. A literal takes the other's."""

    LITERAL = 0
    INT = 1
    FLOAT = 2
    DOUBLE = 3


_C_KINDS = {Kind.INT: "int", Kind.FLOAT: "float", Kind.DOUBLE: "double"}

_MIN_MAX = {Kind.INT: ("min", "max"), Kind.FLOAT: ("fminf", "fmaxf"), Kind.DOUBLE: ("fmin", "fmax")}


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression and the type it is computed in; `number` is the value of a literal."""

    expr: Expr
    kind: Kind
    number: float = 0.0


def kind_of(dtype: Scalar) -> Kind:
    """The type that elements of `dtype` are computed in."""
    if dtype is Scalar.F64:
        return Kind.DOUBLE
    return Kind.FLOAT if dtype.is_float else Kind.INT


def widened(expr: Expr, dtype: Scalar) -> Typed:
    """A stored element as a value."""
    if dtype in (Scalar.F64, Scalar.F32, Scalar.I32):
        return Typed(expr, kind_of(dtype))
    return Typed(Apply("widen", (expr,)), kind_of(dtype))


def as_kind(value: Typed, kind: Kind) -> Expr:
    """The value converted to a type at least as wide."""
    if value.kind is Kind.LITERAL:
        if kind is Kind.INT:
            return IntLit(int(value.number))
        return FloatLit(value.number, double=kind is Kind.DOUBLE)
    return value.expr if value.kind is kind else Convert(_C_KINDS[kind], value.expr)


def common_kind(a: Typed, b: Typed) -> Kind:
    """The type in which two values meet."""
    if a.kind is Kind.LITERAL and b.kind is Kind.LITERAL:
        return Kind.FLOAT
    literals = [v for v in (a, b) if v.kind is Kind.LITERAL]
    kind = max(a.kind, b.kind)
    fits = all(v.number.is_integer() for v in literals)
    return Kind.FLOAT if kind is Kind.INT and not fits else kind


def narrowed(value: Typed, dtype: Scalar) -> Expr:
    """The value rounded to a storage type."""
    if value.kind is Kind.LITERAL:
        value = Typed(as_kind(value, kind := kind_of(dtype)), kind)
    if value.kind is kind_of(dtype) and dtype in (Scalar.F64, Scalar.F32, Scalar.I32):
        return value.expr
    return Apply("narrow", (value.expr,), (C_TYPES[dtype],))


@dataclass(frozen=True, slots=True)
class Values:
    """Translates data expressions at one place; `scalars` gives values for reads without indices."""

    state: State
    scalars: Mapping[str, Typed] = field(default_factory=dict)

    def value(self, v: Value) -> Typed:
        """The expression and the type it is computed in."""
        match v:
            case Read():
                return self._read(v)
            case Num(number):
                return Typed(FloatLit(number), Kind.LITERAL, number)
            case Neg(arg):
                inner = self.value(arg)
                if inner.kind is Kind.LITERAL:
                    return Typed(FloatLit(-inner.number), Kind.LITERAL, -inner.number)
                return Typed(Unary("-", inner.expr), inner.kind)
            case FromIndex(index):
                return Typed(self.state.indices.expr(index), Kind.INT)
            case Arith(op, left, right):
                return self._arith(op, self.value(left), self.value(right))
            case Cast(to, arg):
                inner = self.value(arg)
                if kind_of(to) is inner.kind and to in (Scalar.F64, Scalar.F32, Scalar.I32):
                    return inner
                return widened(narrowed(self._typed(inner), to), to)
            case Select(cond, then, orelse):
                yes, no = self.value(then), self.value(orelse)
                kind = common_kind(yes, no)
                return Typed(Ternary(self.state.indices.cond(cond), as_kind(yes, kind), as_kind(no, kind)), kind)
            case Call(fn, args):
                return self._call(fn, [self._typed(self.value(a)) for a in args], v.span)

    def _typed(self, value: Typed) -> Typed:
        """A literal without a neighbour is a float."""
        return Typed(as_kind(value, Kind.FLOAT), Kind.FLOAT) if value.kind is Kind.LITERAL else value

    def _read(self, read: Read) -> Typed:
        if not read.index and read.buffer in self.scalars:
            return self.scalars[read.buffer]
        scalar = next((a for a in self.state.proc.args if isinstance(a, ScalarArg) and a.name == read.buffer), None)
        if scalar is not None:
            return widened(Name(scalar.name, user=True), scalar.dtype)
        element = place(self.state, read.buffer, read.index, read.span)
        return widened(element, self.state.buffers[read.buffer].dtype)

    def _arith(self, op: str, left: Typed, right: Typed) -> Typed:
        kind = common_kind(left, right)
        a, b = as_kind(left, kind), as_kind(right, kind)
        if op in ("min", "max"):
            return Typed(Apply(_MIN_MAX[kind][op == "max"], (a, b)), kind)
        return Typed(Binary(op, a, b), kind)

    def _call(self, fn: str, args: list[Typed], span: Span) -> Typed:
        function = FUNCTIONS[fn]
        kind = max((a.kind for a in args), default=Kind.FLOAT)
        if kind is Kind.INT and function.integers:
            pattern = _INTEGER_SPELLING.get(fn)
        elif kind is Kind.DOUBLE:
            pattern = _DOUBLE_SPELLING.get(fn)
        else:
            kind, pattern = Kind.FLOAT, function.cuda
        if pattern is None:
            message = f"`{fn}` is not available for {_C_KINDS[kind]} values"
            raise BadInput((Diagnostic("unsupported", message, span, help="convert the argument to f32"),))
        return Typed(Spelled(pattern, tuple(as_kind(a, kind) for a in args)), kind)


_INTEGER_SPELLING = {"abs": "abs({0})", "relu": "max({0}, 0)"}
_DOUBLE_SPELLING = {
    "abs": "fabs({0})",
    "relu": "fmax({0}, 0.0)",
    "sigmoid": "(1.0 / (1.0 + exp(-({0}))))",
    **{name: f"{name}({{0}})" for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "sin", "cos")},
}
