"""Rings: buffers in shared memory that one role fills and another reads, each time an allocation is executed.

A `full` barrier tells the readers that a slot is filled, an `empty` one tells the writers, a ring's length later, that
it is read. Copies by TMA announce their bytes with the arrive; other accesses, and each warp's reads, get an arrive of
every warp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from exogpu import isa
from exogpu.ir.collective import WARP
from exogpu.ir.index import Bin, Int, Var
from exogpu.ir.instr import Group, Mode
from exogpu.ir.proc import BarrierDecl, Launch
from exogpu.ir.stmt import Alloc, Arrive, Await, Fence, For, Point, Role, Stmt
from exogpu.ir.types import Smem
from exogpu.sync.build import by_threads, by_warps, call, fence_proxy, not_first
from exogpu.sync.copies import delivered, whole_ctas
from exogpu.sync.nodes import Node, RoleKey, Touch, allocations, common, is_serial, is_threads, product
from exogpu.sync.place import afterwards, same_threads
from exogpu.sync.plan import Plan, around, before, behind
from exogpu.sync.products import Batch

Naming = Callable[[str, "Ring"], str]
"""The name of a ring's `full` or `empty` barrier."""


class Unplanned(Exception):
    """This mechanism has no plan for the kernel; says why."""


@dataclass(frozen=True, slots=True)
class Ring:
    """Buffers that are filled and read together, with their number of slots, and what one role writes and another
    reads. `scope`: the statements around one filling."""

    allocs: tuple[Node, ...]
    scope: tuple[Stmt, ...]
    slots: int
    writes: tuple[Touch, ...]
    reads: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """What one role does to a ring. `first` and `last`: the statements with the first and the last access in the block
    where its threads, `size` in a CTA, act together; `ahead` and `behind`: the roles and loops over threads that lead
    there, if the statement is still outside. `threads`: all of these from the allocation on."""

    touches: tuple[Touch, ...]
    first: Stmt
    ahead: tuple[Stmt, ...]
    last: Stmt
    behind: tuple[Stmt, ...]
    threads: tuple[Stmt, ...]
    size: int

    @property
    def asynchronous(self) -> bool:
        """Every access is through the async proxy."""
        return all(t.asynchronous for t in self.touches)

    def start(self, *stmts: Stmt) -> Plan:
        """Statements before the first access."""
        return before(self.first, 0, *around(self.ahead, *stmts))

    def finish(self, found: list[Node], *stmts: Stmt) -> Plan:
        """Statements after the last access."""
        if self.behind:
            return afterwards(found, self.last, self.behind, 2, *stmts)
        return behind(self.last, 8, *stmts)


def rings(block: Launch, found: list[Node], used: list[Touch], *, inner: bool) -> list[Ring]:
    """Buffers that go from one role to another: once for each allocation, or with `inner` each time that a loop around
    all their accesses turns. Copies of which it is not known how many bytes fill a slot, or that do not fill it alone,
    their own threads await: they count as done when these hand on the ring."""
    groups: dict[object, list[Ring]] = {}
    for name, alloc in allocations(found).items():
        assert isinstance(alloc.stmt, Alloc)
        if not isinstance(alloc.stmt.memory, Smem):
            continue
        writes = tuple(t for t in used if t.buffer == name and t.mode is not Mode.READ)
        reads = tuple(t for t in used if t.buffer == name and t.mode is Mode.READ)
        if not writes or not reads:
            continue
        roles = [frozenset(t.node.role for t in side) for side in (writes, reads)]
        if not (roles[0] & roles[1]) or (all(t.landing for t in writes) and len(roles[1]) > 1):
            scope = _scope(alloc, (*writes, *reads)) if inner else alloc.parents
            slots = alloc.stmt.memory.ring if scope == alloc.parents else _taken_in_turn((*writes, *reads))
            key = (tuple(map(id, scope)), *roles)
            groups.setdefault(key, []).append(Ring((alloc,), scope, slots, writes, reads))
    joined = [_joined(parts) for parts in groups.values()]
    return [ring if _announced(block, ring) else _awaited(ring) for ring in joined]


