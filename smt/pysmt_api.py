"""The typed face of pysmt: the only place that builds its terms (pysmt ships no types)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pysmt.environment import Environment
from pysmt.typing import BOOL, INT

Formula = Any
"""A pysmt node of integer or Boolean sort; pysmt is untyped, so mypy cannot tell them apart."""


class TermApi:
    """Term constructors of one fresh pysmt environment (pysmt's global one is shared between threads)."""

    def __init__(self) -> None:
        self.environment = Environment()
        self._manager = self.environment.formula_manager
        self.boolean = BOOL

    def symbol(self, name: str) -> Formula:
        """An integer symbol."""
        return self._manager.Symbol(name, INT)

    def flag(self, name: str) -> Formula:
        """A Boolean symbol."""
        return self._manager.Symbol(name, BOOL)

    def literal(self, value: bool) -> Formula:
        """True or false."""
        return self._manager.Bool(value)

    def linear(self, terms: tuple[tuple[int, Formula], ...], constant: int) -> Formula:
        """`sum(coefficient * term) + constant`."""
        m = self._manager
        parts = [t if c == 1 else m.Times(m.Int(c), t) for c, t in terms]
        if constant or not parts:
            parts.append(m.Int(constant))
        return parts[0] if len(parts) == 1 else m.Plus(parts)

    def ge0(self, term: Formula) -> Formula:
        """`term >= 0`."""
        return self._manager.GE(term, self._manager.Int(0))

    def eq0(self, term: Formula) -> Formula:
        """`term == 0`."""
        return self._manager.Equals(term, self._manager.Int(0))

    def conj(self, args: Iterable[Formula]) -> Formula:
        """Conjunction, folded."""
        kept = [a for a in args if not a.is_true()]
        if any(a.is_false() for a in kept):
            return self.literal(False)
        return self._manager.And(kept) if kept else self.literal(True)

    def disj(self, args: Iterable[Formula]) -> Formula:
        """Disjunction, folded."""
        kept = [a for a in args if not a.is_false()]
        if any(a.is_true() for a in kept):
            return self.literal(True)
        return self._manager.Or(kept) if kept else self.literal(False)

    def negate(self, arg: Formula) -> Formula:
        """Negation, folded."""
        if arg.is_true() or arg.is_false():
            return self.literal(arg.is_false())
        return self._manager.Not(arg)

    def implies(self, left: Formula, right: Formula) -> Formula:
        """Implication, folded."""
        return self.disj((self.negate(left), right))

    def is_true(self, arg: Formula) -> bool:
        """Folded to true."""
        return bool(arg.is_true())

    def is_false(self, arg: Formula) -> bool:
        """Folded to false."""
        return bool(arg.is_false())
