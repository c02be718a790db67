"""Values without choices, case by case, and sums as lists of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from exogpu.equiv.conditions import Facts, Logic, joined, literals, negation
from exogpu.equiv.symbolic import Choice, Const, Fold, Held, Number, Op, Rounded, Sum, Sym, Term
from exogpu.equiv.zeros import is_plus_zero
from exogpu.ir.index import Cmp, Var
from exogpu.ir.types import Scalar

Case = tuple[Facts, Sym]
Same = Callable[[Sym, Sym, Facts], bool]


def ranges(term: Term) -> Facts:
    """The ranges of the variables of a term."""
    return tuple(c for n, lo, hi in term.vars for c in (Cmp("<=", lo, Var(n)), Cmp("<", Var(n), hi)))


def inside(term: Term) -> Facts:
    """What is known in a term."""
    return (*ranges(term), *term.guards)


@dataclass(frozen=True, slots=True)
class Cases:
    """Tells cases apart; `same` is asked whether two branches need telling apart."""

    logic: Logic
    same: Same

    def of(self, value: Sym, facts: Facts) -> Iterator[Case]:
        """The value in every case that the facts leave open, with what tells the case; choices inside sums stay."""
        match value:
            case Choice():
                yield from self._branches(value, facts)
            case Op(args=args):
                for combined in product(*(list(self.of(a, facts)) for a in args)):
                    conds = tuple(c for some, _ in combined for c in some)
                    if len(args) < 2 or not conds or not self.logic.impossible(joined(facts, conds)):
                        yield conds, _product(replace(value, args=tuple(v for _, v in combined)))
            case Rounded(to, arg):
                for conds, inner in self.of(arg, facts):
                    yield conds, Rounded(to, inner)
            case Held() | Const() | Number() | Sum():
                yield (), value

    def _branches(self, value: Choice, facts: Facts) -> Iterator[Case]:
        """One branch for both where it has the other's value in the other's case."""
        yes, no = literals(value.cond), literals(negation(value.cond))
        if self.logic.implied(facts, value.cond):
            yield from self.of(value.then, facts)
        elif self.logic.implied(facts, negation(value.cond)):
            yield from self.of(value.orelse, facts)
        elif self.same(value.then, value.orelse, joined(facts, no)):
            yield from self.of(value.then, facts)
        else:
            for conds, branch in ((yes, value.then), (no, value.orelse)):
                for more, inner in self.of(branch, joined(facts, conds)):
                    yield (*conds, *more), inner

    def without_zeros(self, term: Term, facts: Facts) -> Term | None:
        """The term where it is not zero, if it has one form there."""
        found = self.of(term.value, joined(facts, inside(term)))
        kept = [(conds, v) for conds, v in found if not (isinstance(v, Const) and v.is_zero)]
        if len(kept) != 1:
            return None
        ((conds, added),) = kept
        guards = self.logic.open_ones(joined(facts, ranges(term)), (*term.guards, *conds))
        return Term(term.vars, guards, added)

    def folded(self, value: Sym, op: Fold, dtype: Scalar, facts: Facts) -> tuple[Term, ...]:
        """A value as a sum in a type: what is added up, zeros left out; or what it is the largest or smallest of."""
        found = self._summands(value, op, dtype, facts)
        return tuple(t for t in found if op != "+" or not (isinstance(t.value, Const) and t.value.is_zero))

    def cleared(self, value: Sym, dtype: Scalar, facts: Facts) -> bool | None:
        """Whether 0 is among what a sum in a type adds up, so that it is never -0; None if only in some cases."""
        zeros = [term for term in self._summands(value, "+", dtype, facts) if is_plus_zero(term.value)]
        always = any(not term.vars and not term.guards for term in zeros)
        return True if always else None if zeros else False

    def _summands(self, value: Sym, op: Fold, dtype: Scalar, facts: Facts) -> Iterator[Term]:
        for term in self._parts(Term((), (), value), op, dtype, facts):
            guards = self.logic.open_ones(joined(facts, ranges(term)), term.guards)
            if not guards or not self.logic.impossible(joined(facts, inside(term))):
                yield replace(term, guards=guards)

    def _parts(self, term: Term, op: Fold, dtype: Scalar, facts: Facts) -> Iterator[Term]:
        for conds, value in self.of(term.value, joined(facts, inside(term))):
            here = Term(term.vars, (*term.guards, *conds), value)
            match value:
                case Sum(kind, start, terms, way) if kind is dtype and way == op:
                    yield from self._parts(replace(here, value=start), op, dtype, facts)
                    for inner in terms:
                        nested = Term((*here.vars, *inner.vars), (*here.guards, *inner.guards), inner.value)
                        if not self.logic.impossible(joined(facts, inside(nested))):
                            yield from self._parts(nested, op, dtype, facts)
                case Op(way, kind, (left, right)) if kind is dtype and way == op:
                    yield from self._parts(replace(here, value=left), op, dtype, facts)
                    yield from self._parts(replace(here, value=right), op, dtype, facts)
                case _:
                    yield here


def _product(value: Op) -> Sym:
    """A product of zeros is zero; of zero and an unknown value it is not: that may be infinite."""
    match value:
        case Op("*", dtype, (Const() as x, Const() as y)) if x.is_zero and y.is_zero:
            return Const(x.value * y.value, dtype)
        case _:
            return value
