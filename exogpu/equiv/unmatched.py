"""What of two values is not known to be the same, in words: the smallest part of each that differs."""

from __future__ import annotations

from exogpu.equiv.conditions import Exhausted, Facts, joined
from exogpu.equiv.same import Comparison
from exogpu.equiv.symbolic import Choice, Const, Held, Number, Op, Rounded, Sum, Sym
from exogpu.ir.print_expr import index_text

_OPERATIONS = {"+": "a sum of two", "-": "a difference", "*": "a product", "/": "a quotient", "neg": "a negation"}


def unmatched(comparison: Comparison, a: Sym, b: Sym, facts: Facts) -> tuple[str, str] | None:
    """The parts of two values that are not the same; None if the budget for questions does not suffice to find them."""
    try:
        one, other = _parts(comparison, a, b, facts)
    except Exhausted:
        return None
    return words(one), words(other)


def _parts(comparison: Comparison, a: Sym, b: Sym, facts: Facts) -> tuple[Sym, Sym]:
    for conds, x in comparison.cases.of(a, facts):
        here = joined(facts, conds)
        for more, y in comparison.cases.of(b, here):
            known = joined(here, more)
            if not comparison.same(x, y, known):
                return _inner(comparison, x, y, known)
    return a, b


def _inner(comparison: Comparison, a: Sym, b: Sym, facts: Facts) -> tuple[Sym, Sym]:
    """The parts, of values in one case: inside roundings and operations that both have."""
    match a, b:
        case Rounded(to, x), Rounded(other, y) if to is other:
            return _parts(comparison, x, y, facts)
        case Op(op, kind, args), Op(other, there, others) if (op, kind, len(args)) == (other, there, len(others)):
            apart = [(x, y) for x, y in zip(args, others, strict=True) if not comparison.same(x, y, facts)]
            if len(apart) == 1:
                return _parts(comparison, *apart[0], facts)
    return a, b


def words(value: Sym) -> str:
    """A value in a few words."""
    match value:
        case Held(name, ()):
            return f"`{name}`"
        case Held(name, index):
            return f"`{name}[{', '.join(map(index_text, index))}]`"
        case Const(number):
            return f"{number:g}"
        case Number(index):
            return f"the index `{index_text(index)}`"
        case Rounded(to):
            return f"a value rounded to {to.value}"
        case Op(op, kind):
            return f"{_OPERATIONS.get(op, f'`{op}`')} in {kind.value}"
        case Sum(kind, op=op):
            return f"{'a sum' if op == '+' else f'the {op}'} over iterations in {kind.value}"
        case Choice():
            return "one of two values"