def _scope(alloc: Node, touches: tuple[Touch, ...]) -> tuple[Stmt, ...]:
    """What encloses the allocation, and the loops around all the accesses."""
    shared = common(t.node.parents for t in touches)
    depth = len(alloc.parents)
    while depth < len(shared) and is_serial(shared[depth]):
        depth += 1
    return shared[:depth]


def _taken_in_turn(touches: tuple[Touch, ...]) -> int:
    """The number of slots of a buffer whose first index is always a remainder by it."""
    divisors = {t.first.right if isinstance(t.first, Bin) and t.first.op == "%" else None for t in touches}
    only = divisors.pop() if len(divisors) == 1 else None
    return only.value if isinstance(only, Int) else 1


def _joined(parts: list[Ring]) -> Ring:
    return Ring(
        tuple(a for p in parts for a in p.allocs),
        parts[0].scope,
        min(p.slots for p in parts),
        tuple(t for p in parts for t in p.writes),
        tuple(t for p in parts for t in p.reads),
    )


def _announced(block: Launch, ring: Ring) -> bool:
    """Each role that fills a slot by copies does so by these alone, and it is known how many."""
    sides = [s for s in _sides(block, ring, ring.writes) if any(t.landing for t in s.touches)]
    return all(t.landing and _times(block, ring, s, t) is not None for s in sides for t in s.touches)


def _awaited(ring: Ring) -> Ring:
    return replace(ring, writes=tuple(replace(t, landing=False) for t in ring.writes))


def ring_plan(
    block: Launch, found: list[Node], ring: Ring, naming: Naming, finished: list[Batch], *, overlapped: bool
) -> Plan:
    """The barriers of a ring and what both sides do to them; `finished` are the batches of products, which `overlapped`
    ones leave in flight for a turn of their loop."""
    full, empty = naming("full", ring), naming("empty", ring)
    writers, readers = _sides(block, ring, ring.writes), _sides(block, ring, ring.reads)
    plan, filled, read = Plan(), 0, 0
    # a proxy fence of a reader does not reach what the copy of another CTA overwrites
    reach = (
        [call(isa.fence_proxy_async_all)] if _multicast(ring) and any(not t.asynchronous for t in ring.reads) else []
    )
    for side in writers:
        plan += side.start(Await(empty, ring.slots), *reach)
        count, filling = _fill(block, found, ring, side, full)
        plan, filled = plan + filling, filled + count
    for side in readers:
        plan += side.start(Await(full, 0))
        loop = _in_flight(ring, side, finished) if overlapped else None
        count, release = _release(block, found, ring, side, empty, loop)
        plan, read = plan + release, read + count
    return plan + Plan(barriers=(BarrierDecl(full, ring.slots, filled), BarrierDecl(empty, ring.slots, read)))


def _sides(block: Launch, ring: Ring, touches: tuple[Touch, ...]) -> list[Side]:
    roles: dict[RoleKey | None, list[Touch]] = {}
    for touch in touches:
        roles.setdefault(touch.node.role, []).append(touch)
    return [_side(block, ring, tuple(part)) for part in roles.values()]


def _side(block: Launch, ring: Ring, touches: tuple[Touch, ...]) -> Side:
    depth = len(ring.scope)
    shared = common(t.node.parents for t in touches)
    single = all(t.landing or t.group is Group.BULK for t in touches)
    threads: list[Stmt] = []
    for n, stmt in enumerate(touches[0].node.parents[depth:]):
        if single and is_threads(stmt) and depth + n >= len(shared):
            break  # the accesses are by different threads, or at least not in one loop
        if isinstance(stmt, Role) or (is_threads(stmt) and (single or whole_ctas(block, stmt))):
            threads.append(stmt)
        elif not is_serial(stmt):
            break
    size = touches[0].node.collectives[touches[0].node.path.index(threads[-1]) + 1].size if threads else block.threads
    first, ahead = _entrance(touches[0].node.path[depth:], threads)
    last, after = _entrance(touches[-1].node.path[depth:], threads)
    return Side(touches, first, ahead, last, after, tuple(threads), min(size, block.threads))


