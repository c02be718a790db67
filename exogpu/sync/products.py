"""wgmma: a fence before each batch of products, a commit after it, and the waits.

A batch whose accumulators outlive the loop around it may stay in flight: each turn then waits for the one before, and
what follows the loop waits for the last. What the products read is free one turn later.
"""

from __future__ import annotations

from dataclasses import dataclass

from exogpu import isa
from exogpu.ir.collective import WARPGROUP
from exogpu.ir.instr import Group, GroupMember, Mode
from exogpu.ir.stmt import Alloc, For, If, InstrCall, Seq, Stmt, Unroll
from exogpu.ir.walk import walk
from exogpu.sync.build import call, wgmma_wait
from exogpu.sync.nodes import Node, allocations, touches
from exogpu.sync.place import afterwards, wrappers_of
from exogpu.sync.plan import Plan, before, behind


@dataclass(frozen=True, slots=True)
class Batch:
    """Neighbouring statements that do nothing but multiply; `carried`: the loop over whose turns they may overlap."""

    first: Node
    last: Node
    carried: For | None


def batches(found: list[Node]) -> list[Batch]:
    """The batches of a kernel, in the order of the text."""
    out: list[Batch] = []
    for node in found:
        if node.who.size != WARPGROUP or not _multiplies(node.stmt):
            continue
        if out and out[-1].last.block is node.block and _follows(out[-1].last, node):
            out[-1] = Batch(out[-1].first, node, out[-1].carried)
        elif not any(p is b.last.stmt or p is b.first.stmt for b in out for p in node.parents):
            out.append(Batch(node, node, None))
    return [Batch(b.first, b.last, _carried(found, b)) for b in out]


def multiply_plan(found: list[Node], *, overlapped: bool) -> Plan:
    """The synchronisation of every batch; `overlapped`: turns of a loop overlap where they may."""
    plan = Plan()
    for batch in batches(found):
        plan += before(batch.first.stmt, 9, call(isa.wgmma_fence))
        plan += behind(batch.last.stmt, 0, call(isa.wgmma_commit))
        loop = batch.carried if overlapped else None
        plan += behind(batch.last.stmt, 1, wgmma_wait(1 if loop is not None else 0))
        if loop is not None:
            plan += afterwards(found, loop, wrappers_of(batch.last, loop), 1, wgmma_wait(0))
    return plan


def _multiplies(stmt: Stmt) -> bool:
    inner = list(walk((stmt,)))
    loops = (For, If)
    calls = [s for s in inner if not isinstance(s, loops)]
    serial = all(isinstance(s.mode, Seq | Unroll) for s in inner if isinstance(s, For))
    return serial and bool(calls) and all(isinstance(s, InstrCall) and _product(s) for s in calls)


def _product(stmt: InstrCall) -> bool:
    return stmt.instr.completion == GroupMember(Group.WGMMA)


def _follows(last: Node, node: Node) -> bool:
    at = next(n for n, s in enumerate(node.block) if s is last.stmt)
    return at + 1 < len(node.block) and node.block[at + 1] is node.stmt


def _carried(found: list[Node], batch: Batch) -> For | None:
    """The innermost loop around the batch, if its accumulators are allocated outside."""
    loop = batch.first.loop
    if loop is None:
        return None
    inside = [n for n in found if any(p is s for s in (batch.first.stmt, batch.last.stmt) for p in n.path)]
    written = {t.buffer for t in touches(inside) if t.mode is Mode.WRITE}
    homes = allocations(found)
    outside = all(isinstance(homes[b].stmt, Alloc) and all(p is not loop for p in homes[b].parents) for b in written)
    return loop if outside else None
