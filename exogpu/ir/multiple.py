"""The largest known power of two that divides an index expression."""

from __future__ import annotations

from exogpu.ir.index import Bin, Index, Int, Var

ANY = 1 << 40
"""The divisor reported for zero."""


def known_multiple(e: Index) -> int:
    """A power of two that divides `e` for all values of its variables."""
    match e:
        case Int(value):
            return value & -value if value else ANY
        case Var():
            return 1
        case Bin("*", left, right):
            return min(known_multiple(left) * known_multiple(right), ANY)
        case Bin("+" | "-" | "min" | "max", left, right):
            return min(known_multiple(left), known_multiple(right))
        case Bin("%", left, right):
            return min(known_multiple(left), known_multiple(right))
        case Bin("//", left, Int(divisor)):
            both = known_multiple(left)
            return max(1, both // divisor) if divisor & (divisor - 1) == 0 else 1
        case Bin():
            return 1
