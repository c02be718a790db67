"""Linear normal form of index expressions: what simplifies to a literal, and what is a multiple of a number."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, Index, IndexOp, Int, Var


def fold(op: IndexOp, left: int, right: int) -> int:
    """The value of an index operation on literals; the divisor of `//`, `%` and `ceildiv` is not zero."""
    return evaluate(Bin(op, Int(left), Int(right)), {})


@dataclass(frozen=True, slots=True)
class Linear:
    """`const + sum(coefficient * atom)`; an atom is a variable or an operation that is not linear."""

    terms: dict[Index, int]
    const: int

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """`self + factor * other`."""
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * coefficient
        return Linear({a: c for a, c in terms.items() if c}, self.const + factor * other.const)

    def divided(self, n: int) -> tuple[Linear, Linear]:
        """It as n times the first part plus the second, which keeps what n does not divide."""
        whole = {atom: c // n for atom, c in self.terms.items() if c % n == 0}
        rest = {atom: c for atom, c in self.terms.items() if c % n}
        return Linear(whole, self.const // n), Linear(rest, self.const % n)

    def multiple_of(self, n: int) -> bool:
        """Whether the constant and every coefficient are multiples of n."""
        return self.const % n == 0 and all(c % n == 0 for c in self.terms.values())

    @property
    def index(self) -> Index:
        """It as an expression."""
        out: Index | None = Int(self.const) if self.const or not self.terms else None
        for atom, coefficient in reversed(self.terms.items()):
            term = atom if coefficient == 1 else Bin("*", Int(coefficient), atom)
            out = term if out is None else Bin("+", term, out)
        assert out is not None
        return out


def reduced(e: Index) -> Index:
    """The same with nothing under a `% m` that m divides."""
    match e:
        case Bin("%", inner, Int(m) as modulus):
            return Bin("%", linear(inner).divided(m)[1].index, modulus)
        case Bin(op, left, right):
            return Bin(op, reduced(left), reduced(right))
        case _:
            return e


def linear(e: Index) -> Linear:
    """The linear normal form of an index expression."""
    match e:
        case Int(value):
            return Linear({}, value)
        case Var():
            return Linear({e: 1}, 0)
        case Bin("+", left, right):
            return linear(left).plus(linear(right))
        case Bin("-", left, right):
            return linear(left).plus(linear(right), -1)
        case Bin(op, left, right):
            return _product_or_atom(e, op, linear(left), linear(right))


def _product_or_atom(e: Bin, op: IndexOp, left: Linear, right: Linear) -> Linear:
    zero = Linear({}, 0)
    if op == "*" and not left.terms:
        return zero.plus(right, left.const)
    if op == "*" and not right.terms:
        return zero.plus(left, right.const)
    divides = op in ("//", "%", "ceildiv")
    if not left.terms and not right.terms and not (divides and right.const == 0):
        return Linear({}, fold(op, left.const, right.const))
    return Linear({e: 1}, 0)


def literal(e: Index) -> int | None:
    """The value of an expression that simplifies to a number, else None."""
    form = linear(e)
    return None if form.terms else form.const
