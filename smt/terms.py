"""Formulas of linear integer arithmetic: nodes that are folded and interned as they are built."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Literal

from exogpu.smt.poly import Poly, symbol

Op = Literal["true", "false", "flag", "ge", "eq", "not", "and", "or"]


class Formula:
    """A node of one `TermApi`, which makes it; equal formulas are one object.

    `ge` and `eq` compare the polynomial `left` with 0, a product of symbols being one symbol of its own; `flag` is the
    Boolean symbol `name`; the others have `parts`.
    """

    __slots__ = ("left", "name", "op", "parts")

    def __init__(self, op: Op, parts: tuple[Formula, ...], left: Poly | None, name: str) -> None:
        self.op: Op = op
        self.parts = parts
        self.left = left
        self.name = name


class TermApi:
    """Constructors of formulas; each returns the one node that stands for its meaning."""

    def __init__(self) -> None:
        self._nodes: dict[Hashable, Formula] = {}
        self._true = Formula("true", (), None, "")
        self._false = Formula("false", (), None, "")

    def symbol(self, name: str) -> Poly:
        """An integer symbol."""
        return symbol(name)

    def flag(self, name: str) -> Formula:
        """A Boolean symbol."""
        return self._nodes.get(name) or self._nodes.setdefault(name, Formula("flag", (), None, name))

    def literal(self, value: bool) -> Formula:
        """True or false."""
        return self._true if value else self._false

    def ge0(self, p: Poly) -> Formula:
        """`p >= 0`."""
        value = p.constant
        return self._atom("ge", p) if value is None else self.literal(value >= 0)

    def eq0(self, p: Poly) -> Formula:
        """`p == 0`."""
        value = p.constant
        return self._atom("eq", p) if value is None else self.literal(value == 0)

    def _atom(self, op: Op, p: Poly) -> Formula:
        key = (op, p.terms)
        return self._nodes.get(key) or self._nodes.setdefault(key, Formula(op, (), p, ""))

    def _node(self, op: Op, parts: tuple[Formula, ...]) -> Formula:
        key = (op, parts)
        return self._nodes.get(key) or self._nodes.setdefault(key, Formula(op, parts, None, ""))

    def conj(self, args: Iterable[Formula]) -> Formula:
        """Conjunction, folded."""
        return self._join("and", args, self._true, self._false)

    def disj(self, args: Iterable[Formula]) -> Formula:
        """Disjunction, folded."""
        return self._join("or", args, self._false, self._true)

    def _join(self, op: Op, args: Iterable[Formula], neutral: Formula, absorbing: Formula) -> Formula:
        kept: dict[Formula, None] = {}
        for arg in args:
            if arg is absorbing:
                return absorbing
            if arg.op == op:
                kept.update(dict.fromkeys(arg.parts))
            elif arg is not neutral:
                kept[arg] = None
        if len(kept) <= 1:
            return next(iter(kept), neutral)
        return self._node(op, tuple(kept))

    def negate(self, arg: Formula) -> Formula:
        """Negation, folded."""
        match arg.op:
            case "true" | "false":
                return self.literal(arg is self._false)
            case "not":
                return arg.parts[0]
            case "ge" if arg.left is not None:
                return self._atom("ge", -arg.left - 1)
            case _:
                return self._node("not", (arg,))

    def implies(self, left: Formula, right: Formula) -> Formula:
        """Implication, folded."""
        return self.disj((self.negate(left), right))

    def is_true(self, arg: Formula) -> bool:
        """Folded to true."""
        return arg is self._true

    def is_false(self, arg: Formula) -> bool:
        """Folded to false."""
        return arg is self._false
