"""Commit groups and fences of the asynchronous instructions (PTX ISA, wgmma.* and cp.async.bulk.*)."""

from __future__ import annotations

from exogpu.ir.instr import Commit, Group, Instr, Param, ProxyFence, WaitGroup, WgmmaFence

WARPGROUP = 128

wgmma_fence = Instr(
    name="wgmma_fence",
    params=(),
    unit=WARPGROUP,
    effect=WgmmaFence(),
    aligned=True,
    source="PTX ISA, wgmma.fence.sync.aligned",
)

wgmma_commit = Instr(
    name="wgmma_commit",
    params=(),
    unit=WARPGROUP,
    effect=Commit(Group.WGMMA),
    aligned=True,
    source="PTX ISA, wgmma.commit_group.sync.aligned",
)

wgmma_wait = Instr(
    name="wgmma_wait",
    params=(Param("pending", "int"),),
    unit=WARPGROUP,
    effect=WaitGroup(Group.WGMMA, "pending"),
    aligned=True,
    source="PTX ISA, wgmma.wait_group.sync.aligned",
)

bulk_commit = Instr(
    name="bulk_commit",
    params=(),
    unit=1,
    effect=Commit(Group.BULK),
    source="PTX ISA, cp.async.bulk.commit_group",
)

bulk_wait = Instr(
    name="bulk_wait",
    params=(Param("pending", "int"),),
    unit=1,
    effect=WaitGroup(Group.BULK, "pending"),
    source="PTX ISA, cp.async.bulk.wait_group",
)

bulk_wait_read = Instr(
    name="bulk_wait_read",
    params=(Param("pending", "int"),),
    unit=1,
    effect=WaitGroup(Group.BULK, "pending", reads_only=True),
    source="PTX ISA, cp.async.bulk.wait_group.read",
)

fence_proxy_async = Instr(
    name="fence_proxy_async",
    params=(),
    unit=0,
    effect=ProxyFence(),
    source="PTX ISA, fence.proxy.async",
)
