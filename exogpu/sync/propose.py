"""Proposals: whole synchronisations of a kernel that has none, built from what its mechanisms need."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Fence
from exogpu.sync.nodes import nodes, touches
from exogpu.sync.plan import Names, Plan, carried_out
from exogpu.sync.products import batches, multiply_plan
from exogpu.sync.rings import Naming, Ring, Unplanned, ring_plan, rings
from exogpu.sync.staging import staging_plan
from exogpu.sync.turns import turn_plan


def proposals(proc: Proc, naming: Naming | None = None) -> Iterator[Proc]:
    """Synchronised forms of a bare kernel, those that wait for less first; nothing is proved of them."""
    seen: list[Proc] = []
    for overlapped in (True, False):
        try:
            proposed = _proposal(proc, naming or _plain(proc), overlapped=overlapped)
        except Unplanned:
            continue
        if proposed not in seen:
            seen.append(proposed)
            yield proposed


def _proposal(proc: Proc, naming: Naming, *, overlapped: bool) -> Proc:
    found = nodes(proc)
    used = touches(found)
    plan = multiply_plan(found, overlapped=overlapped)
    found_rings = rings(found, used)
    plan += turn_plan(proc.block, found, found_rings, naming)
    for ring in found_rings:
        plan += ring_plan(proc.block, found, ring, naming, batches(found), overlapped=overlapped)
    plan += staging_plan(proc, found, used)
    if proc.block.cluster > 1:
        plan += Plan(last=(Fence(),))
    return carried_out(proc, plan)


def _plain(proc: Proc) -> Naming:
    names = Names.of(proc)

    def name(kind: str, ring: Ring) -> str:
        return names.fresh(kind)

    return name