def _entrance(path: tuple[Stmt, ...], threads: list[Stmt]) -> tuple[Stmt, tuple[Stmt, ...]]:
    """The statement of a path up to which there is nothing but loops over threads and roles, and those that are left:
    copies of them lead to the same threads."""
    entered = 0
    while entered < len(threads) and same_threads(threads[entered], path[entered]):
        entered += 1
    return path[entered], tuple(threads[entered:])


def _executions(block: Launch, side: Side) -> int:
    """How many collectives of one CTA execute the side's block."""
    loops = [s for s in side.threads if isinstance(s, For) and not whole_ctas(block, s)]
    return prod(product((s,)) or 1 for s in loops)


def _fill(block: Launch, found: list[Node], ring: Ring, side: Side, full: str) -> tuple[int, Plan]:
    """The arrives that say that a slot is filled: how many in a CTA, and where."""
    if all(t.landing for t in side.touches):
        times = ((t, _times(block, ring, side, t) or 0) for t in side.touches)
        arrive: Stmt = Arrive(full, Int(sum(delivered(block, ring.allocs, t, n) for t, n in times)))
        if side.size > 1:
            arrive = by_threads("u", 1, 1, arrive)
        completes = Plan(completes=tuple((t.call, full) for t in side.touches))
        return _executions(block, side), side.finish(found, arrive) + completes
    stmts: list[Stmt] = []
    if any(t.group is Group.COPY for t in side.touches):
        stmts.append(call(isa.cp_async_wait_all))
    if any(t.asynchronous for t in ring.reads):
        stmts.append(fence_proxy())
    return _each_warp(found, side, stmts, Arrive(full, None), fenced=True)


def _each_warp(found: list[Node], side: Side, stmts: list[Stmt], arrive: Stmt, *, fenced: bool) -> tuple[int, Plan]:
    """Every warp arrives for itself, after its lanes have met if they speak for each other."""
    if side.size % WARP:
        raise Unplanned("a collective that is not whole warps hands on a ring")
    meet = (Fence(),) if fenced else ()
    return side.size // WARP, side.finish(found, *stmts, *by_warps(side.size, *meet, arrive))


def _times(block: Launch, ring: Ring, side: Side, touch: Touch) -> int | None:
    """How often a copy of this side is executed in a CTA per execution of the side's block, if that is known."""
    inner = [s for s in touch.node.path[len(ring.scope) :] if not isinstance(s, Role)]
    own = (s for s in inner if not whole_ctas(block, s) and not any(same_threads(s, t) for t in side.threads))
    return product(own)


def _in_flight(ring: Ring, side: Side, finished: list[Batch]) -> For | None:
    """The loop in whose next turn the products that read the ring are done, if all reads are such products."""
    loop = ring.scope[-1] if ring.scope else None
    for touch in side.touches:
        inside = [b for b in finished if any(p is b.first.stmt or p is b.last.stmt for p in touch.node.path)]
        if not inside or inside[0].carried is None or inside[0].carried is not loop:
            return None
    return loop if isinstance(loop, For) else None


def _multicast(ring: Ring) -> bool:
    return any(t.landing and t.call.instr.spread is not None for t in ring.writes)


def _release(
    block: Launch, found: list[Node], ring: Ring, side: Side, empty: str, loop: For | None
) -> tuple[int, Plan]:
    """The arrives that say that a slot is read: how many come to a CTA, and where."""
    everywhere = _multicast(ring)
    arrive: Stmt = Arrive(empty, None)
    if everywhere:
        remote = Arrive(empty, None, Point(Var("r")), relaxed=side.asynchronous)
        arrive = by_threads("r", block.cluster, 1, remote)
    senders = block.cluster if everywhere else 1
    if all(t.group is Group.BULK for t in side.touches):
        return _executions(block, side) * senders, side.finish(found, call(isa.bulk_wait_read, pending=0), arrive)
    if loop is not None:
        warps = by_warps(side.size, arrive)
        plan = side.finish(found, not_first(loop, *warps)) + afterwards(found, loop, side.threads, 2, *warps)
        return side.size // WARP * senders, plan
    generic = any(not t.asynchronous for t in side.touches)
    stmts: list[Stmt] = [fence_proxy()] if generic and any(t.asynchronous for t in ring.writes) else []
    count, plan = _each_warp(found, side, stmts, arrive, fenced=generic)
    return count * senders, plan
