"""The proof that two procedures compute the same: for every tensor that one of them writes, what an element holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from exogpu.diagnostics import Label
from exogpu.equiv.bounds import inside, outside
from exogpu.equiv.conditions import Exhausted, Facts, Logic, joined
from exogpu.equiv.flat import flatten
from exogpu.equiv.reach import Reach, Unresolved
from exogpu.equiv.same import Comparison
from exogpu.equiv.unmatched import unmatched
from exogpu.equiv.zeros import sign_shows
from exogpu.ir.index import Var
from exogpu.ir.interp import written_tensors
from exogpu.ir.proc import Proc
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
    labels: tuple[Label, ...] = ()


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
        try:
            found = _tensor(one, other, name, facts)
        except Exhausted:
            return Open(f"the budget for solver questions is spent on `{name}`", other.flat.last(name))
        if isinstance(found, Open):
            return found
        reassociated += found.reassociated
    return Equal(tuple(reassociated))


def _tensor(one: Reach, other: Reach, name: str, facts: Facts) -> Equal | Open:
    """Whether both leave the same in one tensor. An element's coordinates are called as its dimensions, `name[0]`."""
    tensor = one.flat.tensors[name]
    cell = tuple(Var(f"{name}[{d}]") for d in range(len(tensor.shape)))
    here = joined(facts, inside(cell, tensor.shape))
    x, y = one.final(name, cell, here), other.final(name, cell, here)
    comparison = Comparison(one.logic, signed=sign_shows(x) or sign_shows(y))
    if comparison.same(x, y, here):
        return Equal((name,) if comparison.reassociated else ())
    reason, found = f"no proof that both leave the same in `{name}`", unmatched(comparison, x, y, here)
    ours, theirs = one.flat.proc.name, other.flat.proc.name
    if found is not None:
        reason += f": {found[0]} in `{ours}` is not matched with {found[1]} in `{theirs}`"
    return Open(reason, other.flat.last(name), (Label(one.flat.last(name), f"compared with this, in `{ours}`"),))
