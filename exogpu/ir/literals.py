"""Ranges of the literals of a procedure: ring depths, arrival counts, lags, bytes, extents."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.diagnostics import Diagnostic
from exogpu.ir.linear import literal
from exogpu.ir.proc import MAX_COUNT, Proc
from exogpu.ir.stmt import Alloc, Arrive, Await
from exogpu.ir.types import Smem
from exogpu.ir.walk import walk
from exogpu.source import Span


def ranges(proc: Proc) -> Iterator[Diagnostic]:
    """Every literal that lies outside its range."""
    yield from _between("raster", proc.block.raster, 1, None, proc.block.span)
    for barrier in proc.barriers:
        yield from _between("ring", barrier.ring, 1, None, barrier.span)
        yield from _between("count", barrier.count, 1, MAX_COUNT, barrier.span)
    for stmt in walk(proc.body):
        match stmt:
            case Alloc(shape=shape, memory=memory, span=span):
                for extent in shape:
                    yield from _between("extent", extent, 1, None, span)
                if isinstance(memory, Smem):
                    yield from _between("ring", memory.ring, 1, None, span)
            case Await(lag=lag, span=span):
                yield from _between("lag", lag, 0, None, span)
            case Arrive(tx=tx, span=span) if tx is not None:
                yield from _between("tx", literal(tx), 0, MAX_COUNT, span)
            case _:
                pass


def _between(what: str, value: int | None, lo: int, hi: int | None, span: Span) -> Iterator[Diagnostic]:
    if value is None:
        yield Diagnostic("lang.literal", f"`{what}` must be a literal", span)
    elif value < lo or (hi is not None and value > hi):
        allowed = f"at least {lo}" if hi is None else f"in {lo}..{hi}"
        yield Diagnostic("lang.range", f"`{what}` must be {allowed}, not {value}", span)
