"""Memory fences: they make release of the relaxed statement behind them (PTX ISA, release patterns)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.ir.index import Not
from exogpu.ir.skeleton.operations import Arrive, BarSync, ClusterArrive, MemoryFence, Signal, WarpSync
from exogpu.ir.skeleton.tree import If, Skeleton, Stmt
from exogpu.ir.walk import conjuncts
from exogpu.verify.skeleton.place import Fenced, Place
from exogpu.verify.skeleton.reading import Reading

AXIOM = "L14"


def after(stmt: Stmt, place: Place, skeleton: Skeleton, read: Reading) -> Fenced | None:
    """The fence that every thread has just executed, or those for which a condition holds; behind a barrier of nobody
    else, the one before it (axiom L14)."""
    match stmt:
        case MemoryFence(scope):
            return Fenced(scope)
        case If(cond, (*_, MemoryFence(scope)), ()):
            return Fenced(scope, read.cond(cond))
        case BarSync(waits=True) | WarpSync() if place.fenced is not None and place.fenced.where is None:
            return replace(place.fenced, axiom=AXIOM) if _among_themselves(stmt, place, skeleton) else None
        case _:
            return None


def _among_themselves(stmt: BarSync | WarpSync, place: Place, skeleton: Skeleton) -> bool:
    """Only threads of the place take part in the barrier."""
    if isinstance(stmt, WarpSync):
        return True
    everybody = {sum(b.role.threads for b in skeleton.bodies if c in b.role.ctas) for c in place.role.ctas}
    counts = everybody if stmt.count is None else {stmt.count}
    return not place.explicit and counts == {len(place.who)}


def published(stmt: Stmt, place: Place) -> Iterator[tuple[Place, Fenced | None]]:
    """The threads of a statement that have just fenced, with that fence, and the others."""
    fence = place.fenced
    if fence is None or fence.where is None or not isinstance(stmt, Arrive | ClusterArrive | Signal):
        yield place, None if fence is None or fence.where is not None else fence
        return
    yield replace(place, guards=(*place.guards, *conjuncts(fence.where))), replace(fence, where=None)
    yield replace(place, guards=(*place.guards, *conjuncts(Not(fence.where)))), None
