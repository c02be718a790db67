"""The type that a data expression is computed in: i32 < f32 < f64; narrower types are widened first.

A binary operation takes the wider of its operands' types; a literal or an index adapts to the other operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exogpu.diagnostics import Diagnostic
from exogpu.ir.functions import FUNCTIONS
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value

Types = Mapping[str, Scalar]
_ORDER = (Scalar.I32, Scalar.F32, Scalar.F64)


def computed(scalar: Scalar) -> Scalar:
    """The type that values of a storage type are computed in."""
    if not scalar.is_float:
        return Scalar.I32
    return Scalar.F64 if scalar is Scalar.F64 else Scalar.F32


def value_type(value: Value, types: Types) -> Scalar | None:
    """I32, F32 or F64, or None for literals and indices, which adapt; `types` are those of buffers and scalars."""
    match value:
        case Read(buffer):
            return computed(types[buffer]) if buffer in types else None
        case Cast(to):
            return computed(to)
        case Num() | FromIndex():
            return None
        case Neg(arg):
            return value_type(arg, types)
        case Arith(_, left, right) | Select(_, left, right):
            return _wider((value_type(left, types), value_type(right, types)))
        case Call(_, args):
            return _wider(tuple(value_type(a, types) for a in args))


def _wider(found: tuple[Scalar | None, ...]) -> Scalar | None:
    return max((s for s in found if s is not None), key=_ORDER.index, default=None)


def type_problems(value: Value, target: Scalar, types: Types) -> Iterator[Diagnostic]:
    """Operations of an expression stored to `target` that its types do not have."""
    yield from _problems(value, computed(target), types)


def _problems(value: Value, expected: Scalar, types: Types) -> Iterator[Diagnostic]:
    """The same for an expression that is of the `expected` type if it consists of literals and indices alone."""
    kind = value_type(value, types) or expected
    if not kind.is_float:
        yield from _integer_problems(value)
    match value:
        case Arith(_, left, right) | Select(_, left, right):
            parts: tuple[Value, ...] = (left, right)
        case Call(_, args):
            parts = args
        case Neg(arg):
            parts = (arg,)
        case Cast(_, arg):
            parts, kind = (arg,), Scalar.F64
        case Read() | Num() | FromIndex():
            parts = ()
    for part in parts:
        yield from _problems(part, kind, types)


def _integer_problems(value: Value) -> Iterator[Diagnostic]:
    """What is wrong with an operation or literal that is computed in integers."""
    code, fix = "lang.type_mismatch", "convert with `cast(f32, ...)` first"
    match value:
        case Arith("/"):
            yield Diagnostic(code, "integers have no `/`", value.span, "integer division", help=fix)
        case Call(fn) if not FUNCTIONS[fn].integers:
            yield Diagnostic(code, f"`{fn}` takes a floating-point value", value.span, "an integer", help=fix)
        case Num(number) if not number.is_integer():
            text = f"the literal {number} is not an integer, and an integer is needed here"
            yield Diagnostic(code, text, value.span, help=fix)
        case _:
            return
