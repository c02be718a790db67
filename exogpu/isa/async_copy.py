"""Non-bulk asynchronous copies of one thread, their groups and their arrival (PTX ISA, cp.async).

They are accesses of the generic proxy; what tracks their completion is a commit group of the issuing thread, or an
mbarrier that gets the thread's arrival when they have landed.
"""

from __future__ import annotations

from exogpu.ir.index import Int
from exogpu.ir.instr import (
    Buffers,
    Commit,
    CopyArrive,
    Footprint,
    Group,
    GroupMember,
    HoldsPhase,
    Instr,
    Mode,
    Param,
    Proxy,
    WaitGroup,
)
from exogpu.ir.stmt import IndexArg, InstrCall, Stmt
from exogpu.ir.types import Gmem, Smem
from exogpu.isa import ptx
from exogpu.isa.build import assign, nest, zero_filled
from exogpu.isa.vector import vector_alignments, vector_bytes, vector_rules


def _meaning(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    return nest(dst.shape, lambda e: assign(dst, e, zero_filled(src, e, buffers[src.buffer])))


def _emission(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    return (ptx.CopyAsync(ptx.Element("dst"), ptx.Element("src"), vector_bytes(call, buffers)),)


def _wait(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    arg = call.operand("pending")
    if not isinstance(arg, IndexArg) or not isinstance(arg.value, Int):
        raise ValueError(f"{call.instr.name} takes a literal count")
    return (ptx.Asm(f"cp_async_wait_{arg.value.value}", f"cp.async.wait_group {arg.value.value};"),)


def _arrive(call: InstrCall, modifier: str) -> tuple[ptx.Emission, ...]:
    operands: ptx.Operands = (("barrier", ptx.BarrierAddress("barrier")),)
    return (ptx.Asm(call.instr.name, f"cp.async.mbarrier.arrive{modifier}.shared::cta.b64 [$barrier];", operands),)


cp_async = Instr(
    name="cp_async",
    params=(Param("dst", "window", 1, (Smem,)), Param("src", "window", 1, (Gmem,))),
    unit=1,
    footprints=(
        Footprint("dst", Mode.WRITE, Proxy.GENERIC),
        Footprint("src", Mode.READ, Proxy.GENERIC),
    ),
    completion=GroupMember(Group.COPY),
    zero_fill=("src",),
    fills_points=True,
    alignments=vector_alignments,
    contract=vector_rules,
    meaning=_meaning,
    emission=_emission,
    source="PTX ISA, cp.async.ca and cp.async.cg, with src-size",
)

cp_async_commit = Instr(
    name="cp_async_commit",
    params=(),
    unit=0,
    effect=Commit(Group.COPY),
    emission=lambda call, buffers: (ptx.Asm("cp_async_commit", "cp.async.commit_group;"),),
    source="PTX ISA, cp.async.commit_group",
)

cp_async_wait = Instr(
    name="cp_async_wait",
    params=(Param("pending", "int"),),
    unit=0,
    effect=WaitGroup(Group.COPY, "pending"),
    emission=_wait,
    source="PTX ISA, cp.async.wait_group",
)

cp_async_wait_all = Instr(
    name="cp_async_wait_all",
    params=(),
    unit=0,
    effect=WaitGroup(Group.COPY, None),
    emission=lambda call, buffers: (ptx.Asm("cp_async_wait_all", "cp.async.wait_all;"),),
    source="PTX ISA, cp.async.wait_all",
)

cp_async_arrive = Instr(
    name="cp_async_arrive",
    params=(Param("barrier", "barrier"),),
    unit=1,
    effect=CopyArrive("barrier"),
    emission=lambda call, buffers: _arrive(call, ".noinc"),
    source="PTX ISA, cp.async.mbarrier.arrive.noinc",
)

cp_async_hold = Instr(
    name="cp_async_hold",
    params=(Param("barrier", "barrier"),),
    unit=1,
    completion=HoldsPhase("barrier"),
    emission=lambda call, buffers: _arrive(call, ""),
    source="PTX ISA, cp.async.mbarrier.arrive",
)
