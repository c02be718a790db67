"""Building index expressions and conditions, folded where they are plain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not
from exogpu.ir.linear import Linear, literal


def add(a: Index, b: Index) -> Index:
    """`a + b`."""
    match a, b:
        case Int(x), Int(y):
            return Int(x + y)
        case _, Int(0):
            return a
        case Int(0), _:
            return b
        case _, Int(y) if y < 0:
            return Bin("-", a, Int(-y))
    return Bin("+", a, b)


def subtract(a: Index, b: Index) -> Index:
    """`a - b`."""
    match a, b:
        case Int(x), Int(y):
            return Int(x - y)
        case _, Int(y):
            return add(a, Int(-y))
    return Int(0) if a == b else Bin("-", a, b)


def times(factor: int, e: Index) -> Index:
    """`factor * e`."""
    match factor, e:
        case 0, _:
            return Int(0)
        case 1, _:
            return e
        case _, Int(x):
            return Int(factor * x)
    return Bin("*", Int(factor), e)


def divide(e: Index, n: int, op: Literal["//", "%", "ceildiv"] = "//") -> Index:
    """`e // n`, or `e % n`, or `ceildiv(e, n)`."""
    if n == 1:
        return Int(0) if op == "%" else e
    out = Bin(op, e, Int(n))
    value = literal(out)
    return out if value is None else Int(value)


def total(form: Linear) -> Index:
    """A linear form as an expression."""
    out: Index = Int(0)
    for atom, factor in sorted(form.terms.items(), key=lambda term: term[1] < 0):
        out = add(out, times(factor, atom)) if factor > 0 else subtract(out, times(-factor, atom))
    return add(out, Int(form.const))


def both(conds: Iterable[Cond]) -> Cond:
    """A conjunction; true if there is nothing in it."""
    return _join("and", conds, True)


def either(conds: Iterable[Cond]) -> Cond:
    """A disjunction; false if there is nothing in it."""
    return _join("or", conds, False)


def _join(op: Literal["and", "or"], conds: Iterable[Cond], neutral: bool) -> Cond:
    kept: list[Cond] = []
    for c in conds:
        if c == Bool(not neutral):
            return c
        if isinstance(c, BoolOp) and c.op == op:
            kept += c.args
        elif c != Bool(neutral):
            kept.append(c)
    kept = list(dict.fromkeys(kept))
    if len(kept) <= 1:
        return kept[0] if kept else Bool(neutral)
    return BoolOp(op, tuple(kept))


def negated(c: Cond) -> Cond:
    """The opposite condition."""
    match c:
        case Bool(value):
            return Bool(not value)
        case Not(arg):
            return arg
        case _:
            return Not(c)


def equal(a: Index, b: Index) -> Cond:
    """`a == b`."""
    return Cmp("==", a, b)


def less(a: Index, b: Index) -> Cond:
    """`a < b`."""
    return Cmp("<", a, b)


def within(e: Index, lo: Index, hi: Index) -> Cond:
    """`lo <= e < hi`."""
    return both((Cmp("<=", lo, e), Cmp("<", e, hi)))


def earlier(first: Sequence[Index], then: Sequence[Index]) -> Cond:
    """Iterations of nested loops come in this order: their variables are smaller, the outermost counting most."""
    return either(both((*map(equal, first[:n], then[:n]), less(first[n], then[n]))) for n in range(len(first)))
