"""The proof that two procedures compute the same: for every tensor that one of them writes, what an element holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from exogpu.equiv.bounds import inside, outside
from exogpu.equiv.conditions import Exhausted, Facts, Logic, joined
from exogpu.equiv.flat import flatten
from exogpu.equiv.reach import Reach, Unresolved
from exogpu.equiv.same import Comparison
from exogpu.ir.index import Var
from exogpu.ir.interp import written_tensors
from exogpu.ir.proc import Proc, TensorArg
from exogpu.source import Span


@dataclass(frozen=True, slots=True)
class Equal:
    """Proved, element by element; for `reassociated` up to the order of sums."""

    reassociated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """Not proved, and why."""

    reason: str
    span: Span


def written(a: Proc, b: Proc) -> tuple[str, ...]:
    """The tensors that one of them writes."""
    return tuple(dict.fromkeys((*written_tensors(a), *written_tensors(b))))


def prove(a: Proc, b: Proc, facts: Facts, logic: Logic) -> Equal | Open:
    """Whether both leave the same in every tensor wherever the facts hold; their arguments are the same."""
    try:
        return _proved(a, b, facts, logic)
    except Unresolved as e:
        return Open(e.reason, e.span)
    except Exhausted:
        return Open("the budget for solver questions is spent", b.span)


def _proved(a: Proc, b: Proc, facts: Facts, logic: Logic) -> Equal | Open:
    names = count()
    flats = flatten(a), flatten(b)
    for flat in flats:
        where = outside(flat, logic, facts)
        if where is not None:
            buffer, span = where
            return Open(f"no proof that `{flat.proc.name}` stays inside `{buffer}`", span)
    one, other = (Reach(flat, logic, names) for flat in flats)
    reassociated: list[str] = []
    for name in written(a, b):
        tensor = next(t for t in a.args if isinstance(t, TensorArg) and t.name == name)
        cell = tuple(Var(f"{name}[{d}]") for d in range(len(tensor.shape)))
        here = joined(facts, inside(cell, tensor.shape))
        comparison = Comparison(logic)
        x, y = one.final(name, cell, here), other.final(name, cell, here)
        if not comparison.same(x, y, here):
            return Open(f"no proof that both leave the same in `{name}`", b.span)
        reassociated += [name] if comparison.reassociated else []
    return Equal(tuple(reassociated))
