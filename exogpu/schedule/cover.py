"""Whether a write always happens before another access to the same element, in the same run of a block.

The write must have an execution that hits the element. It is found by solving the equations of the indices for the
variables of those loops around the write that are not around the other access; the solver then checks it.
"""

from __future__ import annotations

from exogpu.ir.index import Cond, Var
from exogpu.ir.solve import solve
from exogpu.ir.terms import both, equal
from exogpu.schedule.effects import Access, Does
from exogpu.schedule.paths import Path


def covers(write: Access, access: Access) -> Cond | None:
    """A condition, over the variables of `access`, under which `write` has written its element before; None if no
    such condition is known. Both are effects of one block."""
    if write.does is not Does.WRITE or write.buffer != access.buffer or not write.place < access.place:
        return None
    shared = _common(write.place, access.place)
    own = [n for n, loop in zip(write.inner, write.loops, strict=True) if loop != shared[: len(loop)]]
    there = write.at({name: Var(f"{name}*") for name in own})
    solution = solve(zip(there.index, access.index, strict=True), frozenset(f"{name}*" for name in own))
    if len(solution) < len(own):
        return None
    hit = there.at(solution)
    return both((*hit.given, *(equal(a, b) for a, b in zip(hit.index, access.index, strict=True))))


def _common(a: Path, b: Path) -> Path:
    """The part of two paths that is the same."""
    n = next(i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return a[:n]
