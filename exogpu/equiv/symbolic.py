"""Symbolic values of elements: what a procedure leaves in a cell, as an expression over what its arguments held.

Index expressions and conditions in them are over sizes, the coordinates of the cell, and the variables of sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from exogpu.ir.formats import contains
from exogpu.ir.index import Cond, Index
from exogpu.ir.numeric import compute_dtype, convert
from exogpu.ir.types import Scalar
from exogpu.ir.value_type import computed
from exogpu.ir.walk import substitute_cond, substitute_index


@dataclass(frozen=True, slots=True)
class Held:
    """What an argument holds at the start: a tensor's element, or a scalar (no indices)."""

    name: str
    index: tuple[Index, ...]
    dtype: Scalar


@dataclass(frozen=True, slots=True)
class Const:
    """A number, in the type that it is computed in."""

    value: float
    dtype: Scalar

    @property
    def is_zero(self) -> bool:
        """Zero of either sign."""
        return self.value == 0.0


@dataclass(frozen=True, slots=True)
class Number:
    """An index expression used as a number."""

    index: Index


@dataclass(frozen=True, slots=True)
class Op:
    """An operation or function, computed in a type: I32, F32 or F64; its operands are of this type."""

    op: str
    dtype: Scalar
    args: tuple[Sym, ...]


@dataclass(frozen=True, slots=True)
class Rounded:
    """A value converted to a storage type."""

    to: Scalar
    arg: Sym


@dataclass(frozen=True, slots=True)
class Choice:
    """One value where a condition holds, another where it does not."""

    cond: Cond
    then: Sym
    orelse: Sym


@dataclass(frozen=True, slots=True)
class Term:
    """`value` for each choice of the variables in their ranges at which the guards hold."""

    vars: tuple[tuple[str, Index, Index], ...]
    guards: tuple[Cond, ...]
    value: Sym

    @property
    def names(self) -> tuple[str, ...]:
        """Its variables."""
        return tuple(name for name, _, _ in self.vars)


@dataclass(frozen=True, slots=True)
class Sum:
    """`start` and all terms, added in a type in which sums may be reordered; in which order is left open. In a type
    that rounds every partial sum there is one term, and the order is that of its variables, the first one slowest.
    Or not added, but the largest or smallest of them."""

    dtype: Scalar
    start: Sym
    terms: tuple[Term, ...]
    op: Fold = "+"


Fold = Literal["+", "max", "min"]
"""Operations that values are combined with in any order."""
FOLDS: tuple[Fold, ...] = ("+", "max", "min")
COMMUTES = ("+", "*", "min", "max")
"""Operations whose operands may change places."""

Sym = Held | Const | Number | Op | Rounded | Choice | Sum


def stored(to: Scalar, value: Sym) -> Sym:
    """A value converted to a storage type, or to a type that values are computed in."""
    match value:
        case Const(number, dtype):
            with np.errstate(all="ignore"):
                rounded = convert(np.asarray(number, compute_dtype(dtype)), to)
            return Const(float(rounded), computed(to))
        case Choice(cond, then, orelse):
            return Choice(cond, stored(to, then), stored(to, orelse))
        case Held(dtype=dtype) | Op(dtype=dtype) | Sum(dtype=dtype) | Rounded(to=dtype):
            return value if contains(to, dtype) else Rounded(to, value)
        case Number():
            return Rounded(to, value)


def substitute(value: Sym, env: Mapping[str, Index]) -> Sym:
    """A value with variables of its index expressions replaced; none of its sums has a variable of these names."""
    match value:
        case Held(index=index):
            return replace(value, index=tuple(substitute_index(i, env) for i in index))
        case Const():
            return value
        case Number(index):
            return Number(substitute_index(index, env))
        case Op(args=args):
            return replace(value, args=tuple(substitute(a, env) for a in args))
        case Rounded(to, arg):
            return Rounded(to, substitute(arg, env))
        case Choice(cond, then, orelse):
            return Choice(substitute_cond(cond, env), substitute(then, env), substitute(orelse, env))
        case Sum(start=start, terms=terms):
            return replace(value, start=substitute(start, env), terms=tuple(_in_term(t, env) for t in terms))


def _in_term(term: Term, env: Mapping[str, Index]) -> Term:
    return Term(
        tuple((n, substitute_index(lo, env), substitute_index(hi, env)) for n, lo, hi in term.vars),
        tuple(substitute_cond(g, env) for g in term.guards),
        substitute(term.value, env),
    )
