"""The proof that two procedures compute the same: for every tensor that one of them writes, what an element holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from exogpu.equiv.conditions import Logic, joined
from exogpu.equiv.flat import flatten
from exogpu.equiv.reach import Reach, Unresolved
from exogpu.equiv.same import Comparison
from exogpu.ir.index import Cmp, Cond, Int, Var
from exogpu.ir.interp import written_tensors
from exogpu.ir.proc import Proc, TensorArg
from exogpu.schedule.facts import known_sizes
from exogpu.source import Span


@dataclass(frozen=True, slots=True)
class Equal:
    """Proved, element by element."""

    tensors: tuple[str, ...]
    reassociated: bool


@dataclass(frozen=True, slots=True)
class Open:
    """Not proved, and why."""

    reason: str
    span: Span


def prove(a: Proc, b: Proc) -> Equal | Open:
    """Whether both leave the same in every tensor, at all sizes that both allow; their arguments are the same."""
    facts = tuple(dict.fromkeys((*known_sizes(a), *known_sizes(b))))
    logic, names = Logic(), count()
    one, other = Reach(flatten(a), logic, names), Reach(flatten(b), logic, names)
    comparison = Comparison(logic)
    written = tuple(dict.fromkeys((*written_tensors(a), *written_tensors(b))))
    for name in written:
        tensor = next(t for t in a.args if isinstance(t, TensorArg) and t.name == name)
        cell = tuple(Var(f"{name}[{d}]") for d in range(len(tensor.shape)))
        ranges: list[Cond] = []
        for v, extent in zip(cell, tensor.shape, strict=True):
            ranges += [Cmp(">=", v, Int(0)), Cmp("<", v, extent)]
        here = joined(joined((), facts), ranges)
        try:
            x, y = one.final(name, cell, here), other.final(name, cell, here)
        except Unresolved as e:
            return Open(e.reason, e.span)
        if not comparison.same(x, y, here):
            return Open(f"no proof that both leave the same in `{name}`", b.span)
    return Equal(written, comparison.reassociated)
