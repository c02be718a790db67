"""Whether it matters which sign a sum has that is zero: `x + 0` is x, but if x is -0, of which a divisor makes -inf."""

from __future__ import annotations

from collections.abc import Iterator
from math import copysign

from exogpu.equiv.symbolic import Choice, Const, Held, Number, Op, Rounded, Sum, Sym


def is_plus_zero(value: Sym) -> bool:
    """Zero, and not -0."""
    return isinstance(value, Const) and value.is_zero and copysign(1.0, value.value) > 0


def sign_shows(value: Sym) -> bool:
    """Whether a value may be another number, and not only another zero, where a sum in it is the other zero. All other
    functions give the same for both zeros, or zeros."""
    match value:
        case Op("/", _, (_, divisor)) if _adds(divisor):
            return True
        case Op("rsqrt", _, (arg,)) if _adds(arg):
            return True
    return any(map(sign_shows, _parts(value)))


def _adds(value: Sym) -> bool:
    match value:
        case Sum(op="+", dtype=dtype) | Op(op="+", dtype=dtype) if dtype.is_float:
            return True
    return any(map(_adds, _parts(value)))


def _parts(value: Sym) -> Iterator[Sym]:
    match value:
        case Op(args=args):
            yield from args
        case Rounded(arg=arg):
            yield arg
        case Choice(then=then, orelse=orelse):
            yield then
            yield orelse
        case Sum(start=start, terms=terms):
            yield start
            yield from (term.value for term in terms)
        case Held() | Const() | Number():
            pass
