"""The cluster's barrier in two parts (PTX ISA, barrier.cluster): what stands between them overlaps the wait."""

from __future__ import annotations

from exogpu.ir.instr import ClusterArrive, ClusterWait, Effect, Instr
from exogpu.isa import ptx


def _part(name: str, effect: Effect, text: str, weaker: Instr | None = None) -> Instr:
    return Instr(
        name=name,
        params=(),
        unit=0,
        effect=effect,
        weaker=weaker,
        aligned=True,
        emission=lambda call, buffers: (ptx.Asm(name, f"barrier.cluster.{text}.aligned;"),),
        source=f"PTX ISA, barrier.cluster.{text}",
    )


cluster_arrive_relaxed = _part("cluster_arrive_relaxed", ClusterArrive(relaxed=True), "arrive.relaxed")
cluster_arrive = _part("cluster_arrive", ClusterArrive(), "arrive.release", cluster_arrive_relaxed)
cluster_wait = _part("cluster_wait", ClusterWait(), "wait.acquire")
