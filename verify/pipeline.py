"""The wgmma pipeline: operations of one shape that write one tile of registers run in order (PTX ISA, wgmma.fence)."""

from __future__ import annotations

from exogpu.ir.index import Index
from exogpu.ir.instr import Mode, Proxy
from exogpu.verify.program import Access, Event


def tile(event: Event) -> tuple[Index, ...]:
    """Where the registers that a wgmma writes begin."""
    return tuple(lo for a in accumulators(event) for lo, _ in a.dims)


def _extents(event: Event) -> tuple[int, ...]:
    return tuple(n for a in accumulators(event) for _, n in a.dims)


def accumulators(event: Event) -> tuple[Access, ...]:
    """The registers that a wgmma writes."""
    return tuple(a for a in event.accesses if a.mode is Mode.WRITE and a.proxy is Proxy.REGISTER)


def of_one_shape(x: Event, y: Event) -> bool:
    """Both are wgmmas of one shape: in order where their tiles are equal."""
    return x.pipeline is not None and (x.pipeline, _extents(x)) == (y.pipeline, _extents(y))
