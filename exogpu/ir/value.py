"""Data expressions.

    value ::= buffer[index, ...] | number | value op value | -value | fn(value, ...) | cast(type, value)
            | select(cond, value, value) | index        (an index used as a number)

A `Read` with no indices reads a scalar argument. Control never depends on data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from exogpu.ir.index import Cond, Index
from exogpu.ir.types import Scalar
from exogpu.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Read:
    """An element of a buffer, or a scalar argument (no indices)."""

    buffer: str
    index: tuple[Index, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Num:
    """A numeric literal (`inf` included)."""

    value: float
    span: Span = field(default=NOWHERE, compare=False)


ValueOp = Literal["+", "-", "*", "/", "min", "max"]


@dataclass(frozen=True, slots=True)
class Arith:
    """Arithmetic in the wider of the two operand types."""

    op: ValueOp
    left: Value
    right: Value
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Neg:
    """Negation."""

    arg: Value
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function of `exogpu.ir.functions`."""

    fn: str
    args: tuple[Value, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion to a scalar type, rounding to nearest even."""

    to: Scalar
    arg: Value
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """`then` where the condition holds, else `orelse`; the branch not taken is not evaluated, so its reads
    need be in bounds only under the condition."""

    cond: Cond
    then: Value
    orelse: Value
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FromIndex:
    """An index expression used as a number."""

    index: Index
    span: Span = field(default=NOWHERE, compare=False)


Value = Read | Num | Arith | Neg | Call | Cast | Select | FromIndex


@dataclass(frozen=True, slots=True)
class ScalarFn:
    """A per-element function `params -> body`; the body reads each parameter as a scalar `Read`."""

    name: str
    params: tuple[str, ...]
    body: Value
