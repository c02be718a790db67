"""Staging buffers: shared memory that threads write and one of them stores by TMA.

Before the writing, the storing thread waits until the slot has been read; after it comes a proxy fence; barriers of the
writing collective pass both on. Every store's group is closed at once, and awaited before the CTA ends.
"""

from __future__ import annotations

from exogpu import isa
from exogpu.ir.instr import Group, Mode
from exogpu.ir.proc import Proc, RoleDecl
from exogpu.ir.stmt import Alloc, Fence, For, Role, Stmt
from exogpu.ir.types import Smem
from exogpu.sync.build import by_threads, call, fence_proxy
from exogpu.sync.nodes import Node, Touch, allocations, common, is_serial, is_tasks
from exogpu.sync.place import same_threads
from exogpu.sync.plan import Plan, around, before, behind


def staging_plan(proc: Proc, found: list[Node], used: list[Touch]) -> Plan:
    """The synchronisation of every buffer that is stored by TMA by the role that writes it."""
    plan = Plan()
    for name, alloc in allocations(found).items():
        stored = [t for t in used if t.buffer == name and t.group is Group.BULK]
        written = [t for t in used if t.buffer == name and t.mode is Mode.WRITE and not t.landing]
        if stored and {t.node.role for t in stored} & {t.node.role for t in written}:
            plan += _buffer(alloc, [t for t in used if t in stored or t in written])
    for node in _last_stores(used):
        plan += behind(node.stmt, 3, call(isa.bulk_commit))
    return plan + _drained(proc, used)


def _buffer(alloc: Node, used: list[Touch]) -> Plan:
    """Runs of writes, each followed by a run of stores."""
    assert isinstance(alloc.stmt, Alloc)
    assert isinstance(alloc.stmt.memory, Smem)
    runs: list[list[Touch]] = []
    for touch in used:
        if not runs or runs[-1][0].mode is not touch.mode:
            runs.append([])
        runs[-1].append(touch)
    filling = [n for n, run in enumerate(runs) if run[0].mode is Mode.WRITE and n + 1 < len(runs)]
    pending = alloc.stmt.memory.ring - 1 if len(filling) == 1 else 0
    plan = Plan()
    for n in filling:
        writes, stores = runs[n], runs[n + 1]
        shared = common(t.node.parents for t in (*writes, *stores))
        first, last = writes[0].node.path[len(shared)], writes[-1].node.path[len(shared)]
        by = tuple(p for p in stores[0].node.parents[len(shared) :] if not is_serial(p))
        wait = around(by, call(isa.bulk_wait_read, pending=pending))
        plan += before(first, 1, *wait, Fence()) + behind(last, 2, fence_proxy(), Fence())
    return plan


def _last_stores(used: list[Touch]) -> list[Node]:
    """The last store of every block."""
    blocks: dict[int, Node] = {}
    for touch in used:
        if touch.group is Group.BULK:
            blocks[id(touch.node.block)] = touch.node
    return list(blocks.values())


def _drained(proc: Proc, used: list[Touch]) -> Plan:
    """After the tasks, every storing thread waits until its sources have been read."""
    done: list[Stmt] = []
    for touch in used:
        if touch.group is Group.BULK:
            wait = around(_everybody(proc, touch.node), call(isa.bulk_wait_read, pending=0))
            done += wait
    return Plan(last=tuple(s for n, s in enumerate(done) if not any(_alike(s, t) for t in done[:n])))


def _alike(a: Stmt, b: Stmt) -> bool:
    """The same statements by the same threads, whatever the loop variables are called."""
    if isinstance(a, For | Role) and same_threads(a, b):
        assert isinstance(b, For | Role)
        return len(a.body) == len(b.body) and all(map(_alike, a.body, b.body))
    return a == b


def _everybody(proc: Proc, node: Node) -> tuple[Stmt, ...]:
    """Loops and roles whose threads are those that execute the node in some task."""
    out: list[Stmt] = []
    for stmt in node.parents:
        match stmt:
            case Role(name, index=index) if index is not None:
                role = next(r for r in proc.block.roles if r.name == name)
                out += (Role(name, ()), _units(role))
            case Role() | For() if not is_serial(stmt) and not is_tasks(stmt):
                out.append(stmt)
            case _:
                continue
    return tuple(out)


def _units(role: RoleDecl) -> For:
    return by_threads("w", role.threads // role.unit, role.unit)
