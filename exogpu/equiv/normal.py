"""Index expressions and conditions in a normal form: sums of digits, in which mixed radix numbers fall together.

A digit is `x // a % b`, written (x, a, b); b is None where there is no remainder. Two rules do most of the work:
`(x, a, b) + b * (x, a * b, c) == (x, a, b * c)`, and a division by n reaches into the part that n does not divide only
as far as what lies below it may overflow. Every rule is an identity of integers, for all values in the ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

from exogpu.equiv.ranges import ANY, Range, Ranges, scaled, total_range
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, CmpOp, Cond, Index, Int, Not, Var
from exogpu.ir.linear import Linear
from exogpu.ir.terms import both, divide, either, negated, total

Digit = tuple[Index, int, int | None]


@dataclass(frozen=True, slots=True)
class Normal:
    """The normal forms for given ranges of variables."""

    ranges: Ranges

    def index(self, e: Index) -> Index:
        """An equal expression, the same for many equal ones."""
        return _expression(self.linear(e))

    def cond(self, c: Cond) -> Cond:
        """An equivalent condition; true or false where the ranges tell."""
        match c:
            case Bool():
                return c
            case Not(arg):
                return negated(self.cond(arg))
            case BoolOp(op, args):
                parts = (self.cond(a) for a in args)
                return both(parts) if op == "and" else either(parts)
            case Cmp(op, left, right):
                return self._compared(op, self.linear(Bin("-", left, right)))

    def _compared(self, op: CmpOp, form: Linear) -> Cond:
        """`form op 0`."""
        match op:
            case ">" | ">=":
                return self._compared("<" if op == ">" else "<=", Linear({}, 0).plus(form, -1))
            case "<":
                return self._compared("<=", Linear(form.terms, form.const + 1))
            case "!=":
                return negated(self._compared("==", form))
            case "<=" | "==":
                pass
        lo, hi = self.range(form)
        if op == "<=" and ((hi is not None and hi <= 0) or (lo is not None and lo > 0)):
            return Bool(hi is not None and hi <= 0)
        if op == "==" and ((lo is not None and lo > 0) or (hi is not None and hi < 0) or lo == hi == 0):
            return Bool(lo == hi == 0)
        factor = gcd(*form.terms.values())
        if op == "==" and form.const % factor:
            return Bool(False)
        terms, const = {a: c // factor for a, c in form.terms.items()}, -(-form.const // factor)
        if op == "==" and terms[min(terms, key=text)] < 0:
            terms, const = {a: -c for a, c in terms.items()}, -const
        left = _expression(Linear({a: c for a, c in terms.items() if c > 0}, max(const, 0)))
        right = _expression(Linear({a: -c for a, c in terms.items() if c < 0}, max(-const, 0)))
        return Cmp(op, left, right)

    # -- ranges ------------------------------------------------------------------------------------------------

    def range(self, form: Linear) -> Range:
        """Where the values of a form lie."""
        return total_range(form.const, (scaled(self._atom_range(a), c) for a, c in form.terms.items()))

    def _atom_range(self, atom: Index) -> Range:
        match atom:
            case Var(name):
                return self.ranges.get(name, ANY)
            case Bin("//", inner, Int(n)):
                lo, hi = self.range(self.linear(inner))
                return None if lo is None else lo // n, None if hi is None else hi // n
            case Bin("%", _, Int(n)):
                return 0, n - 1
            case Bin("min" | "max" as op, left, right):
                (a, b), (c, d) = self.range(self.linear(left)), self.range(self.linear(right))
                pick = min if op == "min" else max
                return None if a is None or c is None else pick(a, c), None if b is None or d is None else pick(b, d)
            case _:
                return ANY

    # -- sums of digits ----------------------------------------------------------------------------------------

    def linear(self, e: Index) -> Linear:
        """An expression as a sum of multiples of digits and of other atoms."""
        match e:
            case Int(value):
                return Linear({}, value)
            case Var():
                return Linear({e: 1}, 0)
            case Bin("+" | "-" as op, left, right):
                return _merged(self.linear(left).plus(self.linear(right), 1 if op == "+" else -1))
            case Bin("*", left, right):
                a, b = self.linear(left), self.linear(right)
                if a.terms and b.terms:
                    return Linear({Bin("*", _expression(a), _expression(b)): 1}, 0)
                return Linear({}, 0).plus(b, a.const) if not a.terms else Linear({}, 0).plus(a, b.const)
            case Bin("//", left, Int(n)):
                return _merged(self.quotient(self.linear(left), n))
            case Bin("%", left, Int(n)):
                return _merged(self.remainder(self.linear(left), n))
            case Bin("ceildiv", left, Int(n)):
                return _merged(self.quotient(self.linear(left).plus(Linear({}, n - 1)), n))
            case Bin("min" | "max" as op, left, right):
                return self._extreme(op == "min", self.linear(left), self.linear(right))
            case Bin():
                return Linear({e: 1}, 0)

    def _extreme(self, least: bool, a: Linear, b: Linear) -> Linear:
        lo, hi = self.range(a.plus(b, -1))
        if hi is not None and hi <= 0:
            return a if least else b
        if lo is not None and lo >= 0:
            return b if least else a
        left, right = sorted((_expression(a), _expression(b)), key=text)
        return Linear({Bin("min" if least else "max", left, right): 1}, 0)

    def quotient(self, form: Linear, n: int) -> Linear:
        """`form // n`."""
        whole, rest = form.divided(n)
        return whole.plus(self._digit(rest, n)[0])

    def remainder(self, form: Linear, n: int) -> Linear:
        """`form % n`."""
        return self._digit(form.divided(n)[1], n)[1]

    def _digit(self, form: Linear, n: int) -> tuple[Linear, Linear]:
        """Quotient and remainder of what n divides no coefficient of."""
        lo, hi = self.range(form)
        if lo is not None and hi is not None and lo // n == hi // n:
            return Linear({}, lo // n), form.plus(Linear({}, n * (lo // n)), -1)
        for g in sorted({gcd(c, n) for c in form.terms.values()} - {1}, reverse=True):
            above, below = form.divided(g)
            least, most = self.range(below)
            if least is not None and most is not None and least >= 0 and most < g:
                quotient, rest = self._digit_of(above, n // g)
                return quotient, Linear({}, 0).plus(rest, g).plus(below)
        return self._plain(form, n)

    def _digit_of(self, form: Linear, n: int) -> tuple[Linear, Linear]:
        return self.quotient(form, n), self.remainder(form, n)

    def _plain(self, form: Linear, n: int) -> tuple[Linear, Linear]:
        """Quotient and remainder as digits, where a digit of a digit is one."""
        if len(form.terms) == 1 and not form.const and next(iter(form.terms.values())) == 1:
            x, a, b = _as_digit(next(iter(form.terms)))
            if b is None or b % n == 0:
                rest = None if b is None else b // n
                quotient = Linear({}, 0) if rest == 1 else Linear({_digit_index((x, a * n, rest)): 1}, 0)
                return quotient, Linear({_digit_index((x, a, n)): 1}, 0)
        whole = _expression(form)
        return Linear({Bin("//", whole, Int(n)): 1}, 0), Linear({Bin("%", whole, Int(n)): 1}, 0)


def _as_digit(atom: Index) -> Digit:
    match atom:
        case Bin("%", Bin("//", x, Int(a)), Int(b)):
            return x, a, b
        case Bin("%", x, Int(b)):
            return x, 1, b
        case Bin("//", x, Int(a)):
            return x, a, None
        case _:
            return atom, 1, None


def _digit_index(digit: Digit) -> Index:
    x, a, b = digit
    quotient = divide(x, a)
    return quotient if b is None else divide(quotient, b, "%")


def _merged(form: Linear) -> Linear:
    """Neighbouring digits of one number put together."""
    while (pair := next(_neighbours(form), None)) is not None:
        low, high, digit = pair
        terms = dict(form.terms)
        factor = terms.pop(low)
        del terms[high]
        form = Linear(terms, form.const).plus(_digit_form(digit), factor)
    return form


def _digit_form(digit: Digit) -> Linear:
    """A digit as a form; the whole of a number is what it is a sum of."""
    x, a, b = digit
    if a == 1 and b is None and isinstance(x, Bin):
        return Normal({}).linear(x)
    return Linear({_digit_index(digit): 1}, 0)


def _neighbours(form: Linear) -> Iterator[tuple[Index, Index, Digit]]:
    digits = [(atom, c, _as_digit(atom)) for atom, c in form.terms.items()]
    for low, c, (x, a, b) in digits:
        for high, d, (y, e, f) in digits:
            if b is not None and y == x and e == a * b and d == c * b:
                yield low, high, (x, a, None if f is None else b * f)


def _expression(form: Linear) -> Index:
    """A form as an expression, its terms in one order."""
    return total(Linear(dict(sorted(form.terms.items(), key=lambda term: text(term[0]))), form.const))


def text(e: Index) -> str:
    """An expression as a key to sort by."""
    match e:
        case Var(name):
            return name
        case Int(value):
            return str(value)
        case Bin(op, left, right):
            return f"({text(left)} {op} {text(right)})"
