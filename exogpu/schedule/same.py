"""Whether two data expressions have one value, for all sizes and iterations at which something known holds.

They are compared part by part; indices and conditions are equal if the solver proves it. A conversion to the type that
a value has anyway is no part. Where that fails, `told_apart` looks at single executions with data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import copysign

from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Cond, Index, Int
from exogpu.ir.linear import linear
from exogpu.ir.print_expr import value_text
from exogpu.ir.terms import both, equal, negated
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.value_type import Types, value_type
from exogpu.ir.walk import map_value

EXACT = 2**24
"""Integers up to it have one value in all types that are computed in."""

Prove = Callable[[Sequence[Cond], Cond], bool]
"""Whether what is known implies a condition."""


@dataclass(frozen=True, slots=True)
class Same:
    """Compares values of buffers with the given types."""

    types: Types
    prove: Prove

    def stored(self, a: Value, b: Value, given: Sequence[Cond], to: Scalar, op: str) -> bool:
        """Whether `= a` and `= b` (or `+=`, as `op` says) do the same to an element of type `to`."""
        a, b = (self._converted(v, to) if op == "=" else v for v in (a, b))
        expected = value_type(Read("to", ()), {"to": to}) or to
        return self.values(a, b, given, expected, expected)

    def values(self, a: Value, b: Value, given: Sequence[Cond], wants_a: Scalar, wants_b: Scalar) -> bool:
        """Whether two values are equal, where literals adapt to the wanted types."""
        a, b = self._plain(a), self._plain(b)
        if a == b and wants_a is wants_b:
            return True
        kind_a, kind_b = value_type(a, self.types) or wants_a, value_type(b, self.types) or wants_b
        if isinstance(a, Select):
            return self._branches(a, given, lambda part, known: self.values(part, b, known, kind_a, wants_b))
        if isinstance(b, Select):
            return self._branches(b, given, lambda part, known: self.values(a, part, known, wants_a, kind_b))
        match a, b:
            case Read(x, i), Read(y, j):
                return x == y and len(i) == len(j) and self._equal(i, j, given)
            case Num(x), Num(y):
                same = x == y and copysign(1, x) == copysign(1, y)
                return same and (kind_a is kind_b or (x == round(x) and abs(x) <= EXACT))
            case FromIndex(i), FromIndex(j):
                return kind_a is kind_b and self._equal((i,), (j,), given)
        return kind_a is kind_b and self._operations(a, b, given, kind_a)

    def _operations(self, a: Value, b: Value, given: Sequence[Cond], kind: Scalar) -> bool:
        match a, b:
            case Neg(x), Neg(y):
                return self.values(x, y, given, kind, kind)
            case Cast(to, x), Cast(other, y):
                return to is other and self.values(x, y, given, Scalar.F64, Scalar.F64)
            case Call(f, x), Call(g, y):
                parts = zip(x, y, strict=False)
                return f == g and len(x) == len(y) and all(self.values(p, q, given, kind, kind) for p, q in parts)
            case Arith(f, x1, x2), Arith(g, y1, y2) if f == g:
                orders = ((y1, y2), (y2, y1)) if f in ("+", "*", "min", "max") else ((y1, y2),)
                return any(
                    self.values(x1, p, given, kind, kind) and self.values(x2, q, given, kind, kind) for p, q in orders
                )
        return False

    def _branches(self, s: Select, given: Sequence[Cond], check: Callable[[Value, Sequence[Cond]], bool]) -> bool:
        """Whether a check holds for both branches that can be taken."""
        yes, no = s.cond, negated(s.cond)
        return (check(s.then, (*given, yes)) or self.prove(given, no)) and (
            check(s.orelse, (*given, no)) or self.prove(given, yes)
        )

    def _equal(self, a: Sequence[Index], b: Sequence[Index], given: Sequence[Cond]) -> bool:
        differ = [(x, y) for x, y in zip(a, b, strict=True) if linear(x) != linear(y)]
        return not differ or self.prove(given, both(equal(x, y) for x, y in differ))

    def _converted(self, value: Value, to: Scalar) -> Value:
        """The value without a conversion that a store makes too; a literal alone has no type to be converted from."""
        typed = isinstance(value, Cast) and value.to is to and value_type(value.arg, self.types) is not None
        return value.arg if isinstance(value, Cast) and typed else value

    def _plain(self, value: Value) -> Value:
        while isinstance(value, Cast) and value_type(value.arg, self.types) is value.to:
            value = value.arg
        return value

    def told_apart(self, a: Value, b: Value, to: Scalar, env: Mapping[str, int]) -> tuple[str, str] | None:
        """The values that an execution computes, if there is data for which what it stores differs; else None."""
        one, other = (self._at(v, env) for v in (a, b))
        from exogpu.schedule.draws import differ  # only now: it loads NumPy

        apart = differ(one, other, self.types, to)
        return (value_text(one), value_text(other)) if apart else None

    def _at(self, value: Value, env: Mapping[str, int]) -> Value:
        """The value with numbers for indices, and without the branches that are not taken."""

        def node(v: Value) -> Value:
            match v:
                case Read(index=index):
                    return replace(v, index=tuple(Int(evaluate(i, env)) for i in index))
                case FromIndex(index):
                    return FromIndex(Int(evaluate(index, env)))
                case Select(cond, then, orelse):
                    return then if holds(cond, env) else orelse
                case _:
                    return self._plain(v)

        return map_value(value, node)
