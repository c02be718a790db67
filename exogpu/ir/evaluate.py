"""Concrete values of index expressions and conditions."""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, CmpOp, Cond, Index, IndexOp, Int, Not, Var


def evaluate(e: Index, env: Mapping[str, int]) -> int:
    """The integer value of an index expression; KeyError for a name not in `env`."""
    match e:
        case Var(name):
            return env[name]
        case Int(value):
            return value
        case Bin(op, left, right):
            return operate(op, evaluate(left, env), evaluate(right, env))


def operate(op: IndexOp, a: int, b: int) -> int:
    """What an operator of index expressions gives."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return a // b
        case "%":
            return a % b
        case "ceildiv":
            return -(-a // b)
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)


def const(e: Index | Cond) -> int:
    """The value of a literal expression."""
    if isinstance(e, Var | Int | Bin):
        return evaluate(e, {})
    raise TypeError("an integer literal was expected")


def holds(c: Cond, env: Mapping[str, int]) -> bool:
    """The truth value of a condition."""
    match c:
        case Bool(value):
            return value
        case Not(arg):
            return not holds(arg, env)
        case BoolOp(op, args):
            return all(holds(a, env) for a in args) if op == "and" else any(holds(a, env) for a in args)
        case Cmp(op, left, right):
            return compare(op, evaluate(left, env), evaluate(right, env))


def compare(op: CmpOp, a: int, b: int) -> bool:
    """Whether a comparison holds."""
    match op:
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case ">=":
            return a >= b
        case "==":
            return a == b
        case "!=":
            return a != b
