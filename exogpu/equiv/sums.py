"""Whether two lists of summands add up the same: by maps between their variables, guessed, and proved one to one.

A summand stands for one value per choice of its variables. It is a part of another if a map takes each of its choices
to one of the other's with the same value, and a second map undoes the first. Parts make up the whole if each choice of
the whole comes from exactly one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from exogpu.equiv.cases import Same, inside
from exogpu.equiv.conditions import Facts, Logic, joined, negation
from exogpu.equiv.symbolic import COMMUTES, Const, Held, Number, Op, Rounded, Sum, Sym, Term, substitute
from exogpu.ir.index import Cmp, Cond, Index, Var
from exogpu.ir.solve import solve
from exogpu.ir.terms import both, earlier, either
from exogpu.ir.walk import substitute_cond, substitute_index

PAIRINGS = 32
"""Most ways to pair the operands of two summands that are tried."""

Map = dict[str, Index]


@dataclass(frozen=True, slots=True)
class Part:
    """A summand, the map from its variables to those of the whole, and the map back."""

    term: Term
    there: Map
    back: Map

    def reaches(self) -> tuple[Cond, ...]:
        """That a choice of the whole comes from this part."""
        undone = (Cmp("==", Var(v), substitute_index(e, self.back)) for v, e in self.there.items())
        return (*(substitute_cond(c, self.back) for c in inside(self.term)), *undone)


@dataclass(frozen=True, slots=True)
class Matching:
    """Matches summands; `same` compares their values."""

    logic: Logic
    same: Same

    def match(self, one: Sequence[Term], other: Sequence[Term], facts: Facts) -> bool:
        """Whether both lists add up the same: one to one where possible, then several to one, either way."""
        left, right = list(one), list(other)
        for term in one:
            whole = next((t for t in right if self._made_up(t, [term], facts)), None)
            if whole is not None:
                left.remove(term)
                right.remove(whole)
        for wholes, terms in ((right, left), (left, right)):
            for whole in tuple(wholes):
                parts = self._made_up(whole, terms, facts)
                if parts:
                    wholes.remove(whole)
                    for part in parts:
                        terms.remove(part.term)
        return not left and not right

    def _made_up(self, whole: Term, terms: Sequence[Term], facts: Facts) -> list[Part]:
        """Those terms that are parts of the whole, if they make it up; else none."""
        parts = [part for term in terms if (part := self._part(term, whole, facts)) is not None]
        return parts if parts and self.complete(whole, parts, facts) else []

    def _part(self, term: Term, whole: Term, facts: Facts) -> Part | None:
        for pairs in islice(_pairs(term.value, whole.value), PAIRINGS):
            there = solve([(j, i) for i, j in pairs], frozenset(whole.names))
            back = solve([(i, j) for i, j in pairs], frozenset(term.names))
            for n, m in zip(_left(term, back), _left(whole, there), strict=False):
                there[m], back[n] = Var(n), Var(m)
            part = Part(term, there, back)
            if set(there) == set(whole.names) and set(back) == set(term.names) and self.embeds(part, whole, facts):
                return part
        return None

    def embeds(self, part: Part, whole: Term, facts: Facts) -> bool:
        """The map takes the part's choices to choices of the whole with the same values, and is undone by the other."""
        known = joined(facts, inside(part.term))
        goals = [substitute_cond(c, part.there) for c in inside(whole)]
        goals += [Cmp("==", Var(v), substitute_index(e, part.there)) for v, e in part.back.items()]
        return all(self.logic.implied(known, c) for c in goals) and self.same(
            part.term.value, substitute(whole.value, part.there), known
        )

    def in_order(self, term: Term, whole: Term, facts: Facts) -> bool:
        """Whether both add up the same, one value after the other."""
        names = list(zip(term.names, whole.names, strict=False))
        same = Part(term, {m: Var(n) for n, m in names}, {n: Var(m) for n, m in names})
        alike = len(term.vars) == len(whole.vars) and self.embeds(same, whole, facts)
        part = same if alike else self._part(term, whole, facts)
        return part is not None and self.complete(whole, [part], facts) and self._ascends(part, whole, facts)

    def _ascends(self, part: Part, whole: Term, facts: Facts) -> bool:
        """The map keeps the order of choices."""
        here: Map = {n: Var(n) for n in part.term.names}
        later: Map = {n: Var(f"{n}'") for n in part.term.names}
        both_known = joined(joined(facts, inside(part.term)), (substitute_cond(c, later) for c in inside(part.term)))
        images = [[substitute_index(part.there[m], env) for m in whole.names] for env in (here, later)]
        known = joined(both_known, (earlier(list(here.values()), list(later.values())),))
        return self.logic.implied(known, earlier(*images))

    def among(self, terms: Sequence[Term], others: Sequence[Term], facts: Facts) -> bool:
        """Every value of some terms is also a value of others."""
        return all(self._is_among(term, others, facts) for term in terms)

    def _is_among(self, term: Term, others: Sequence[Term], facts: Facts) -> bool:
        known = joined(facts, inside(term))
        ways: list[Cond] = []
        for other in others:
            for pairs in islice(_pairs(term.value, other.value), PAIRINGS):
                there = {n: lo for n, lo, _ in other.vars} | solve([(j, i) for i, j in pairs], frozenset(other.names))
                conds = [substitute_cond(c, there) for c in inside(other)]
                conds += [Cmp("==", i, substitute_index(j, there)) for i, j in pairs]
                if self.same(term.value, substitute(other.value, there), joined(known, conds)):
                    ways.append(both(conds))
        return self.logic.implied(known, either(ways))

    def complete(self, whole: Term, parts: Sequence[Part], facts: Facts) -> bool:
        """Every choice of the whole comes from exactly one part."""
        known = joined(facts, inside(whole))
        if len(parts) == 1:
            return all(self.logic.implied(known, c) for c in parts[0].reaches())
        from_each = [both(part.reaches()) for part in parts]
        twice = either(both(pair) for pair in combinations(from_each, 2))
        return self.logic.implied(known, either(from_each)) and self.logic.implied(known, negation(twice))


def _left(term: Term, solved: Map) -> list[str]:
    """The variables that values do not depend on: those of both sides are paired in order."""
    return [name for name in term.names if name not in solved]


def _pairs(a: Sym, b: Sym) -> Iterator[list[tuple[Index, Index]]]:
    """Pairs of indices that have to be equal for the values to be, for each way to pair operands."""
    match a, b:
        case Held(name, index, _), Held(other, there, _) if name == other:
            yield list(zip(index, there, strict=True))
        case Number(i), Number(j):
            yield [(i, j)]
        case Rounded(_, x), Rounded(_, y):
            yield from _pairs(x, y)
        case Op(op, _, args), Op(other, _, others) if op == other and len(args) == len(others):
            yield from _all_pairs(args, others)
            if op in COMMUTES:
                yield from _all_pairs(args, others[::-1])
        case (Const(), Const()) | (Sum(), Sum()):
            yield []


def _all_pairs(args: tuple[Sym, ...], others: tuple[Sym, ...]) -> Iterator[list[tuple[Index, Index]]]:
    if not args:
        yield []
        return
    for first in _pairs(args[0], others[0]):
        for rest in _all_pairs(args[1:], others[1:]):
            yield first + rest
