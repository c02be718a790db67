"""Whether two symbolic values are the same, whatever the arguments held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import copysign

from exogpu.equiv.cases import Added, Cases, inside
from exogpu.equiv.conditions import Facts, Logic, conjuncts, joined, negation
from exogpu.equiv.flat import Loop
from exogpu.equiv.solve import solve
from exogpu.equiv.symbolic import Const, Held, Number, Op, Rounded, Sum, Sym, Term, substitute
from exogpu.ir.index import Cmp, Cond, Index, Var
from exogpu.ir.types import Scalar
from exogpu.ir.walk import index_names, substitute_cond, substitute_index

COMMUTES = ("+", "*", "min", "max")
REORDERED = (Scalar.F32, Scalar.F64, Scalar.I32)
"""Types in which sums may be reordered: with other roundings if they are floating-point, and else without effect."""

PAIRINGS = 32
"""Most ways to pair the operands of two summands that are tried."""

Map = dict[str, Index]


@dataclass
class Comparison:
    """Compares values; `reassociated` says afterwards whether sums had to be reordered for it, or zeros left out."""

    logic: Logic
    reassociated: bool = False
    cases: Cases = field(init=False)

    def __post_init__(self) -> None:
        self.cases = Cases(self.logic, self.same)

    def same(self, a: Sym, b: Sym, facts: Facts) -> bool:
        """Whether the facts are known to imply that two values are equal."""
        before = self.reassociated
        for conds, x in self.cases.of(a, facts):
            here = joined(facts, conds)
            for more, y in self.cases.of(b, here):
                if not self._plain(x, y, joined(here, more)):
                    self.reassociated = before
                    return False
        return True

    def _plain(self, a: Sym, b: Sym, facts: Facts) -> bool:
        match a, b:
            case Held(name, index, _), Held(other, there, _):
                return name == other and self._equal(index, there, facts)
            case Const(), Const():
                return _identical(a, b)
            case Number(i), Number(j):
                return self._equal((i,), (j,), facts)
            case Rounded(to, x), Rounded(other, y):
                return to is other and self.same(x, y, facts)
            case Op(op, kind, args), Op(other, there, others) if (op, kind) == (other, there):
                if self._pairwise(args, others, facts):
                    return True
                if op in COMMUTES and self._pairwise(args, others[::-1], facts):
                    return True
            case Sum(), Sum() if self._in_order(a, b, facts):
                return True
        kinds = {v.dtype for v in (a, b) if isinstance(v, Sum) or (isinstance(v, Op) and v.op == "+")}
        return len(kinds) == 1 and min(kinds, key=str) in REORDERED and self._sums(a, b, min(kinds, key=str), facts)

    def _pairwise(self, args: tuple[Sym, ...], others: tuple[Sym, ...], facts: Facts) -> bool:
        before = self.reassociated
        if len(args) == len(others) and all(self.same(x, y, facts) for x, y in zip(args, others, strict=True)):
            return True
        self.reassociated = before
        return False

    def _equal(self, a: tuple[Index, ...], b: tuple[Index, ...], facts: Facts) -> bool:
        return len(a) == len(b) and all(self.logic.implied(facts, Cmp("==", i, j)) for i, j in zip(a, b, strict=True))

    # -- sums ----------------------------------------------------------------------------------------------------

    def _in_order(self, a: Sum, b: Sum, facts: Facts) -> bool:
        """Both add the same to the same, one after the other."""
        if a.dtype is not b.dtype or len(a.terms) != 1 or len(b.terms) != 1:
            return False
        one, other = a.terms[0], b.terms[0]
        if len(one.vars) != len(other.vars):
            return False
        there: Map = {m: Var(n) for n, m in zip(one.names, other.names, strict=True)}
        back: Map = {n: Var(m) for n, m in zip(one.names, other.names, strict=True)}
        return self.same(a.start, b.start, facts) and self._inverse(one, other, there, back, facts)

    def _sums(self, a: Sym, b: Sym, dtype: Scalar, facts: Facts) -> bool:
        one, other = (self.cases.added(v, dtype, facts) for v in (a, b))
        told = _loose(one) or _loose(other)
        if told is not None:
            return all(self._sums(a, b, dtype, joined(facts, conjuncts(c))) for c in (told, negation(told)))
        if not self._starts(one, other, facts):
            return False
        left = list(other.terms)
        for term in one.terms:
            match = next((t for t in left if self._one_to_one(term, t, facts)), None)
            if match is None:
                return False
            left.remove(match)
        self.reassociated |= dtype.is_float
        return not left

    def _starts(self, one: Added, other: Added, facts: Facts) -> bool:
        left = list(other.starts)
        for start in one.starts:
            match = next((s for s in left if self.same(start, s, facts)), None)
            if match is None:
                return False
            left.remove(match)
        return not left

    def _one_to_one(self, a: Term, b: Term, facts: Facts) -> bool:
        """Each summand of one is a summand of the other: by a map of variables with an inverse, both guessed."""
        for pairs in islice(_pairs(a.value, b.value), PAIRINGS):
            there = solve([(j, i) for i, j in pairs], _loops(b), {})
            back = solve([(i, j) for i, j in pairs], _loops(a), {})
            if set(there) != set(b.names) or set(back) != set(a.names):
                continue
            if self._inverse(a, b, there, back, facts):
                return True
        return False

    def _inverse(self, a: Term, b: Term, there: Map, back: Map, facts: Facts) -> bool:
        """`there` takes the variables of a to those of b, `back` the other way, one undoes the other, and what is added
        is the same."""
        in_a, in_b = joined(facts, inside(a)), joined(facts, inside(b))
        goals_a = [substitute_cond(c, there) for c in inside(b)]
        goals_a += [Cmp("==", Var(v), substitute_index(e, there)) for v, e in back.items()]
        goals_b = [substitute_cond(c, back) for c in inside(a)]
        goals_b += [Cmp("==", Var(v), substitute_index(e, back)) for v, e in there.items()]
        if not all(self.logic.implied(in_a, c) for c in goals_a):
            return False
        if not all(self.logic.implied(in_b, c) for c in goals_b):
            return False
        return self.same(a.value, substitute(b.value, there), in_a)


def _identical(a: Const, b: Const) -> bool:
    """The same number, its sign included."""
    if a.value != a.value or b.value != b.value:
        return a.value != a.value and b.value != b.value
    return a.value == b.value and copysign(1.0, a.value) == copysign(1.0, b.value)


def _loose(added: Added) -> Cond | None:
    """A condition of a term that its variables have no part in: the whole term is there or not."""
    for term in added.terms:
        for guard in term.guards:
            if not index_names(guard) & set(term.names):
                return guard
    return None


def _loops(term: Term) -> list[Loop]:
    return [Loop(*v) for v in term.vars]


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
