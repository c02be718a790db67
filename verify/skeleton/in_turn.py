"""Additions that wait for their turn: `spin(f, v)` and then `signal_add(f, 1)` by one thread is a store of v + 1.

That is so if every change of the flag is one of these, and no two have the same v: the addition that comes k-th finds
k - 1, and has waited for no more, so its v is at most k - 1; the smaller ones are taken, so it is k - 1. The values
that are stored then have to differ, and that is shown of stores anyway. The flag is one location, of which a thread
never sees an older value than it has seen (PTX memory model, coherence).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from exogpu.ir.index import Bin, Cond, Index, Int, Var
from exogpu.ir.skeleton.operations import Signal, Spin
from exogpu.ir.skeleton.tree import RANK, TID, Block, Elect, For, If, Skeleton, Stmt
from exogpu.ir.skeleton.walk import children, with_blocks
from exogpu.ir.terms import add
from exogpu.ir.walk import index_names
from exogpu.verify.skeleton.mentions import changed, names_in

Path = tuple[int, ...]
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
    turns: dict[str, dict[tuple[int, Path], Index]] = {}
    other: set[str] = set()
    for number, body in enumerate(skeleton.bodies):
        found, changing = tuple(_found(body.stmts, (), ())), changed(skeleton, body.stmts)
        for signal in (f for f in found if isinstance(f.stmt, Signal)):
            waits = [f for f in found if isinstance(f.stmt, Spin) and _waits_for(f, signal, changing)]
            if waits:
                turns.setdefault(signal.stmt.flag.name, {})[number, signal.path] = waits[-1].stmt.value
            else:
                other.add(signal.stmt.flag.name)
    values = {place: v for flag, its in turns.items() if flag not in other for place, v in its.items()}
    if not values:
        return skeleton
    never_below_0 = frozenset((*skeleton.sizes, TID, RANK))
    stored = {
        place: add(v if _natural(v, never_below_0) else Bin("max", v, Int(0)), Int(1)) for place, v in values.items()
    }
    bodies = (replace(b, stmts=_stores(b.stmts, (n,), stored)) for n, b in enumerate(skeleton.bodies))
    return replace(skeleton, bodies=tuple(bodies))


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


def _waits_for(spin: _Found, signal: _Found, changing: frozenset[str]) -> bool:
    """Whoever adds one has just waited on the same flag, in the same iteration."""
    one = isinstance(signal.stmt, Signal) and signal.stmt.adds and signal.stmt.value == Int(1)
    same = spin.stmt.flag == signal.stmt.flag and spin.around == signal.around
    conditions = (c[0] for c in spin.around if isinstance(c, tuple) and not isinstance(c[0], int))
    tested = frozenset[str]().union(names_in(spin.stmt), *map(index_names, conditions))
    return one and same and spin.path < signal.path and not tested & changing


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


def _stores(block: Block, path: Path, stored: Mapping[tuple[int, Path], Index]) -> Block:
    return tuple(_store(stmt, (*path, n), stored) for n, stmt in enumerate(block))


def _store(stmt: Stmt, path: Path, stored: Mapping[tuple[int, Path], Index]) -> Stmt:
    value = stored.get((path[0], path[1:]))
    if value is not None and isinstance(stmt, Signal):
        return replace(stmt, value=value, adds=False)
    return with_blocks(stmt, [_stores(inner, (*path, arm), stored) for arm, inner in enumerate(children(stmt))])
