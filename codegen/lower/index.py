"""Index expressions and conditions as C++ expressions over 32-bit integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exogpu.codegen.cuda.tree import Apply, Binary, Expr, IntLit, Name, Unary
from exogpu.codegen.fold import Facts, interval, simplify, simplify_cond
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var


@dataclass(frozen=True, slots=True)
class Indices:
    """Translates index expressions; `names` gives variables that are not plain user names."""

    facts: Facts
    names: Mapping[str, Expr]

    def expr(self, e: Index) -> Expr:
        """The simplified expression in C++."""
        return self._expr(simplify(e, self.facts))

    def cond(self, c: Cond) -> Expr:
        """The simplified condition in C++."""
        return self._cond(simplify_cond(c, self.facts))

    def _expr(self, e: Index) -> Expr:
        match e:
            case Int(value):
                return IntLit(value)
            case Var(name):
                return self.names.get(name, Name(name, user=True))
            case Bin("min" | "max" as op, left, right):
                return Apply(op, (self._expr(left), self._expr(right)))
            case Bin("//" | "%" as op, left, Int(divisor)):
                return self._divide(op, left, divisor)
            case Bin("+", Bin("*", Int(factor), left), right) if factor < 0:
                return Binary("-", self._expr(right), self._expr(Bin("*", Int(-factor), left)))
            case Bin("*", Int(1), right):
                return self._expr(right)
            case Bin("*", Int(factor), right):
                return Binary("*", self._expr(right), IntLit(factor))
            case Bin(op, left, right):
                return Binary(op, self._expr(left), self._expr(right))

    def _divide(self, op: str, left: Index, divisor: int) -> Expr:
        """Floor division and its remainder; C++ truncates, so shifts and masks, or a known sign, are needed."""
        x = self._expr(left)
        if divisor & (divisor - 1) == 0:
            if op == "%":
                return Binary("&", x, IntLit(divisor - 1))
            return Binary(">>", x, IntLit(divisor.bit_length() - 1))
        lowest = interval(left, self.facts).lo
        if lowest is not None and lowest >= 0:
            return Binary("/" if op == "//" else "%", x, IntLit(divisor))
        return Apply("floor_div" if op == "//" else "floor_mod", (x, IntLit(divisor)))

    def _cond(self, c: Cond) -> Expr:
        match c:
            case Bool(value):
                return Name("true" if value else "false")
            case Not(arg):
                return Unary("!", self._cond(arg))
            case Cmp(op, left, right):
                return Binary(op, self._expr(left), self._expr(right))
            case BoolOp(op, args):
                joined = self._cond(args[0])
                for arg in args[1:]:
                    joined = Binary("&&" if op == "and" else "||", joined, self._cond(arg))
                return joined
