"""The numbers that an index expression can have, as an arithmetic progression that holds them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from exogpu.ir.index import Bin, Index, IndexOp, Int, Var


@dataclass(frozen=True, slots=True)
class Progression:
    """`lo`, `lo + step`, ... up to `hi`, or without end if that is None; `step` is 0 for one number alone."""

    lo: int
    hi: int | None
    step: int

    def within(self, extent: int) -> range:
        """Those of its numbers that an array of this extent has."""
        if self.step == 0:
            return range(max(0, self.lo), min(extent, self.lo + 1))
        first = self.lo if self.lo >= 0 else self.lo % self.step
        return range(first, extent if self.hi is None else min(extent, self.hi + 1), self.step)

    def inside(self, extent: int) -> bool:
        """All its numbers are indices of such an array."""
        return self.lo >= 0 and self.hi is not None and self.hi < extent


Env = Mapping[str, Progression | None]
"""What names can stand for; None, and any other name: every number."""


def between(lo: int, hi: int | None, step: int) -> Progression:
    """The progression with these ends, of which the upper one may not be reached."""
    if hi is None:
        return Progression(lo, None, max(step, 1))
    last = lo + (max(hi, lo) - lo) // step * step if step else lo
    return Progression(lo, last, step if last > lo else 0)


def progression(e: Index, env: Env) -> Progression | None:
    """What an expression can be; None for every number."""
    match e:
        case Int(value):
            return Progression(value, value, 0)
        case Var(name):
            return env.get(name)
        case Bin("%", left, Int(divisor)):
            return _rest(progression(left, env), divisor)
        case Bin(op, left, right):
            a, b = progression(left, env), progression(right, env)
            return None if a is None or b is None else _combined(op, a, b)


def _combined(op: IndexOp, a: Progression, b: Progression) -> Progression | None:
    match op:
        case "+":
            return between(a.lo + b.lo, None if a.hi is None or b.hi is None else a.hi + b.hi, gcd(a.step, b.step))
        case "-":
            less = _times(b, -1)
            return None if less is None else _combined("+", a, less)
        case "*" if b.step == 0:
            return _times(a, b.lo)
        case "*" if a.step == 0:
            return _times(b, a.lo)
        case "//" if b.step == 0:
            return _quotient(a, b.lo)
        case "ceildiv" if b.step == 0:
            return _quotient(between(a.lo + b.lo - 1, None if a.hi is None else a.hi + b.lo - 1, a.step), b.lo)
        case "min" | "max":
            return _either(op, a, b)
        case _:
            return None


def _times(a: Progression, factor: int) -> Progression | None:
    if factor >= 0:
        return between(a.lo * factor, None if a.hi is None and factor else (a.hi or 0) * factor, a.step * factor)
    return None if a.hi is None else between(a.hi * factor, a.lo * factor, -a.step * factor)


def _quotient(a: Progression, divisor: int) -> Progression:
    step = a.step // divisor if a.step % divisor == 0 else 1
    return between(a.lo // divisor, None if a.hi is None else a.hi // divisor, step)


def _rest(a: Progression | None, divisor: int) -> Progression:
    if a is None:
        return between(0, divisor - 1, 1)
    if a.hi is not None and a.lo // divisor == a.hi // divisor:
        return between(a.lo % divisor, a.hi % divisor, a.step)
    step = gcd(a.step, divisor)
    return between(a.lo % step, divisor - 1, step)


def _either(op: IndexOp, a: Progression, b: Progression) -> Progression:
    step = gcd(a.step, b.step, a.lo - b.lo)
    ends = [p.hi for p in (a, b) if p.hi is not None]
    if op == "min":
        return between(min(a.lo, b.lo), min(ends, default=None), step)
    return between(max(a.lo, b.lo), max(ends) if len(ends) == 2 else None, step)
