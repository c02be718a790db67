"""Named barriers between roles, by whole warps (PTX ISA, bar.sync and bar.arrive)."""

from __future__ import annotations

from exogpu.ir.instr import Instr, NamedArrive, Param
from exogpu.isa import ptx


def _emission(operation: str) -> tuple[ptx.Emission, ...]:
    number, count = ptx.BarrierId("barrier"), ptx.BarrierCount("barrier")
    return (ptx.Asm(f"bar_{operation}", f"bar.{operation} $id, $count;", (("id", number), ("count", count))),)


bar_arrive = Instr(
    name="bar_arrive",
    params=(Param("barrier", "named"),),
    unit=0,
    effect=NamedArrive("barrier"),
    aligned=True,
    emission=lambda call, buffers: _emission("arrive"),
    source="PTX ISA, bar.arrive",
)

bar_sync = Instr(
    name="bar_sync",
    params=(Param("barrier", "named"),),
    unit=0,
    effect=NamedArrive("barrier", waits=True),
    weaker=bar_arrive,
    aligned=True,
    emission=lambda call, buffers: _emission("sync"),
    source="PTX ISA, bar.sync",
)
