"""Which loops may run all their iterations at once.

Two iterations of a loop are *independent* if no two of their accesses to one buffer, at least one of them a
write, can meet at one element. The iterations of enclosing loops are the same for both; inner loop variables
take any values. Independence of a pair of accesses is shown in one of two ways:

* some dimension separates them: the difference of their indices is never 0;
* the element tells the iteration. Where one dimension of both indices has the form `h + c*t + low + high` with
  the same `h` over enclosing variables, the same c > |difference of the lows|, and all of `high` a multiple of a C
  with C > c*|difference of the t| + |difference of the lows|, equal indices force equal t. Here t is a digit of
  the loop variable v: `v`, `v // a`, `v % b` or `v // a % b`. Equal digits that cover v force equal v.

Two `+=` of one buffer may meet: they commute up to the rounding of sums.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.interp.linear import Interval, Ranges, interval
from exogpu.ir.linear import Linear
from exogpu.ir.walk import index_names

Digit = tuple[int, int | None]
"""(a, b) stands for v // a % b; without b, for v // a."""


class Order(enum.Enum):
    """How the iterations of a loop may be run: in order, together with sums collected, or freely together."""

    SERIAL = "serial"
    SUMS = "sums"
    FREE = "free"


class Mode(enum.Enum):
    """What an access does; `SUM` is a `+=` whose buffer tolerates reassociation."""

    READ = "read"
    WRITE = "write"
    SUM = "sum"


@dataclass(frozen=True, slots=True)
class Access:
    """One access, with its index and the values that variables in scope may take there."""

    buffer: str
    mode: Mode
    index: tuple[Linear, ...]
    ranges: Ranges


def order_of(var: str, accesses: Sequence[Access], enclosing: frozenset[str]) -> Order:
    """How the loop over `var` with these accesses inside may be run."""
    order = Order.FREE
    for a, b in combinations_with_replacement(accesses, 2):
        if a.buffer != b.buffer or a.mode == b.mode == Mode.READ or _independent(a, b, var, enclosing):
            continue
        if a.mode == b.mode == Mode.SUM:
            order = Order.SUMS
        else:
            return Order.SERIAL
    return order


_Term = tuple[Index, int, Interval]
"""An atom, its coefficient, and an interval of its values."""


@dataclass(frozen=True, slots=True)
class _Dimension:
    """One dimension of two accesses whose enclosing part is the same: what is left of either."""

    left: tuple[_Term, ...]
    right: tuple[_Term, ...]
    offset: int


def _independent(a: Access, b: Access, var: str, enclosing: frozenset[str]) -> bool:
    lo, hi = min(a.ranges[var][0], b.ranges[var][0]), max(a.ranges[var][1], b.ranges[var][1])
    if lo == hi:
        return True
    digits: set[Digit] = set()
    for d in range(len(a.index)):
        dimension = _dimension(a, b, d, enclosing)
        if dimension is None:
            continue
        if _separated(dimension):
            return True
        digits.update(_told(dimension, var))
    return _cover(digits, lo, hi)


def _dimension(a: Access, b: Access, d: int, enclosing: frozenset[str]) -> _Dimension | None:
    def parts(access: Access) -> tuple[dict[Index, int], tuple[_Term, ...]]:
        terms = access.index[d].terms
        shared = {atom: c for atom, c in terms.items() if index_names(atom) <= enclosing}
        rest = ((atom, c) for atom, c in terms.items() if atom not in shared)
        return shared, tuple((atom, c, interval(atom, access.ranges)) for atom, c in rest)

    (shared_a, left), (shared_b, right) = parts(a), parts(b)
    return _Dimension(left, right, a.index[d].const - b.index[d].const) if shared_a == shared_b else None


def _sum_interval(terms: Iterable[_Term]) -> Interval:
    lo = hi = 0
    for _, c, (first, last) in terms:
        lo, hi = lo + min(c * first, c * last), hi + max(c * first, c * last)
    return lo, hi


def _separated(d: _Dimension) -> bool:
    (a, b), (e, f) = _sum_interval(d.left), _sum_interval(d.right)
    return a + d.offset > f or b + d.offset < e


def _told(d: _Dimension, var: str) -> Iterator[Digit]:
    """The digits of `var` that this dimension determines."""
    for atom, coefficient, span in d.left:
        digit = digit_of(atom, var)
        twin = next((s for other, c, s in d.right if other == atom and c == coefficient), None)
        if digit is None or twin is None:
            continue
        c = abs(coefficient)
        left, right = ([t for t in side if t[0] != atom] for side in (d.left, d.right))
        (a, b), (e, f) = (_sum_interval(t for t in side if abs(t[1]) <= c) for side in (left, right))
        low = max(abs(b + d.offset - e), abs(a + d.offset - f))
        high = math.gcd(*(t[1] for t in left + right if abs(t[1]) > c))
        reach = c * max(abs(span[1] - twin[0]), abs(twin[1] - span[0])) + low
        if low < c and (high == 0 or reach < high):
            yield digit


def digit_of(atom: Index, var: str) -> Digit | None:
    """The digit of `var` that `atom` is, if any."""
    match atom:
        case Var(name) if name == var:
            return 1, None
        case Bin("//", inner, Int(m)) if (digit := digit_of(inner, var)) is not None:
            a, b = digit
            if b is None:
                return a * m, None
            return (a * m, b // m) if b % m == 0 else None
        case Bin("%", inner, Int(m)) if (digit := digit_of(inner, var)) is not None:
            a, b = digit
            return (a, m) if b is None or b % m == 0 else None
    return None


def _cover(digits: set[Digit], lo: int, hi: int) -> bool:
    """Whether the digits determine a value between `lo` and `hi`."""
    place = 1
    while True:
        here = [b for a, b in digits if a == place]
        if not here:
            return False
        known = [b for b in here if b is not None]
        if len(known) < len(here) or (lo >= 0 and place * max(known) > hi):
            return True
        if max(known) == 1:
            return False
        place *= max(known)
