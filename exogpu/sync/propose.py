"""Proposals: whole synchronisations of a kernel that has none, built from what its mechanisms need."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Fence
from exogpu.sync.bare import bare
from exogpu.sync.landings import landing_plan
from exogpu.sync.naming import naming
from exogpu.sync.nodes import nodes, touches
from exogpu.sync.plan import Plan, carried_out
from exogpu.sync.products import batches, multiply_plan
from exogpu.sync.rings import Naming, Unplanned, ring_plan, rings
from exogpu.sync.staging import staging_plan
from exogpu.sync.turns import turn_plan


def proposals(original: Proc, reasons: list[str]) -> Iterator[Proc]:
    """Synchronised forms of a kernel, whose own synchronisation is left out, those that wait for less first; nothing is
    proved of them. Barriers are called as the kernel's own. `reasons` gets why there is no more."""
    proc = bare(original)
    seen: list[Proc] = []
    for inner, overlapped, alone in product((False, True), (True, False), (False, True)):
        try:
            proposed = _proposal(proc, naming(original, proc), inner=inner, overlapped=overlapped, alone=alone)
        except Unplanned as error:
            reasons += [str(error)] * (str(error) not in reasons)
            continue
        if proposed not in seen:
            seen.append(proposed)
            yield proposed


def _proposal(proc: Proc, names: Naming, *, inner: bool, overlapped: bool, alone: bool) -> Proc:
    found = nodes(proc)
    used = touches(found)
    finished, between = batches(found), rings(proc.block, found, used, inner=inner)
    plan = multiply_plan(found, overlapped=overlapped)
    for ring in between:
        plan += ring_plan(proc.block, found, ring, names, finished, overlapped=overlapped)
    plan += landing_plan(proc.block, found, used, between, names, alone=alone)
    plan += turn_plan(proc.block, found, between, names)
    plan += staging_plan(proc, found, used)
    if proc.block.cluster > 1:
        plan += Plan(last=(Fence(),))
    return carried_out(proc, plan)
