"""Query building: polynomials to linear integer arithmetic.

Division, remainder, min, max and if-then-else become fresh symbols with defining constraints; a product of symbols
becomes one symbol with pairwise lemmas (equal, next, before), so every query stays in linear arithmetic. The lemmas
are consequences of multiplication, so an unsat answer is exact; a sat answer may need `exact_products`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from math import gcd

from exogpu.smt.functions import Functions
from exogpu.smt.poly import ZERO, Monomial, Poly, lift, symbol
from exogpu.smt.script import product
from exogpu.smt.terms import Formula, TermApi

Triple = tuple[Poly, Poly, Poly]
"""A factor, the other factor, and their product."""


class Context:
    """Symbols, definitions and products of one family of queries."""

    def __init__(self, api: TermApi | None = None, *, sums: bool = False) -> None:
        """`sums`: give lemmas on what compared sums of more than two symbols are times a factor; loops that are counted
        as one need them, and elsewhere they cost more than they help."""
        self.api = TermApi() if api is None else api
        self._with_sums = sums
        self.definitions: list[Formula] = []
        self.functions = Functions()
        self._defined: dict[tuple[object, ...], Poly] = {}
        self._names: set[str] = set()
        self._natural: set[str] = set()
        self._products: dict[Monomial, None] = {}
        self._pinned: list[tuple[str, int]] = []
        self._triples: list[Triple] = []
        self._distances: set[tuple[Poly, Poly, int]] = set()
        self._sums: dict[Poly, None] = {}
        self._multiplied: set[tuple[Poly, Poly]] = set()
        self._spelled: set[tuple[Poly, Poly, range]] = set()
        self._seen = 0
        self._taken = 0

    def copy(self) -> Context:
        """A context that starts where this one is; its `new_facts` leaves out what this one has returned."""
        out = Context(self.api, sums=self._with_sums)
        out.definitions = self.definitions.copy()
        out.functions = self.functions.copy()
        out._defined = self._defined.copy()
        out._names = self._names.copy()
        out._natural = self._natural.copy()
        out._products = self._products.copy()
        out._pinned = self._pinned.copy()
        out._triples = self._triples.copy()
        out._distances = self._distances.copy()
        out._sums = self._sums.copy()
        out._multiplied = self._multiplied.copy()
        out._spelled = self._spelled.copy()
        out._seen, out._taken = self._seen, self._taken
        return out

    # -- symbols and definitions ---------------------------------------------------------------------------------

    def fresh(self, name: str, lo: Poly | int | None = None, hi: Poly | int | None = None) -> Poly:
        """A symbol, called `name` if nothing is yet, which is at least `lo` and below `hi` where given."""
        while name in self._names:
            name += "'"
        self._names.add(name)
        out = symbol(name)
        if isinstance(lo, int) and lo >= 0:
            self._natural.add(name)
        if lo is not None:
            self.definitions.append(self.le(lo, out))
        if hi is not None:
            self.definitions.append(self.lt(out, hi))
        return out

    def never_negative(self, p: Poly) -> bool:
        """Plainly so: a sum of products of symbols that are not negative."""
        return all(c >= 0 and self._natural.issuperset(m) for m, c in p.terms)

    def natural(self, p: Poly) -> Poly:
        """`p`, which is never negative, as a sum of terms of which none is."""
        if self.never_negative(p):
            return p
        out = self._define(("natural", p), lambda n: self.api.conj((self.eq(n, p), self.ge(n, 0))))
        self._natural.update(out.symbols())
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
        self.compared(rest - q * divisor)
        self.compared(q * divisor + (divisor - 1) - rest)
        if self.never_negative(rest):
            self._natural.update(q.symbols())
        return quotient + q

    def quotient(self, p: Poly, divisor: Poly) -> Poly:
        """Floor division of `p >= 0` by `divisor >= 1`; anything else has any quotient."""
        if divisor.constant is not None and divisor.constant > 0:
            return self.floordiv(p, divisor.constant)
        defined = self.api.conj((self.ge(p, 0), self.ge(divisor, 1)))

        def constraint(q: Poly) -> Formula:
            inside = self.between(q * divisor, p, q * divisor + divisor)
            return self.api.implies(defined, self.api.conj((self.ge(q, 0), inside)))

        q = self._define(("quotient", p, divisor), constraint)
        whole, times = _factor(p, divisor)
        self.compared(q * times - whole)
        self.compared(whole - q * times)
        return q

    def quotient_among(self, p: Poly, divisor: Poly, values: range) -> Poly:
        """Floor division by `divisor >= 1` with one of a few results; where it has another, any."""
        if len(values) == 1:
            return lift(values.start)
        defined = self.api.conj((self.ge(divisor, 1), self.between(divisor * values.start, p, divisor * values.stop)))

        def constraint(q: Poly) -> Formula:
            cases = (self.api.conj((self.eq(q, c), self.between(divisor * c, p, divisor * (c + 1)))) for c in values)
            return self.api.implies(defined, self.api.disj(cases))

        q = self._define(("among", p, divisor, values), constraint)
        self.spell_out(q, divisor, values)
        return q

    def spell_out(self, p: Poly, factor: Poly, values: range) -> None:
        """What `p * factor` is for each of the values that `p` may have."""
        if p.constant is None and (p, factor, values) not in self._spelled:
            self._spelled.add((p, factor, values))
            cases = (self.api.conj((self.eq(p, c), self.eq(p * factor, factor * c))) for c in values)
            few = self.between(values.start, p, values.stop)
            self.definitions.append(self.api.implies(few, self.api.disj(cases)))

    def mod(self, p: Poly, divisor: int) -> Poly:
        """Remainder of floor division by a positive constant."""
        return p - self.floordiv(p, divisor) * divisor

    def max(self, p: Poly, q: Poly) -> Poly:
        """The larger of two."""
        if self.never_negative(p - q):
            return p
        if self.never_negative(q - p):
            return q
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
        return self.api.literal(value >= 0) if value is not None else self.api.ge0(self._known(difference))

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
        return self.api.literal(value == 0) if value is not None else self.api.eq0(self._known(difference))

    def between(self, lo: Poly | int, p: Poly | int, hi: Poly | int) -> Formula:
        """`lo <= p < hi`."""
        return self.api.conj((self.le(lo, p), self.lt(p, hi)))

    def compared(self, p: Poly) -> None:
        """`p >= 0` is known or tested: products of its symbols with a common factor compare alike."""
        if not self._with_sums:
            return
        common = gcd(*(c for m, c in p.terms if m))
        if common:
            p = Poly.of({m: c // common for m, c in p.terms})
        names = [m for m, _ in p.terms if m]
        unit = all(abs(c) == 1 for m, c in p.terms if m)
        if all(len(m) == 1 for m in names) and (len(names) > 2 or not unit):
            # a difference of two symbols is looked after by the lemmas for every two products
            self._sums[p] = None

    def _known(self, p: Poly) -> Poly:
        """`p`, whose products of symbols get lemmas."""
        for monomial, _ in p.terms:
            self._use(monomial)
        return p

    def _use(self, monomial: Monomial) -> None:
        if len(monomial) > 1 and monomial not in self._products:
            self._products[monomial] = None
            if len(monomial) > 2:
                self._use(monomial[1:])

    # -- products ------------------------------------------------------------------------------------------------

    def new_facts(self) -> list[Formula]:
        """Definitions and product lemmas that no earlier call returned."""
        facts: list[Formula] = []
        while self._taken < len(self.definitions) or self._seen < len(self._products):
            facts += self.definitions[self._taken :]
            self._taken = len(self.definitions)
            facts += self._lemmas_of_new_products()
            facts += self._multiplied_sums()
        return facts

    def _multiplied_sums(self) -> list[Formula]:
        """What is compared, times each factor that some symbol of it is multiplied with: its sign."""
        lemmas: list[Formula] = []
        for p, s in self._multiples():
            if (p, s) not in self._multiplied:
                self._multiplied.add((p, s))
                nonneg = self.ge(s, 0)
                lemmas.append(self.api.implies(self.api.conj((nonneg, self.ge(p, 0))), self.ge(p * s, 0)))
                lemmas.append(self.api.implies(self.api.conj((nonneg, self.lt(p, 0))), self.le(p * s, -s)))
        return lemmas

    def _multiples(self) -> Iterator[tuple[Poly, Poly]]:
        """Every sum that is compared, with the factors that some symbol of it is multiplied with."""
        factors: dict[Poly, set[str]] = {}
        for u, s, _ in self._triples:
            factors.setdefault(s, set()).update(u.symbols() if len(u.terms[0][0]) == 1 else ())
        for p in self._sums:
            yield from ((p, s) for s, multiplied in factors.items() if not multiplied.isdisjoint(p.symbols()))

    def _lemmas_of_new_products(self) -> list[Formula]:
        fresh = [t for m in list(self._products)[self._seen :] for t in self._factorings(m)]
        self._seen = len(self._products)
        lemmas = [lemma for t in fresh for lemma in self._unary(*t)]
        for u, s, p in fresh:
            for v, r, q in self._triples:
                if s == r and u != v:
                    lemmas += self._pairwise(u, v, s, p, q)
            self._triples.append((u, s, p))
        lemmas += [lemma for name, value in self._pinned for lemma in self._pins(fresh, name, value)]
        return lemmas

    def _pins(self, triples: list[Triple], name: str, value: int) -> Iterator[Formula]:
        for u, s, p in triples:
            if s == symbol(name):
                yield self.api.implies(self.eq(s, value), self.eq(p, u * value))

    def _factorings(self, monomial: Monomial) -> list[Triple]:
        """(u, s, u*s) for every split of a product into one symbol u and the rest s, and the reverse."""
        whole = Poly.of({monomial: 1})
        out: list[Triple] = []
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

    def products_hold(self, env: Mapping[str, int]) -> bool:
        """Every product has the value of its factors in `env`."""
        return all(_abstract(p, env) == _abstract(u, env) * _abstract(s, env) for u, s, p in self._triples)

    def exact_products(self, env: Mapping[str, int]) -> bool:
        """Pins every factor to its value in `env` (defines `s = c -> u*s = c*u`), and says how far apart two products
        lie that `env` has wrong; False if nothing was new."""
        self._complete()
        told = len(self._distances)
        self.definitions += self._far_apart(env)
        names = sorted({name for monomial in self._products for name in monomial if name in env})
        fresh = [(name, env[name]) for name in names if (name, env[name]) not in self._pinned]
        self._pinned += fresh
        self.definitions += [f for name, value in fresh for f in self._pins(self._triples, name, value)]
        return bool(fresh) or len(self._distances) > told

    def _far_apart(self, env: Mapping[str, int]) -> Iterator[Formula]:
        """For differences of factors, and other sums that are compared, whose product with a common factor is wrong."""
        at = {f: _abstract(f, env) for triple in self._triples for f in triple}
        differences = (
            (v - u, s)
            for (u, s, p), (v, r, q) in combinations(self._triples, 2)
            if s == r and abs(at[v] - at[u]) > 1 and at[q] - at[p] != (at[v] - at[u]) * at[s]
        )
        for p, s in (*differences, *self._multiples()):
            k = _abstract(p, env)
            if _abstract(p * s, env) == k * _abstract(s, env) or (p, s, k) in self._distances:
                continue
            self._distances.add((p, s, k))
            nonneg = self.ge(s, 0)
            yield self.api.implies(self.eq(p, k), self.eq(p * s, s * k))
            yield self.api.implies(self.api.conj((nonneg, self.ge(p, k))), self.ge(p * s, s * k))
            yield self.api.implies(self.api.conj((nonneg, self.le(p, k))), self.le(p * s, s * k))

    def _complete(self) -> None:
        """Lets every variable meet every factor that some variable is multiplied with: lemmas relate products with a
        common factor, and a proof may need one that no formula has."""
        defined = {name for p in self._defined.values() for name in p.symbols()}
        splits = [
            (tuple(n for n in m if n not in defined), tuple(n for n in m if n in defined)) for m in self._products
        ]
        mixed = [(v, d) for v, d in splits if len(v) == 1 and d]
        for variable in dict.fromkeys(v for v, _ in mixed):
            for factor in dict.fromkeys(d for _, d in mixed):
                self._use(tuple(sorted(variable + factor)))

    def trip(self, lo: Poly, hi: Poly) -> Poly:
        """The number of iterations of a loop over `lo <= v < hi`."""
        return self.max(hi - lo, ZERO)


def _abstract(p: Poly, env: Mapping[str, int]) -> int:
    """The value of a polynomial if every product has the value of its symbol in `env`."""
    return sum(c * (env.get(product(m), 0) if m else 1) for m, c in p.terms)


def _factor(p: Poly, divisor: Poly) -> tuple[Poly, int]:
    """What the largest monomial of a divisor is multiplied with in p, and its own coefficient."""
    largest, times = max(divisor.terms, key=lambda term: len(term[0]))
    found: dict[Monomial, int] = {}
    for m, c in p.terms:
        rest = Counter(m)
        rest.subtract(largest)
        if min(rest.values(), default=0) >= 0:
            found[tuple(rest.elements())] = c
    return Poly.of(found), times
