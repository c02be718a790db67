"""That a procedure stays inside its buffers: otherwise it has no meaning to compare."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.equiv.conditions import Facts, Logic, joined, literals
from exogpu.equiv.flat import Flat, Write
from exogpu.ir.index import Cmp, Cond, Index, Int
from exogpu.ir.walk import reads
from exogpu.source import Span

Access = tuple[str, tuple[Index, ...], Facts, Span]


def outside(flat: Flat, logic: Logic, facts: Facts) -> tuple[str, Span] | None:
    """A buffer of which it is not known that an access to it stays inside, and where; None if all do."""
    for write in flat.writes:
        here = joined(facts, write.happens({}))
        for buffer, index, under, span in _accesses(write):
            known = joined(here, under)
            if not all(logic.implied(known, c) for c in inside(index, flat.shapes.get(buffer, ()))):
                return buffer, span
    return None


def _accesses(write: Write) -> Iterator[Access]:
    stmt = write.stmt
    yield stmt.buffer, stmt.index, (), stmt.span
    for read, under in reads(stmt.rhs):
        yield read.buffer, read.index, tuple(c for cond in under for c in literals(cond)), read.span


def inside(index: tuple[Index, ...], shape: tuple[Index, ...]) -> Iterator[Cond]:
    """The indices lie in a buffer of this shape."""
    for i, extent in zip(index, shape, strict=True):
        yield Cmp("<=", Int(0), i)
        yield Cmp("<", i, extent)
