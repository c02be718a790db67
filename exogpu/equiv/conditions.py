"""Conditions in conjuncts, and questions about them."""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.ir.index import Bool, BoolOp, Cmp, CmpOp, Cond, Not
from exogpu.schedule.proving import Proved, decide
from exogpu.schedule.terms import both, either

Facts = tuple[Cond, ...]

_OPPOSITE: dict[CmpOp, CmpOp] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def conjuncts(cond: Cond) -> Facts:
    """Conditions that hold together exactly where this one does; negations are pushed inwards."""
    match cond:
        case Bool(True):
            return ()
        case BoolOp("and", args):
            return tuple(c for arg in args for c in conjuncts(arg))
        case Not(arg):
            opposite = negation(arg)
            return conjuncts(opposite) if opposite != cond else (cond,)
        case _:
            return (cond,)


def negation(cond: Cond) -> Cond:
    """The opposite of a condition, with negations of comparisons only."""
    match cond:
        case Bool(value):
            return Bool(not value)
        case Not(arg):
            return arg
        case Cmp(op, left, right):
            return Cmp(_OPPOSITE[op], left, right)
        case BoolOp("and", args):
            return either(negation(a) for a in args)
        case BoolOp(_, args):
            return both(negation(a) for a in args)


def implied(facts: Facts, cond: Cond) -> bool:
    """Whether the facts are known to imply a condition."""
    if cond == Bool(True) or cond in facts:
        return True
    return isinstance(decide(facts, cond), Proved)


def impossible(facts: Facts) -> bool:
    """Whether the facts are known to contradict each other."""
    return isinstance(decide(facts, Bool(False)), Proved)


def open_ones(facts: Facts, conds: Sequence[Cond]) -> Facts:
    """Those conditions that the facts and the conditions before them do not imply."""
    left: list[Cond] = []
    for cond in conds:
        if not implied((*facts, *left), cond):
            left.append(cond)
    return tuple(left)
