"""Commit groups and fences of the asynchronous instructions (PTX ISA, wgmma.* and cp.async.bulk.*)."""

from __future__ import annotations

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.index import Int
from exogpu.ir.instr import Buffers, Commit, Group, Instr, Param, ProxyFence, WaitGroup, WgmmaFence
from exogpu.ir.stmt import IndexArg, InstrCall
from exogpu.isa import ptx


def _pending(call: InstrCall) -> int:
    arg = call.operand("pending")
    if isinstance(arg, IndexArg) and isinstance(arg.value, Int):
        return arg.value.value
    raise ValueError(f"{call.instr.name} takes a literal count")


def _bulk_wait(suffix: str, call: InstrCall) -> tuple[ptx.Emission, ...]:
    n = _pending(call)
    return (ptx.Asm(f"{call.instr.name}_{n}", f"cp.async.bulk.wait_group{suffix} {n};"),)


def _wgmma_wait(call: InstrCall, buffers: Buffers) -> tuple[ptx.Emission, ...]:
    n = _pending(call)
    return (ptx.Asm(f"wgmma_wait_{n}", f"wgmma.wait_group.sync.aligned {n};"), ptx.Pin())


wgmma_fence = Instr(
    name="wgmma_fence",
    params=(),
    unit=WARPGROUP,
    effect=WgmmaFence(),
    aligned=True,
    emission=lambda call, buffers: (ptx.Pin(), ptx.Asm("wgmma_fence", "wgmma.fence.sync.aligned;")),
    source="PTX ISA, wgmma.fence.sync.aligned",
)

wgmma_commit = Instr(
    name="wgmma_commit",
    params=(),
    unit=WARPGROUP,
    effect=Commit(Group.WGMMA),
    aligned=True,
    emission=lambda call, buffers: (ptx.Asm("wgmma_commit", "wgmma.commit_group.sync.aligned;"),),
    source="PTX ISA, wgmma.commit_group.sync.aligned",
)

wgmma_wait = Instr(
    name="wgmma_wait",
    params=(Param("pending", "int"),),
    unit=WARPGROUP,
    effect=WaitGroup(Group.WGMMA, "pending"),
    aligned=True,
    emission=_wgmma_wait,
    source="PTX ISA, wgmma.wait_group.sync.aligned",
)

bulk_commit = Instr(
    name="bulk_commit",
    params=(),
    unit=1,
    effect=Commit(Group.BULK),
    emission=lambda call, buffers: (ptx.Asm("bulk_commit", "cp.async.bulk.commit_group;"),),
    source="PTX ISA, cp.async.bulk.commit_group",
)

bulk_wait_read = Instr(
    name="bulk_wait_read",
    params=(Param("pending", "int"),),
    unit=1,
    effect=WaitGroup(Group.BULK, "pending", reads_only=True),
    emission=lambda call, buffers: _bulk_wait(".read", call),
    source="PTX ISA, cp.async.bulk.wait_group.read",
)

bulk_wait = Instr(
    name="bulk_wait",
    params=(Param("pending", "int"),),
    unit=1,
    effect=WaitGroup(Group.BULK, "pending"),
    weaker=bulk_wait_read,
    emission=lambda call, buffers: _bulk_wait("", call),
    source="PTX ISA, cp.async.bulk.wait_group",
)

fence_proxy_async = Instr(
    name="fence_proxy_async",
    params=(),
    unit=0,
    effect=ProxyFence(),
    emission=lambda call, buffers: (ptx.Asm("fence_proxy_async", "fence.proxy.async.shared::cta;"),),
    source="PTX ISA, fence.proxy.async",
)

fence_proxy_async_all = Instr(
    name="fence_proxy_async_all",
    params=(),
    unit=0,
    effect=ProxyFence(everywhere=True),
    weaker=fence_proxy_async,
    emission=lambda call, buffers: (ptx.Asm("fence_proxy_async_all", "fence.proxy.async;"),),
    source="PTX ISA, fence.proxy.async without a state space",
)
