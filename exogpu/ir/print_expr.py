"""Expressions as surface text; `exogpu.ir.printer` prints the rest."""

from __future__ import annotations

from typing import Final

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.walk import index_names

_SUM, _PRODUCT, _ATOM = 1, 2, 3
_LEVEL: Final = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT}


def _infix(op: str, left: str, left_level: int, right: str, right_level: int) -> str:
    level = _LEVEL[op]
    first = f"({left})" if left_level < level else left
    second = f"({right})" if right_level <= level else right
    return f"{first} {op} {second}"


def _index_level(e: Index) -> int:
    return _LEVEL.get(e.op, _ATOM) if isinstance(e, Bin) else _ATOM


def index_text(e: Index) -> str:
    """An index expression."""
    match e:
        case Var(name):
            return name
        case Int(value):
            return str(value)
        case Bin(op, left, right) if op in _LEVEL:
            return _infix(op, index_text(left), _index_level(left), index_text(right), _index_level(right))
        case Bin(op, left, right):
            return f"{op}({index_text(left)}, {index_text(right)})"


def cond_text(c: Cond) -> str:
    """A condition."""
    match c:
        case Bool(value):
            return str(value)
        case Cmp(op, left, right):
            return f"{index_text(left)} {op} {index_text(right)}"
        case BoolOp(op, args):
            return f" {op} ".join(f"({cond_text(a)})" if isinstance(a, BoolOp) else cond_text(a) for a in args)
        case Not(BoolOp() as arg):
            return f"not ({cond_text(arg)})"
        case Not(arg):
            return f"not {cond_text(arg)}"


def _value_level(v: Value) -> int:
    match v:
        case Arith(op):
            return _LEVEL.get(op, _ATOM)
        case FromIndex(index) if index_names(index):
            return _index_level(index)
        case _:
            return _ATOM


def _explicit(v: Value) -> str:
    """As an operand of an operation that also exists on indices: `index(e)` keeps it a number."""
    return f"index({index_text(v.index)})" if isinstance(v, FromIndex) else value_text(v)


def value_text(v: Value) -> str:
    """A data expression."""
    match v:
        case Read(buffer, ()):
            return buffer
        case Read(buffer, index):
            return f"{buffer}[{', '.join(index_text(i) for i in index)}]"
        case Num(value):
            return repr(value)
        case FromIndex(index):
            return index_text(index) if index_names(index) else f"index({index_text(index)})"
        case Neg(arg):
            return _negated(arg)
        case Arith(op, left, right):
            return _arithmetic(op, left, right)
        case Call(fn, args):
            return f"{fn}({', '.join(value_text(a) for a in args)})"
        case Cast(to, arg):
            return f"cast({to.value}, {value_text(arg)})"
        case Select(cond, then, orelse):
            return f"select({cond_text(cond)}, {value_text(then)}, {value_text(orelse)})"


def _negated(arg: Value) -> str:
    match arg:
        case Num(value):  # a bare minus would become part of the number
            return f"-(+{value!r})" if value >= 0 else f"-({value!r})"
        case Arith():
            return f"-({value_text(arg)})"
        case _:
            return f"-{_explicit(arg)}"


def _arithmetic(op: str, left: Value, right: Value) -> str:
    both = isinstance(left, FromIndex) and isinstance(right, FromIndex)
    first, second = (_explicit(left), _explicit(right)) if both else (value_text(left), value_text(right))
    if op not in _LEVEL:
        return f"{op}({first}, {second})"
    levels = (_ATOM, _ATOM) if both else (_value_level(left), _value_level(right))
    return _infix(op, first, levels[0], second, levels[1])
