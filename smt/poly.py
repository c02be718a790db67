"""Integer polynomials over named symbols: the index terms that `verify` computes with.

Kept in canonical form, so equal polynomials are equal values and constant differences are seen without a solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Monomial = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """A sum of `coefficient * product of symbols`; `terms` is sorted and has no zero coefficient."""

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(terms: Mapping[Monomial, int]) -> Poly:
        """The polynomial with these coefficients."""
        return Poly(tuple(sorted([t for t in terms.items() if t[1]])))

    @property
    def constant(self) -> int | None:
        """The value, if it does not depend on any symbol."""
        match self.terms:
            case ():
                return 0
            case (((), c),):
                return c
            case _:
                return None

    def __add__(self, other: Poly | int) -> Poly:
        added = lift(other).terms
        if not added:
            return self
        terms = dict(self.terms)
        for m, c in added:
            terms[m] = terms.get(m, 0) + c
        return Poly.of(terms)

    def __neg__(self) -> Poly:
        return Poly(tuple([(m, -c) for m, c in self.terms]))

    def __sub__(self, other: Poly | int) -> Poly:
        taken = lift(other).terms
        if not taken:
            return self
        terms = dict(self.terms)
        for m, c in taken:
            terms[m] = terms.get(m, 0) - c
        return Poly.of(terms)

    def __mul__(self, other: Poly | int) -> Poly:
        terms: dict[Monomial, int] = {}
        for m, c in self.terms:
            for n, d in lift(other).terms:
                key = tuple(sorted(m + n))
                terms[key] = terms.get(key, 0) + c * d
        return Poly.of(terms)

    def symbols(self) -> Iterator[str]:
        """Every symbol, with repetition."""
        for monomial, _ in self.terms:
            yield from monomial

    def value(self, env: Mapping[str, int]) -> int:
        """The integer value under an assignment of all symbols."""
        total = 0
        for monomial, coefficient in self.terms:
            for name in monomial:
                coefficient *= env[name]
            total += coefficient
        return total


def lift(value: Poly | int) -> Poly:
    """An integer as a polynomial."""
    if isinstance(value, Poly):
        return value
    return Poly((((), value),) if value else ())


def symbol(name: str) -> Poly:
    """The polynomial of one symbol."""
    return Poly((((name,), 1),))


ZERO = lift(0)
ONE = lift(1)
