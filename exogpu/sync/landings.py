"""Landings: copies by TMA into buffers that one role alone uses.

The copies of one thread complete on a barrier on which it arrives behind them. Its role waits before it touches the
buffers again, or at the latest at the end of the block in which they were issued. Or else the thread waits alone, and
barriers of the role pass it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.ir.index import Int
from exogpu.ir.instr import Mode
from exogpu.ir.proc import BarrierDecl, Launch
from exogpu.ir.stmt import Alloc, Arrive, Await
from exogpu.ir.types import Smem
from exogpu.sync.copies import delivered, whole_ctas
from exogpu.sync.nodes import Node, Touch, allocations, common, is_threads, product
from exogpu.sync.plan import Plan, before, behind
from exogpu.sync.rings import Naming, Ring


@dataclass(frozen=True, slots=True)
class _Batch:
    """Copies by the threads of one loop, which stands at `level` of their paths; `times`: how often each of them is
    executed by one of these threads before it arrives."""

    copies: tuple[Touch, ...]
    level: int
    times: tuple[int, ...]

    @property
    def last(self) -> Node:
        """The last copy."""
        return self.copies[-1].node


def landing_plan(
    block: Launch, found: list[Node], used: list[Touch], read: list[Ring], naming: Naming, *, alone: bool
) -> Plan:
    """The barriers of every copy that fills no ring between roles; where it is part of what does, the thread waits
    alone."""
    ringed = {t.buffer for ring in read for t in ring.writes if t.landing}
    handed_on = {t.buffer for ring in read for t in ring.writes} - ringed
    homes = allocations(found)
    plan = Plan()
    for batch in _batches([t for t in used if t.landing and t.mode is not Mode.READ and t.buffer not in ringed]):
        allocs = tuple(homes[name] for name in dict.fromkeys(t.buffer for t in batch.copies))
        slots = min(_slots(a) for a in allocs)
        full = naming("full", Ring(allocs, allocs[0].parents, slots, batch.copies, batch.copies))
        size = sum(delivered(block, allocs, t, n) for t, n in zip(batch.copies, batch.times, strict=True))
        loops = [s for s in batch.last.path[: batch.level + 1] if is_threads(s) and not whole_ctas(block, s)]
        plan += Plan(
            barriers=(BarrierDecl(full, slots, product(loops) or 1),),
            completes=tuple((t.call, full) for t in batch.copies),
        )
        plan += behind(batch.last.path[batch.level + 1], 8, Arrive(full, Int(size)))
        by_itself = alone or any(t.buffer in handed_on for t in batch.copies)
        plan += _wait(used, batch, Await(full, 0), alone=by_itself)
    return plan


def _batches(copies: list[Touch]) -> Iterator[_Batch]:
    """The copies of each loop over single threads; apart, if it is not known how many there are."""
    loops: dict[int, list[Touch]] = {}
    for copy in copies:
        loops.setdefault(id(copy.node.path[_level(copy.node)]), []).append(copy)
    for part in loops.values():
        level = _level(part[0].node)
        times = (product(t.node.path[level + 1 : -1]) for t in part)
        known = [n for n in times if n is not None]
        if len(known) == len(part):
            yield _Batch(tuple(part), level, tuple(known))
        else:
            yield from (_Batch((t,), len(t.node.path) - 2, (1,)) for t in part)


def _level(node: Node) -> int:
    """Where the innermost loop over threads stands on the path."""
    return max(n for n, s in enumerate(node.parents) if is_threads(s))


def _wait(used: list[Touch], batch: _Batch, wait: Await, *, alone: bool) -> Plan:
    """Where the copies are awaited."""
    if alone or not is_threads(batch.last.path[batch.level]):
        return behind(batch.last.path[batch.level + 1], 9, wait)
    buffers = {t.buffer for t in batch.copies}
    later = used[used.index(batch.copies[-1]) + 1 :]
    following = next((t.node for t in later if t.buffer in buffers), None)
    depth = len(common((batch.last.parents, following.parents))) if following is not None else 0
    if following is not None and depth >= batch.level:
        return before(following.path[depth], 0, wait)
    return behind(batch.last.blocks[batch.level][-1], 9, wait)


def _slots(alloc: Node) -> int:
    assert isinstance(alloc.stmt, Alloc)
    assert isinstance(alloc.stmt.memory, Smem)
    return alloc.stmt.memory.ring
