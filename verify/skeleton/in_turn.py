"""Additions that wait for their turn: `spin(f, v)` and then `signal_add(f, 1)` by one thread is a store of v + 1.

That is so if every change of the flag, which is 0 at first, is one of these, and no two have the same v: the addition
that comes k-th finds k - 1, and has waited for no more, so its v is at most k - 1; the smaller ones are taken, so it is
k - 1. (A v below 0 is waited for like 0, and counts as 0.) The values that are stored then have to differ, and that is
shown of stores anyway. The flag is one location, of which a thread never sees an older value than it has seen (PTX
memory model, coherence). The two stand in the same iteration, under the same conditions, of which nothing changes
between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from exogpu.ir.index import Bin, Cond, Index, Int, Var
from exogpu.ir.skeleton.operations import Signal, Spin
from exogpu.ir.skeleton.tree import RANK, TID, Block, Elect, For, If, Skeleton, Stmt
from exogpu.ir.skeleton.walk import Path, children, replaced
from exogpu.ir.terms import add
from exogpu.verify.skeleton.mentions import counters, names_in, names_of

Around = tuple[Path | tuple[Cond, int] | bool, ...]
"""Loops by their place, conditions with the arm, and elections around a statement."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A statement on a flag, and where it stands."""

    stmt: Signal | Spin
    path: Path
    around: Around


def in_turn(skeleton: Skeleton) -> Skeleton:
    """The skeleton with stores for the additions to those flags of which all wait for their turn."""
    turns: dict[str, dict[Path, Stmt]] = {}
    other: set[str] = set()
    never_below_0 = frozenset((*skeleton.sizes, TID, RANK))
    for number, body in enumerate(skeleton.bodies):
        found, changing = tuple(_found(body.stmts, (number,), ())), counters(body.stmts)
        fixed = [f for f in found if isinstance(f.stmt, Spin) and not _tested(skeleton, f) & changing]
        for place in found:
            signal = place.stmt
            if not isinstance(signal, Signal):
                continue
            waits = [f for f in fixed if _waits_for(f, place)]
            if waits:
                v = waits[-1].stmt.value
                stored = add(v if _natural(v, never_below_0) else Bin("max", v, Int(0)), Int(1))
                turns.setdefault(signal.flag.name, {})[place.path] = replace(signal, value=stored, adds=False)
            else:
                other.add(signal.flag.name)
    stores = {path: store for flag, its in turns.items() if flag not in other for path, store in its.items()}
    return replaced(skeleton, stores) if stores else skeleton


def _found(block: Block, path: Path, around: Around) -> Iterator[_Found]:
    for n, stmt in enumerate(block):
        here = (*path, n)
        match stmt:
            case Signal() | Spin():
                yield _Found(stmt, here, around)
            case For(body=body):
                yield from _found(body, (*here, 0), (*around, here))
            case Elect(body=body, any=free):
                yield from _found(body, (*here, 0), (*around, free))
            case If(cond=cond):
                for arm, inner in enumerate(children(stmt)):
                    yield from _found(inner, (*here, arm), (*around, (cond, arm)))
            case _:
                pass


def _waits_for(spin: _Found, signal: _Found) -> bool:
    """Whoever adds one has waited before on the same flag, in the same iteration."""
    one = isinstance(signal.stmt, Signal) and signal.stmt.adds and signal.stmt.value == Int(1)
    same = spin.stmt.flag == signal.stmt.flag and spin.around == signal.around
    return one and same and spin.path < signal.path


def _tested(skeleton: Skeleton, spin: _Found) -> frozenset[str]:
    """What a wait and the conditions that it stands under depend on."""
    conditions = (c[0] for c in spin.around if isinstance(c, tuple) and not isinstance(c[0], int))
    return names_in(skeleton, spin.stmt).union(*(names_of(skeleton, c) for c in conditions))


def _natural(e: Index, names: frozenset[str]) -> bool:
    """The expression is surely not negative."""
    match e:
        case Int(value):
            return value >= 0
        case Var(name):
            return name in names
        case Bin("+" | "*" | "//" | "%" | "ceildiv" | "min", left, right):
            return _natural(left, names) and _natural(right, names)
        case _:
            return False
