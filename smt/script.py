"""Queries as SMT-LIB 2 text, the same bytes in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from exogpu.smt.poly import Monomial, Poly
from exogpu.smt.terms import Formula


@dataclass(frozen=True)
class Script:
    """The conjunction of `formulas`, to be decided. Printed only when somebody asks: most queries are never read."""

    formulas: tuple[Formula, ...]

    @cached_property
    def text(self) -> str:
        """Declarations, one assertion per formula, and `(check-sat)`."""
        kept = [f for f in self.formulas if f.op != "true"]
        sorts = dict(s for f in kept for s in _symbols(f))
        lines = ["(set-logic QF_LIA)"]
        lines += [f"(declare-fun |{name}| () {sort})" for name, sort in sorted(sorts.items())]
        lines += [f"(assert {_text(f)})" for f in kept]
        return "\n".join((*lines, "(check-sat)", ""))

    def __reduce__(self) -> tuple[type[Written], tuple[str]]:
        """A pickled script is its text."""
        return Written, (self.text,)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Written:
    """A query that was read back: only its text is known."""

    text: str

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def product(monomial: Monomial) -> str:
    """The name of the symbol that stands for a product of symbols."""
    return "*".join(monomial)


def _symbols(f: Formula) -> Iterator[tuple[str, str]]:
    if f.left is not None:
        yield from ((product(m), "Int") for m, _ in f.left.terms if m)
    if f.op == "flag":
        yield f.name, "Bool"
    for part in f.parts:
        yield from _symbols(part)


def _text(f: Formula) -> str:
    match f.op:
        case "true" | "false":
            return f.op
        case "flag":
            return f"|{f.name}|"
        case "ge" | "eq":
            assert f.left is not None
            return f"({'>=' if f.op == 'ge' else '='} {_sum(f.left)} 0)"
        case _:
            return _apply(f.op, map(_text, f.parts))


def _sum(p: Poly) -> str:
    parts = [_product(m, c) for m, c in p.terms]
    return parts[0] if len(parts) == 1 else _apply("+", parts)


def _product(monomial: Monomial, coefficient: int) -> str:
    number = str(coefficient) if coefficient >= 0 else f"(- {-coefficient})"
    if not monomial:
        return number
    name = f"|{product(monomial)}|"
    return name if coefficient == 1 else f"(* {number} {name})"


def _apply(operator: str, parts: Iterable[str]) -> str:
    return f"({operator} {' '.join(parts)})"
