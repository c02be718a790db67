"""The wgmma pipeline: operations of one shape that write one tile of registers run in order (PTX ISA, wgmma.fence)."""

from __future__ import annotations

from exogpu.ir.index import Index
from exogpu.ir.instr import Mode, Proxy
from exogpu.verify.program import Event


def tile(event: Event) -> tuple[Index, ...]:
    """Where the registers that a wgmma writes begin."""
    written = (a for a in event.accesses if a.mode is Mode.WRITE and a.proxy is Proxy.REGISTER)
    return tuple(lo for a in written for lo, _ in a.dims)


def of_one_shape(x: Event, y: Event) -> bool:
    """Both are wgmmas of one shape: in order where their tiles are equal."""
    return x.pipeline is not None and (x.pipeline, len(tile(x))) == (y.pipeline, len(tile(y)))
