"""Index and condition expressions: quasi-affine over sizes and loop variables.

    index ::= name | int | index op index          op: + - * // % ceildiv min max
    cond  ::= index cmp index | cond and/or cond | not cond | true/false

`//`, `%` and `ceildiv` take a positive literal divisor; `*` has a literal factor (both checked by the front
end). Division and remainder are floor division and its remainder, as in Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from exogpu.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Var:
    """A size argument or a loop variable."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Int:
    """An integer literal."""

    value: int
    span: Span = field(default=NOWHERE, compare=False)


IndexOp = Literal["+", "-", "*", "//", "%", "ceildiv", "min", "max"]


@dataclass(frozen=True, slots=True)
class Bin:
    """A binary index operation."""

    op: IndexOp
    left: Index
    right: Index
    span: Span = field(default=NOWHERE, compare=False)


Index = Var | Int | Bin

ORDINAL = "ordinal"
"""The variable that says the how-manieth task of its CTA a task is, from 0; only the index of a role may use it."""

CmpOp = Literal["<", "<=", ">", ">=", "==", "!="]

OPPOSITE: Mapping[CmpOp, CmpOp] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""The comparison that holds where another one does not."""


@dataclass(frozen=True, slots=True)
class Cmp:
    """A comparison of two index expressions."""

    op: CmpOp
    left: Index
    right: Index
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BoolOp:
    """A conjunction or disjunction of two or more conditions."""

    op: Literal["and", "or"]
    args: tuple[Cond, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """A negated condition."""

    arg: Cond
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Bool:
    """A literal condition."""

    value: bool
    span: Span = field(default=NOWHERE, compare=False)


Cond = Cmp | BoolOp | Not | Bool
