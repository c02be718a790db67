"""Ranges of variables where a condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exogpu.ir.index import OPPOSITE, Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.interp.linear import Ranges, interval_of, linear
from exogpu.ir.linear import Linear


def narrow(ranges: Ranges, cond: Cond, sizes: Mapping[str, int]) -> Ranges:
    """`ranges` without values for which `cond` cannot hold; an impossible condition may give empty ranges."""
    narrowed = dict(ranges)
    for e in _not_positive(cond, True):
        form = linear(e, sizes)
        for atom, c in form.terms.items():
            if isinstance(atom, Var):
                rest = form.plus(Linear({atom: c}, 0), -1)
                least, _ = interval_of(rest, narrowed)
                lo, hi = narrowed[atom.name]
                narrowed[atom.name] = (lo, min(hi, -least // c)) if c > 0 else (max(lo, -(-least // -c)), hi)
    return narrowed


def _not_positive(cond: Cond, holds: bool) -> Iterator[Index]:
    """Expressions that are at most 0 wherever `cond` has the truth value `holds`."""
    match cond:
        case Not(arg):
            yield from _not_positive(arg, not holds)
        case BoolOp(op, args) if (op == "and") == holds:
            for arg in args:
                yield from _not_positive(arg, holds)
        case Cmp(op, left, right):
            match op if holds else OPPOSITE[op]:
                case "<":
                    yield Bin("+", Bin("-", left, right), Int(1))
                case "<=":
                    yield Bin("-", left, right)
                case ">":
                    yield Bin("+", Bin("-", right, left), Int(1))
                case ">=":
                    yield Bin("-", right, left)
                case "==":
                    yield Bin("-", left, right)
                    yield Bin("-", right, left)
                case "!=":
                    pass
        case BoolOp() | Bool():
            pass
