"""Values without choices, case by case, and sums as lists of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from exogpu.equiv.conditions import Facts, conjuncts, implied, impossible, negation
from exogpu.equiv.symbolic import Choice, Const, Held, Number, Op, Rounded, Sum, Sym, Term
from exogpu.ir.index import Cmp, Var
from exogpu.ir.types import Scalar

Case = tuple[Facts, Sym]
Same = Callable[[Sym, Sym, Facts], bool]


@dataclass(frozen=True, slots=True)
class Added:
    """What is added up, and what for each choice of variables; zeros left out."""

    starts: tuple[Sym, ...]
    terms: tuple[Term, ...]


def inside(term: Term) -> Facts:
    """What is known in a term."""
    ranges = ((Cmp("<=", lo, Var(n)), Cmp("<", Var(n), hi)) for n, lo, hi in term.vars)
    return (*(c for pair in ranges for c in pair), *term.guards)


def cases(value: Sym, facts: Facts, same: Same) -> Iterator[Case]:
    """The value in every case that the facts leave open, with what tells the case; choices inside sums stay."""
    match value:
        case Choice(cond, then, orelse):
            yield from _branches(value, facts, same)
        case Op(args=args):
            for combined in product(*(list(cases(a, facts, same)) for a in args)):
                conds = tuple(c for some, _ in combined for c in some)
                if len(args) < 2 or not conds or not impossible((*facts, *conds)):
                    yield conds, folded(replace(value, args=tuple(v for _, v in combined)))
        case Rounded(to, arg):
            for conds, inner in cases(arg, facts, same):
                yield conds, Rounded(to, inner)
        case Held() | Const() | Number() | Sum():
            yield (), value


def _branches(value: Choice, facts: Facts, same: Same) -> Iterator[Case]:
    """One branch for both where it has the other's value in the other's case."""
    yes, no = conjuncts(value.cond), conjuncts(negation(value.cond))
    if implied(facts, value.cond):
        yield from cases(value.then, facts, same)
    elif implied(facts, negation(value.cond)):
        yield from cases(value.orelse, facts, same)
    elif same(value.then, value.orelse, (*facts, *no)):
        yield from cases(value.then, facts, same)
    else:
        for conds, branch in ((yes, value.then), (no, value.orelse)):
            for more, inner in cases(branch, (*facts, *conds), same):
                yield (*conds, *more), inner


def folded(value: Sym) -> Sym:
    """A product of zeros is zero; of zero and an unknown value it is not: that may be infinite."""
    match value:
        case Op("*", _, (Const(0.0), Const(0.0))):
            return Const(0.0)
        case _:
            return value


def added(value: Sym, dtype: Scalar, facts: Facts, same: Same) -> Added:
    """A value as a sum in a type."""
    starts: list[Sym] = []
    terms: list[Term] = []
    for term in _summands(Term((), (), value), dtype, facts, same):
        if term.vars or term.guards:
            terms.append(term)
        else:
            starts.append(term.value)
    return Added(tuple(starts), tuple(terms))


def _summands(term: Term, dtype: Scalar, facts: Facts, same: Same) -> Iterator[Term]:
    for conds, value in cases(term.value, (*facts, *inside(term)), same):
        here = Term(term.vars, (*term.guards, *conds), value)
        match value:
            case Const(0.0):
                pass
            case Sum(kind, start, terms) if kind is dtype:
                yield from _summands(replace(here, value=start), dtype, facts, same)
                for inner in terms:
                    nested = Term((*here.vars, *inner.vars), (*here.guards, *inner.guards), inner.value)
                    if not impossible((*facts, *inside(nested))):
                        yield from _summands(nested, dtype, facts, same)
            case Op("+", kind, (left, right)) if kind is dtype:
                yield from _summands(replace(here, value=left), dtype, facts, same)
                yield from _summands(replace(here, value=right), dtype, facts, same)
            case _:
                yield here
