"""Query building: polynomials to linear integer arithmetic over pysmt.

Division, remainder, min, max and if-then-else become fresh symbols with defining constraints; a product of symbols
becomes one symbol with pairwise lemmas (equal, next, before), so every query stays in linear arithmetic. The lemmas
are consequences of multiplication, so an unsat answer is exact; a sat answer may need `exact_products`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

from exogpu.smt.poly import ZERO, Monomial, Poly, lift, symbol
from exogpu.smt.pysmt_api import Formula, TermApi


class Context:
    """Symbols, definitions and products of one family of queries."""

    def __init__(self) -> None:
        self.api = TermApi()
        self.definitions: list[Formula] = []
        self._defined: dict[tuple[object, ...], Poly] = {}
        self._products: dict[Monomial, Formula] = {}
        self._pinned: set[tuple[str, int]] = set()

    # -- symbols and definitions ---------------------------------------------------------------------------------

    def fresh(self, name: str, lo: Poly | int | None = None, hi: Poly | int | None = None) -> Poly:
        """A symbol `name` with `lo <= name` and `name < hi` where given."""
        out = symbol(name)
        if lo is not None:
            self.definitions.append(self.le(lo, out))
        if hi is not None:
            self.definitions.append(self.lt(out, hi))
        return out

    def _define(self, key: tuple[object, ...], constraint: Callable[[Poly], Formula]) -> Poly:
        if key not in self._defined:
            out = symbol(f"${len(self._defined)}.{key[0]}")
            self._defined[key] = out
            self.definitions.append(constraint(out))
        return self._defined[key]

    def floordiv(self, p: Poly, divisor: int) -> Poly:
        """Floor division by a positive constant."""
        if divisor <= 0:
            raise ValueError(f"divisor {divisor} is not positive")
        if divisor == 1:
            return p
        quotient = Poly.of({m: c // divisor for m, c in p.terms})
        rest = Poly.of({m: c % divisor for m, c in p.terms})
        if rest.constant is not None:
            return quotient + rest.constant // divisor
        q = self._define(
            ("div", rest, divisor),
            lambda q: self.api.conj((self.le(q * divisor, rest), self.lt(rest, q * divisor + divisor))),
        )
        return quotient + q

    def mod(self, p: Poly, divisor: int) -> Poly:
        """Remainder of floor division by a positive constant."""
        return p - self.floordiv(p, divisor) * divisor

    def max(self, p: Poly, q: Poly) -> Poly:
        """The larger of two."""
        difference = (p - q).constant
        if difference is not None:
            return p if difference >= 0 else q
        eq, ge = self.eq, self.ge
        return self._define(
            ("max", p, q),
            lambda m: self.api.conj((ge(m, p), ge(m, q), self.api.disj((eq(m, p), eq(m, q))))),
        )

    def min(self, p: Poly, q: Poly) -> Poly:
        """The smaller of two."""
        return -self.max(-p, -q)

    def ite(self, cond: Formula, p: Poly, q: Poly) -> Poly:
        """`p` where `cond` holds, else `q`."""
        if p == q or self.api.is_true(cond):
            return p
        if self.api.is_false(cond):
            return q
        return self._define(
            ("ite", cond, p, q),
            lambda m: self.api.conj((self.api.implies(cond, self.eq(m, p)), self.api.disj((cond, self.eq(m, q))))),
        )

    # -- formulas ------------------------------------------------------------------------------------------------

    def le(self, p: Poly | int, q: Poly | int) -> Formula:
        """`p <= q`."""
        difference = lift(q) - lift(p)
        value = difference.constant
        return self.api.literal(value >= 0) if value is not None else self.api.ge0(self.term(difference))

    def lt(self, p: Poly | int, q: Poly | int) -> Formula:
        """`p < q`."""
        return self.le(lift(p) + 1, q)

    def ge(self, p: Poly | int, q: Poly | int) -> Formula:
        """`p >= q`."""
        return self.le(q, p)

    def eq(self, p: Poly | int, q: Poly | int) -> Formula:
        """`p == q`."""
        difference = lift(p) - lift(q)
        value = difference.constant
        return self.api.literal(value == 0) if value is not None else self.api.eq0(self.term(difference))

    def between(self, lo: Poly | int, p: Poly | int, hi: Poly | int) -> Formula:
        """`lo <= p < hi`."""
        return self.api.conj((self.le(lo, p), self.lt(p, hi)))

    def term(self, p: Poly) -> Formula:
        """The polynomial as a linear term over symbols and product symbols."""
        return self.api.linear(tuple((c, self._monomial(m)) for m, c in p.terms if m), dict(p.terms).get((), 0))

    def _monomial(self, monomial: Monomial) -> Formula:
        if len(monomial) == 1:
            return self.api.symbol(monomial[0])
        if monomial not in self._products:
            self._products[monomial] = self.api.symbol("*".join(monomial))
            if len(monomial) > 2:
                self._monomial(monomial[1:])
        return self._products[monomial]

    # -- products ------------------------------------------------------------------------------------------------

    def product_lemmas(self) -> list[Formula]:
        """Facts about every product symbol used so far."""
        triples = [t for m in list(self._products) for t in self._factorings(m)]
        lemmas = [lemma for t in triples for lemma in self._unary(*t)]
        for (u, s, p), (v, r, q) in combinations(triples, 2):
            if s == r and u != v:
                lemmas += self._pairwise(u, v, s, p, q)
        for name, value in sorted(self._pinned):
            for u, s, p in triples:
                if s == symbol(name):
                    lemmas.append(self.api.implies(self.eq(s, value), self.eq(p, u * value)))
        return lemmas

    def _factorings(self, monomial: Monomial) -> list[tuple[Poly, Poly, Poly]]:
        """(u, s, u*s) for every split of a product into one symbol u and the rest s, and the reverse."""
        whole = Poly.of({monomial: 1})
        out: list[tuple[Poly, Poly, Poly]] = []
        for i in range(len(monomial)):
            one, rest = symbol(monomial[i]), Poly.of({monomial[:i] + monomial[i + 1 :]: 1})
            out.append((one, rest, whole))
            if len(monomial) > 2:
                out.append((rest, one, whole))
        return out

    def _unary(self, u: Poly, s: Poly, p: Poly) -> Iterable[Formula]:
        implies, conj = self.api.implies, self.api.conj
        yield implies(conj((self.ge(u, 0), self.ge(s, 0))), self.ge(p, 0))
        yield implies(self.eq(u, 0), self.eq(p, 0))
        yield implies(self.eq(u, 1), self.eq(p, s))
        yield implies(conj((self.ge(u, 1), self.ge(s, 0))), self.ge(p, s))

    def _pairwise(self, u: Poly, v: Poly, s: Poly, p: Poly, q: Poly) -> Iterable[Formula]:
        implies, conj = self.api.implies, self.api.conj
        nonneg = self.ge(s, 0)
        yield implies(self.eq(u, v), self.eq(p, q))
        yield implies(self.eq(u, v + 1), self.eq(p, q + s))
        yield implies(self.eq(v, u + 1), self.eq(q, p + s))
        yield implies(conj((nonneg, self.lt(u, v))), self.le(p + s, q))
        yield implies(conj((nonneg, self.lt(v, u))), self.le(q + s, p))

    def exact_products(self, env: dict[str, int]) -> bool:
        """Pins every factor to its value in `env` (adds `s = c -> u*s = c*u`); False if nothing was new."""
        before = len(self._pinned)
        for monomial in self._products:
            self._pinned |= {(name, env[name]) for name in monomial if name in env}
        return len(self._pinned) > before

    def trip(self, lo: Poly, hi: Poly) -> Poly:
        """The number of iterations of a loop over `lo <= v < hi`."""
        return self.max(hi - lo, ZERO)
