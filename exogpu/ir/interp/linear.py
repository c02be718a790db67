"""Index expressions with known sizes: linear forms, and intervals.

Division and remainder by m are first freed of the multiples of m, so `(8*x + y) // 4` becomes `2*x + y // 4` and
`(8*x + y) % 4` becomes `y % 4`; equal atoms have equal linear forms inside.
"""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.linear import Linear, fold

Interval = tuple[int, int]
"""Smallest and largest value, both included."""

Ranges = Mapping[str, Interval]
"""The values that each variable in scope may take."""

_ZERO = Linear({}, 0)


def linear(e: Index, sizes: Mapping[str, int]) -> Linear:
    """The linear form of `e`, sizes replaced by their values."""
    match e:
        case Int(value):
            return Linear({}, value)
        case Var(name):
            return Linear({}, sizes[name]) if name in sizes else Linear({e: 1}, 0)
        case Bin(op, left, right):
            a, b = linear(left, sizes), linear(right, sizes)
            match op:
                case "+":
                    return a.plus(b)
                case "-":
                    return a.plus(b, -1)
                case _ if not a.terms and not b.terms:
                    return Linear({}, fold(op, a.const, b.const))
                case "*" if not b.terms:
                    return _ZERO.plus(a, b.const)
                case "*" if not a.terms:
                    return _ZERO.plus(b, a.const)
                case "//" if not b.terms:
                    return _divided(a, b.const)
                case "ceildiv" if not b.terms:
                    return _divided(a.plus(Linear({}, b.const - 1)), b.const)
                case "%" if not b.terms:
                    return _remainder(a, b.const)
            return Linear({Bin(op, _index(a), _index(b)): 1}, 0)


def _index(form: Linear) -> Index:
    """An index expression of this linear form; equal forms give equal expressions."""
    result: Index = Int(form.const)
    for atom, coefficient in sorted(form.terms.items(), key=repr):
        result = Bin("+", result, Bin("*", Int(coefficient), atom) if coefficient != 1 else atom)
    return result.right if isinstance(result, Bin) and result.left == Int(0) else result


def _divided(a: Linear, m: int) -> Linear:
    whole = Linear({atom: c // m for atom, c in a.terms.items() if c % m == 0}, a.const // m)
    rest = a.plus(whole, -m)
    return whole.plus(Linear({Bin("//", _index(rest), Int(m)): 1}, 0)) if rest.terms else whole


def _remainder(a: Linear, m: int) -> Linear:
    rest = Linear({atom: c for atom, c in a.terms.items() if c % m}, a.const % m)
    return Linear({Bin("%", _index(rest), Int(m)): 1}, 0) if rest.terms else rest


def interval(e: Index, ranges: Ranges) -> Interval:
    """An interval that holds every value of `e`."""
    match e:
        case Int(value):
            return value, value
        case Var(name):
            return ranges[name]
        case Bin(op, left, right):
            (a, b), (c, d) = interval(left, ranges), interval(right, ranges)
            match op:
                case "+":
                    return a + c, b + d
                case "-":
                    return a - d, b - c
                case "*":
                    corners = (a * c, a * d, b * c, b * d)
                    return min(corners), max(corners)
                case "//":
                    return a // c, b // c
                case "ceildiv":
                    return -(-a // c), -(-b // c)
                case "%":
                    return (a % c, b % c) if a // c == b // c else (0, c - 1)
                case "min":
                    return min(a, c), min(b, d)
                case "max":
                    return max(a, c), max(b, d)


def interval_of(form: Linear, ranges: Ranges) -> Interval:
    """An interval that holds every value of a linear form."""
    lo = hi = form.const
    for atom, coefficient in form.terms.items():
        ends = [coefficient * end for end in interval(atom, ranges)]
        lo, hi = lo + min(ends), hi + max(ends)
    return lo, hi
