"""Whether two symbolic values are the same, whatever the arguments held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.equiv.cases import Added, added, cases, inside
from exogpu.equiv.conditions import Facts, implied
from exogpu.equiv.flat import Loop
from exogpu.equiv.solve import solve
from exogpu.equiv.symbolic import Const, Held, Number, Op, Rounded, Sum, Sym, Term, substitute
from exogpu.ir.index import Cmp, Index, Var
from exogpu.ir.types import Scalar
from exogpu.ir.walk import substitute_cond, substitute_index

COMMUTES = ("+", "*", "min", "max")
REORDERED = (Scalar.F32, Scalar.F64, Scalar.I32)


@dataclass
class Comparison:
    """Compares values; `reassociated` says afterwards whether sums had to be reordered for it."""

    reassociated: bool = False

    def same(self, a: Sym, b: Sym, facts: Facts) -> bool:
        """Whether the facts are known to imply that two values are equal."""
        return all(
            self._plain(x, y, (*facts, *conds, *more))
            for conds, x in cases(a, facts, self.same)
            for more, y in cases(b, (*facts, *conds), self.same)
        )

    def _plain(self, a: Sym, b: Sym, facts: Facts) -> bool:
        match a, b:
            case Held(name, index, _), Held(other, there, _):
                return name == other and _equal(index, there, facts)
            case Const(x), Const(y):
                return x == y or (x != x and y != y)
            case Number(i), Number(j):
                return _equal((i,), (j,), facts)
            case Rounded(to, x), Rounded(other, y):
                return to is other and self.same(x, y, facts)
            case Op(op, kind, args), Op(other, there, others) if (op, kind) == (other, there):
                if self._pairwise(args, others, facts):
                    return True
                if op in COMMUTES and self._pairwise(args, others[::-1], facts):
                    return True
        kinds = {v.dtype for v in (a, b) if isinstance(v, Sum) or (isinstance(v, Op) and v.op == "+")}
        return len(kinds) == 1 and min(kinds, key=str) in REORDERED and self._sums(a, b, min(kinds, key=str), facts)

    def _pairwise(self, args: tuple[Sym, ...], others: tuple[Sym, ...], facts: Facts) -> bool:
        before = self.reassociated
        if len(args) == len(others) and all(self.same(x, y, facts) for x, y in zip(args, others, strict=True)):
            return True
        self.reassociated = before
        return False

    # -- sums ----------------------------------------------------------------------------------------------------

    def _sums(self, a: Sym, b: Sym, dtype: Scalar, facts: Facts) -> bool:
        one, other = (added(v, dtype, facts, self.same) for v in (a, b))
        if not self._starts(one, other, facts):
            return False
        left = list(other.terms)
        for term in one.terms:
            match = next((t for t in left if self._one_to_one(term, t, facts)), None)
            if match is None:
                return False
            left.remove(match)
        self.reassociated |= len(one.terms) > 1 or len(one.starts) > 2
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
        for pairs in _pairs(a.value, b.value):
            there = solve([(j, i) for i, j in pairs], _loops(b), {})
            back = solve([(i, j) for i, j in pairs], _loops(a), {})
            if set(there) != set(b.names) or set(back) != set(a.names):
                continue
            if self._inverse(a, b, there, back, facts):
                self.reassociated |= len(a.vars) != len(b.vars) or any(not isinstance(v, Var) for v in there.values())
                return True
        return False

    def _inverse(self, a: Term, b: Term, there: dict[str, Index], back: dict[str, Index], facts: Facts) -> bool:
        in_a, in_b = (*facts, *inside(a)), (*facts, *inside(b))
        goals_a = [substitute_cond(c, there) for c in inside(b)]
        goals_a += [Cmp("==", Var(v), substitute_index(e, there)) for v, e in back.items()]
        goals_b = [substitute_cond(c, back) for c in inside(a)]
        goals_b += [Cmp("==", Var(v), substitute_index(e, back)) for v, e in there.items()]
        if not all(implied(in_a, c) for c in goals_a) or not all(implied(in_b, c) for c in goals_b):
            return False
        return self.same(a.value, substitute(b.value, there), in_a)


def _loops(term: Term) -> list[Loop]:
    return [Loop(*v) for v in term.vars]


def _equal(a: tuple[Index, ...], b: tuple[Index, ...], facts: Facts) -> bool:
    return len(a) == len(b) and all(implied(facts, Cmp("==", i, j)) for i, j in zip(a, b, strict=True))


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
