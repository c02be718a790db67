"""Loops that go on where another has stopped: they run from there on.

A proof names an iteration by its distance from one of another role. Where a role goes through a ring in two loops, and
the other in one, that distance is as long as the first loop; so the second one is written as going on from its end.
Loops of a block do if they wait for the same mbarriers once an iteration. A loop may be written with any values that
come one behind the other, so it does not matter for what is shown whether these are the best ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from exogpu.ir.index import Index, Int, Var
from exogpu.ir.linear import linear, literal
from exogpu.ir.skeleton.operations import Await
from exogpu.ir.skeleton.tree import Block, Elect, For, Skeleton, Stmt
from exogpu.ir.skeleton.walk import changed, children, in_each_role, with_blocks
from exogpu.ir.terms import add, subtract, times, total
from exogpu.verify.skeleton.inlined import with_values
from exogpu.verify.skeleton.mentions import counters, in_arguments, names_of


def shifted(skeleton: Skeleton) -> Skeleton:
    """The skeleton in which such loops begin where those before have ended."""
    fixed = in_arguments(skeleton)
    return in_each_role(skeleton, lambda stmts: _Shifter(skeleton, fixed, counters(stmts)).block(stmts))


@dataclass(frozen=True, slots=True)
class _Shifter:
    """`fixed`: variables that unknown numbers depend on; `changing`: what may have another value at the next use."""

    skeleton: Skeleton
    fixed: frozenset[str]
    changing: frozenset[str]

    def block(self, block: Block) -> Block:
        """The statements of a block, with what it waits for before each of its loops."""
        out: list[Stmt] = []
        waited: dict[str, Index] = {}
        for stmt in block:
            inner = with_blocks(stmt, [self.block(b) for b in children(stmt)])
            if isinstance(inner, For) and inner.var not in self.fixed:
                inner = _from(inner, self._start(inner, waited))
            out.append(inner)
            for barrier, n in _waits(stmt).items():
                waited[barrier] = _simple(add(waited.get(barrier, Int(0)), n))
        return tuple(out)

    def _start(self, loop: For, waited: Mapping[str, Index]) -> Index:
        """Where a loop goes on, or where it begins as it is written."""
        if literal(loop.lo) is None or literal(loop.hi) is not None:
            return loop.lo
        places = (waited.get(barrier) for barrier, n in _in(loop.body).items() if n == 1)
        return next((p for p in places if p is not None and self._stays(p)), loop.lo)

    def _stays(self, place: Index) -> bool:
        """It is no number, as such need no loop, and the same all the time that the loop goes on."""
        return literal(place) is None and not names_of(self.skeleton, place) & self.changing


def _from(loop: For, start: Index) -> For:
    if start == loop.lo:
        return loop
    by = _simple(subtract(start, loop.lo))
    body = _with({loop.var: subtract(Var(loop.var), by)}, loop.body)
    return replace(loop, lo=start, hi=_simple(add(loop.hi, by)), body=body)


def _with(values: Mapping[str, Index], block: Block) -> Block:
    """A block in which names have values."""
    own = (changed(s, partial(with_values, values)) for s in block)
    return tuple(with_blocks(s, [_with(values, b) for b in children(s)]) for s in own)


def _waits(stmt: Stmt) -> dict[str, Index]:
    """How often a statement waits for mbarriers, by their names."""
    if isinstance(stmt, For):
        trips = subtract(stmt.hi, stmt.lo)
        return {barrier: times(n, trips) for barrier, n in _in(stmt.body).items()}
    return {barrier: Int(n) for barrier, n in _in((stmt,)).items()}


def _in(block: Block) -> Counter[str]:
    return Counter(_awaited(block))


def _awaited(block: Block) -> Iterator[str]:
    """Each wait that is executed once, whatever the conditions."""
    for stmt in block:
        match stmt:
            case Await(barrier=ref):
                yield ref.name
            case Elect(body=body):
                yield from _awaited(body)
            case _:
                pass


def _simple(e: Index) -> Index:
    return total(linear(e))
