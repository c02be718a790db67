"""Simplification of index expressions and conditions with interval facts about their variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var


@dataclass(frozen=True, slots=True)
class Interval:
    """`lo <= x <= hi`; None is unbounded."""

    lo: int | None
    hi: int | None


UNKNOWN = Interval(None, None)
INT_MAX = 2**31 - 1
"""Largest value, and but for the sign the smallest, of the 32-bit integers that the emitted code computes with."""

Facts = Mapping[str, Interval]


def _least(values: list[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return min(known) if len(known) == len(values) else None


def _most(values: list[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return max(known) if len(known) == len(values) else None


def _scaled(a: Interval, factor: int) -> Interval:
    ends = [None if v is None else v * factor for v in (a.lo, a.hi)]
    return Interval(*(ends if factor >= 0 else reversed(ends)))


def _sum(a: Interval, b: Interval) -> Interval:
    lo = None if a.lo is None or b.lo is None else a.lo + b.lo
    hi = None if a.hi is None or b.hi is None else a.hi + b.hi
    return Interval(lo, hi)


def _divided(a: Interval, divisor: int, up: bool) -> Interval:
    if divisor <= 0:
        return UNKNOWN
    ends = (None if v is None else -(-v // divisor) if up else v // divisor for v in (a.lo, a.hi))
    return Interval(*ends)


def interval(e: Index, facts: Facts) -> Interval:
    """An interval that contains every value of `e`."""
    match e:
        case Int(value):
            return Interval(value, value)
        case Var(name):
            return facts.get(name, UNKNOWN)
        case Bin(op, left, right):
            return _combine(op, interval(left, facts), interval(right, facts))


def _combine(op: str, a: Interval, b: Interval) -> Interval:
    constant = b.lo if b.lo is not None and b.lo == b.hi else None
    match op:
        case "+":
            return _sum(a, b)
        case "-":
            return _sum(a, _scaled(b, -1))
        case "*":
            if constant is not None:
                return _scaled(a, constant)
            return _scaled(b, a.lo) if a.lo is not None and a.lo == a.hi else UNKNOWN
        case "//" | "ceildiv":
            return _divided(a, constant or 0, op == "ceildiv")
        case "%":
            if constant is None or constant <= 0:
                return UNKNOWN
            inside = a.lo is not None and a.lo >= 0 and a.hi is not None and a.hi < constant
            return a if inside else Interval(0, constant - 1)
        case "min":
            known = [v for v in (a.hi, b.hi) if v is not None]
            return Interval(_least([a.lo, b.lo]), min(known) if known else None)
        case _:
            known = [v for v in (a.lo, b.lo) if v is not None]
            return Interval(max(known) if known else None, _most([a.hi, b.hi]))


Terms = dict[Index, int]


def _linear(e: Index, facts: Facts) -> tuple[Terms, int]:
    """`e` as a sum of factor * atom plus a constant; atoms in order of appearance."""
    match e:
        case Int(value):
            return {}, value
        case Bin("+" | "-" as op, left, right):
            terms, constant = _linear(left, facts)
            more, extra = _linear(right, facts)
            sign = 1 if op == "+" else -1
            for atom, factor in more.items():
                terms[atom] = terms.get(atom, 0) + sign * factor
            return {a: f for a, f in terms.items() if f}, constant + sign * extra
        case Bin("*", left, right):
            (terms, constant), (others, factor) = _linear(left, facts), _linear(right, facts)
            if terms and others:
                return {Bin("*", _rebuild(terms, constant), _rebuild(others, factor)): 1}, 0
            if others:
                terms, constant, factor = others, factor, constant
            return {a: f * factor for a, f in terms.items() if f * factor}, constant * factor
        case Bin():
            atom = _atom(e, facts)
            return ({}, atom.value) if isinstance(atom, Int) else _split(atom, facts)
        case Var():
            known = interval(e, facts)
            return ({}, known.lo) if known.lo is not None and known.lo == known.hi else ({e: 1}, 0)


def _split(atom: Index, facts: Facts) -> tuple[Terms, int]:
    """The terms of a simplified expression, without simplifying its divisions again."""
    return _linear(atom, facts) if isinstance(atom, Bin) and atom.op in ("+", "-", "*") else ({atom: 1}, 0)


def _rebuild(terms: Terms, constant: int) -> Index:
    total: Index | None = None
    for atom, factor in terms.items():
        magnitude = atom if abs(factor) == 1 else Bin("*", Int(abs(factor)), atom)
        if total is None:
            total = magnitude if factor > 0 else Bin("*", Int(factor), atom)
        else:
            total = Bin("+" if factor > 0 else "-", total, magnitude)
    if total is None:
        return Int(constant)
    if constant:
        return Bin("+" if constant > 0 else "-", total, Int(abs(constant)))
    return total


def _atom(e: Bin, facts: Facts) -> Index:
    """A division, remainder, minimum or maximum with simplified operands."""
    left, right = simplify(e.left, facts), simplify(e.right, facts)
    if e.op in ("min", "max"):
        return _extremum(e.op, left, right, facts)
    if not isinstance(right, Int):
        return Bin(e.op, left, right)
    return _division(e.op, left, right.value, facts)


def _extremum(op: str, left: Index, right: Index, facts: Facts) -> Index:
    difference = interval(Bin("-", left, right), facts)
    if difference.hi is not None and difference.hi <= 0:
        return left if op == "min" else right
    if difference.lo is not None and difference.lo >= 0:
        return right if op == "min" else left
    return Bin("min" if op == "min" else "max", left, right)


def _division(op: str, left: Index, divisor: int, facts: Facts) -> Index:
    if op == "ceildiv":
        return _division("//", simplify(Bin("+", left, Int(divisor - 1)), facts), divisor, facts)
    terms, constant = _linear(left, facts)
    whole = {a: f // divisor for a, f in terms.items() if f % divisor == 0}
    rest = {a: f for a, f in terms.items() if f % divisor}
    remainder = _rebuild(rest, constant % divisor if not rest else constant)
    if not rest:
        return _rebuild(whole, constant // divisor) if op == "//" else Int(constant % divisor)
    inside = interval(remainder, facts)
    fits = inside.lo is not None and inside.lo >= 0 and inside.hi is not None and inside.hi < divisor
    if op == "%":
        return remainder if fits else Bin("%", remainder, Int(divisor))
    if fits:
        return _rebuild(whole, 0)
    quotient = Bin("//", remainder, Int(divisor))
    return Bin("+", _rebuild(whole, 0), quotient) if whole else quotient


def simplify(e: Index, facts: Facts) -> Index:
    """An equal expression: constants gathered, divisions and remainders decided by the intervals in `facts`. It
    overflows 32 bits at no point where `e` does not: what gathering could make too large keeps the structure of `e`."""
    gathered = _normal(e, facts)
    return gathered if _computable(gathered, e, facts) else _kept(e, facts)


def _normal(e: Index, facts: Facts) -> Index:
    """`e` gathered, with no regard to the size of what its evaluation computes."""
    return _rebuild(*_linear(e, facts))


def _kept(e: Index, facts: Facts) -> Index:
    """`e` with only its operands simplified."""
    match e:
        case Bin("min" | "max" as op, left, right):
            return _extremum(op, simplify(left, facts), simplify(right, facts), facts)
        case Bin("ceildiv", left, Int(divisor)):
            return Bin("//", Bin("+", simplify(left, facts), Int(divisor - 1)), Int(divisor))
        case Bin(op, left, right):
            return Bin(op, simplify(left, facts), simplify(right, facts))
        case _:
            return e


def _computable(new: Index, source: Index, facts: Facts) -> bool:
    """Whether all that `new` computes on the way fits 32 bits or is a value that `source`, equal to it, computes."""
    large = [t for t in _parts(new) if not _fits(interval(t, facts))]
    if not large:
        return True
    values = {_value(t, facts) for t in (source, *_parts(source))}
    return all(_value(t, facts) in values for t in large)


def _parts(e: Index) -> Iterator[Index]:
    """The constants and operations inside an expression, and the sum that rounding up divides."""
    if isinstance(e, Bin):
        if e.op == "ceildiv":
            yield Bin("+", e.left, Bin("-", e.right, Int(1)))
        for operand in (e.left, e.right):
            yield from () if isinstance(operand, Var) else (operand,)
            yield from _parts(operand)


def _fits(values: Interval) -> bool:
    return values.lo is not None and values.hi is not None and values.lo >= -INT_MAX and values.hi <= INT_MAX


def _value(e: Index, facts: Facts) -> tuple[frozenset[tuple[Index, int]], int]:
    """Equal only for expressions of equal value."""
    terms, constant = _linear(e, facts)
    return frozenset(terms.items()), constant


def simplify_cond(c: Cond, facts: Facts) -> Cond:
    """An equal condition, a `Bool` if the intervals decide it."""
    match c:
        case Bool():
            return c
        case Not(arg):
            inner = simplify_cond(arg, facts)
            return Bool(not inner.value) if isinstance(inner, Bool) else Not(inner)
        case BoolOp(op, args):
            return _junction(op == "and", [simplify_cond(a, facts) for a in args])
        case Cmp(op, left, right):
            decided = _decide(op, interval(_normal(Bin("-", left, right), facts), facts))
            return Bool(decided) if decided is not None else Cmp(op, simplify(left, facts), simplify(right, facts))


def _junction(conjunction: bool, args: list[Cond]) -> Cond:
    if any(isinstance(a, Bool) and a.value is not conjunction for a in args):
        return Bool(not conjunction)
    rest = tuple(a for a in args if not isinstance(a, Bool))
    if not rest:
        return Bool(conjunction)
    return rest[0] if len(rest) == 1 else BoolOp("and" if conjunction else "or", rest)


def _decide(op: str, difference: Interval) -> bool | None:
    """The truth of `left op right` from the interval of left - right, or None."""
    lo, hi = difference.lo, difference.hi
    if op in (">", ">=", "!="):
        opposite = _decide({">": "<=", ">=": "<", "!=": "=="}[op], difference)
        return None if opposite is None else not opposite
    if op == "==":
        if lo is not None and lo == hi:
            return lo == 0
        return False if (lo is not None and lo > 0) or (hi is not None and hi < 0) else None
    bound = 0 if op == "<=" else -1
    if hi is not None and hi <= bound:
        return True
    return False if lo is not None and lo > bound else None
