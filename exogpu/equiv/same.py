"""Whether two symbolic values are the same, whatever the arguments held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import copysign

from exogpu.equiv.cases import Cases
from exogpu.equiv.conditions import Facts, Logic, joined, literals, negation
from exogpu.equiv.sums import Matching
from exogpu.equiv.symbolic import COMMUTES, FOLDS, Const, Fold, Held, Number, Op, Rounded, Sum, Sym, Term
from exogpu.equiv.zeros import is_plus_zero
from exogpu.ir.index import Cmp, Cond, Index
from exogpu.ir.types import Scalar
from exogpu.ir.walk import index_names

REORDERED = (Scalar.F32, Scalar.F64, Scalar.I32)
"""Types in which sums may be reordered: with other roundings if they are floating-point, and else without effect."""


@dataclass
class Comparison:
    """Compares values; `reassociated` says afterwards whether sums had to be reordered for it, or zeros left out. With
    `signed` no zero is left out that can make a zero of -0."""

    logic: Logic
    signed: bool = False
    reassociated: bool = False
    cases: Cases = field(init=False)
    sums: Matching = field(init=False)

    def __post_init__(self) -> None:
        self.cases = Cases(self.logic, self.same)
        self.sums = Matching(self.logic, self.same)

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
        for op in FOLDS:
            kinds = {v.dtype for v in (a, b) if isinstance(v, Sum | Op) and v.op == op}
            if len(kinds) == 1:
                return self._reordered(a, b, op, next(iter(kinds)), facts)
        return False

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
        """Both add the same to the same, one after the other. Zeros may be left out if the sum starts with 0: then it
        never is -0, which a zero would change."""
        if (a.op, a.dtype) != (b.op, b.dtype) or len(a.terms) != 1 or len(b.terms) != 1:
            return False
        if not self.same(a.start, b.start, facts):
            return False
        if self.sums.in_order(a.terms[0], b.terms[0], facts):
            return True
        one, other = (self.cases.without_zeros(v.terms[0], facts) for v in (a, b))
        cleared = a.op == "+" and is_plus_zero(a.start) and is_plus_zero(b.start)
        return cleared and one is not None and other is not None and self.sums.in_order(one, other, facts)

    def _reordered(self, a: Sym, b: Sym, op: Fold, dtype: Scalar, facts: Facts) -> bool:
        """Both combine the same, in whatever order; of the largest, it does not matter how often it is there."""
        if op == "+" and dtype not in REORDERED:
            return False
        one, other = (self.cases.folded(v, op, dtype, facts) for v in (a, b))
        told = _loose((*one, *other))
        if told is not None:
            return all(self._reordered(a, b, op, dtype, joined(facts, literals(c))) for c in (told, negation(told)))
        if op != "+":
            return self.sums.among(one, other, facts) and self.sums.among(other, one, facts)
        if self.signed and dtype.is_float and not self._same_zeros(a, b, dtype, facts):
            return False
        if not self.sums.match(one, other, facts):
            return False
        self.reassociated |= dtype.is_float
        return True

    def _same_zeros(self, a: Sym, b: Sym, dtype: Scalar, facts: Facts) -> bool:
        """If one sum is never -0, since 0 is added, the other is not either."""
        one, other = (self.cases.cleared(v, dtype, facts) for v in (a, b))
        return one is not None and one == other


def _identical(a: Const, b: Const) -> bool:
    """The same number, its sign included."""
    if a.value != a.value or b.value != b.value:
        return a.value != a.value and b.value != b.value
    return a.value == b.value and copysign(1.0, a.value) == copysign(1.0, b.value)


def _loose(terms: Sequence[Term]) -> Cond | None:
    """A condition of a term that its variables have no part in: the whole term is there or not."""
    for term in terms:
        for guard in term.guards:
            if not index_names(guard) & set(term.names):
                return guard
    return None
