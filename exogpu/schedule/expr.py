"""Expressions that operators take: Python integers, expressions over `var("k")`, or text of the language."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Annotated

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.integers import as_integer
from exogpu.ir.print_expr import cond_text, index_text
from exogpu.ir.syntax import COMPARISONS, FUNCTIONS, OPERATORS
from exogpu.ir.terms import add, divide, subtract, times
from exogpu.schedule.errors import Refused
from exogpu.schedule.signature import checked


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """An index expression that Python operators build up; comparisons give conditions."""

    index: Index

    def __add__(self, other: Expr | int) -> Expr:
        return Expr(add(self.index, as_index(other)))

    def __radd__(self, other: int) -> Expr:
        return Expr(add(as_index(other), self.index))

    def __sub__(self, other: Expr | int) -> Expr:
        return Expr(subtract(self.index, as_index(other)))

    def __rsub__(self, other: int) -> Expr:
        return Expr(subtract(as_index(other), self.index))

    def __mul__(self, factor: int) -> Expr:
        return Expr(times(_factor(factor), self.index))

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Expr:
        return Expr(divide(self.index, _factor(divisor)))

    def __mod__(self, divisor: int) -> Expr:
        return Expr(divide(self.index, _factor(divisor), "%"))

    def __lt__(self, other: Expr | int) -> Cond:
        return Cmp("<", self.index, as_index(other))

    def __le__(self, other: Expr | int) -> Cond:
        return Cmp("<=", self.index, as_index(other))

    def __gt__(self, other: Expr | int) -> Cond:
        return Cmp(">", self.index, as_index(other))

    def __ge__(self, other: Expr | int) -> Cond:
        return Cmp(">=", self.index, as_index(other))

    def equals(self, other: Expr | int) -> Cond:
        """The condition that both have one value."""
        return Cmp("==", self.index, as_index(other))

    def __str__(self) -> str:
        return index_text(self.index)


IndexLike = int | str | Expr | Index
CondLike = Annotated[str | Cond, "compare expressions for equality by `a.equals(b)`"]


@checked
def var(name: str) -> Expr:
    """A size or loop variable."""
    return Expr(Var(name))


def as_index(e: IndexLike) -> Index:
    """An index expression as a node."""
    match e:
        case Expr(index):
            return index
        case str():
            return _index(e, _syntax(e))
        case Var() | Int() | Bin():
            return e
    number = as_integer(e)
    if number is None:
        raise Refused("schedule.expression", f"`{e}` is no integer, index expression or text of one")
    return Int(number)


def _factor(n: object) -> int:
    number = as_integer(n)
    if number is None:
        raise Refused("schedule.expression", f"`{n}` is no integer: factors and divisors are")
    return number


def as_cond(c: CondLike) -> Cond:
    """A condition as a node."""
    match c:
        case str():
            return _cond(c, _syntax(c))
        case Cmp() | BoolOp() | Not() | Bool():
            return c
        case _:
            help = "compare expressions for equality by `a.equals(b)`"
            raise Refused("schedule.expression", f"`{c}` is no condition or text of one", help=help)


def words(e: object) -> str:
    """An argument of an operator as text."""
    match e:
        case Var() | Int() | Bin():
            return index_text(e)
        case Cmp() | BoolOp() | Not() | Bool():
            return cond_text(e)
        case tuple() | list():
            return f"({', '.join(map(words, e))})"
        case _:
            return str(e)


def _syntax(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise Refused("schedule.expression", f"`{text}` is not an expression") from None


def _index(text: str, node: ast.expr) -> Index:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return Int(value)
        case ast.Name(id=name):
            return Var(name)
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            return Bin(OPERATORS[type(op)], _index(text, left), _index(text, right))
        case ast.UnaryOp(ast.USub(), operand):
            return subtract(Int(0), _index(text, operand))
        case ast.Call(ast.Name(id=name), [left, right], []) if name in FUNCTIONS:
            return Bin(FUNCTIONS[name], _index(text, left), _index(text, right))
    raise Refused("schedule.expression", f"`{text}` is not an index expression")


def _cond(text: str, node: ast.expr) -> Cond:
    match node:
        case ast.Constant(value=bool(value)):
            return Bool(value)
        case ast.BoolOp(op, values):
            return BoolOp("and" if isinstance(op, ast.And) else "or", tuple(_cond(text, v) for v in values))
        case ast.UnaryOp(ast.Not(), operand):
            return Not(_cond(text, operand))
        case ast.Compare(left, [op], [right]) if type(op) in COMPARISONS:
            return Cmp(COMPARISONS[type(op)], _index(text, left), _index(text, right))
    raise Refused("schedule.expression", f"`{text}` is not a condition")
