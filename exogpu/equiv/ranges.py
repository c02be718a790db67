"""Ranges of integers: what plain facts say about variables, and sums of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exogpu.ir.index import BoolOp, Cmp, Cond, Int, Var

Range = tuple[int | None, int | None]
"""The least and the greatest value; None where there is no such bound."""
Ranges = Mapping[str, Range]
ANY: Range = (None, None)


def scaled(span: Range, factor: int) -> Range:
    """The range of a multiple."""
    lo, hi = (None if bound is None else bound * factor for bound in span)
    return (lo, hi) if factor > 0 else (hi, lo)


def total_range(const: int, parts: Iterable[Range]) -> Range:
    """The range of a sum."""
    lo: int | None = const
    hi: int | None = const
    for least, most in parts:
        lo = None if lo is None or least is None else lo + least
        hi = None if hi is None or most is None else hi + most
    return lo, hi


def ranges_of(facts: Iterable[Cond]) -> dict[str, Range]:
    """What comparisons of variables with numbers say."""
    out: dict[str, Range] = {}
    for fact in facts:
        match fact:
            case BoolOp("and", args):
                for name, (lo, hi) in ranges_of(args).items():
                    _narrow(out, name, lo, hi)
            case Cmp(op, Var(name), Int(value)):
                _narrow(out, name, *_bounds(op, value))
            case Cmp(op, Int(value), Var(name)):
                _narrow(out, name, *_bounds(_MIRRORED[op], value))
            case _:
                pass
    return out


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _bounds(op: str, value: int) -> Range:
    """The values v with `v op value`, for a comparison that bounds them."""
    match op:
        case "<" | "<=":
            return None, value - (op == "<")
        case ">" | ">=":
            return value + (op == ">"), None
        case "==":
            return value, value
        case _:
            return ANY


def _narrow(out: dict[str, Range], name: str, lo: int | None, hi: int | None) -> None:
    least, most = out.get(name, ANY)
    lo = least if lo is None else lo if least is None else max(lo, least)
    hi = most if hi is None else hi if most is None else min(hi, most)
    out[name] = (lo, hi)
