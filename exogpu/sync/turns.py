"""Turns: units of a role that take whole tasks in turn read a ring in the order of the tasks.

The unit of a task may start on the ring when the unit of the task before is through with it: its warps arrive on a
`turn` barrier, for which the next unit waits.
"""

from __future__ import annotations

from exogpu.ir.collective import WARP
from exogpu.ir.proc import BarrierDecl, Launch
from exogpu.ir.stmt import Arrive, Await, Fence, Role
from exogpu.ir.walk import index_names
from exogpu.sync.build import by_warps
from exogpu.sync.nodes import Node, Touch, is_serial, is_tasks
from exogpu.sync.place import afterwards
from exogpu.sync.plan import Plan, around, before
from exogpu.sync.rings import Naming, Ring


def turn_plan(block: Launch, found: list[Node], read: list[Ring], naming: Naming) -> Plan:
    """The turns of every role that chooses its unit by the task, at the rings that it reads."""
    plan, done = Plan(), set[str]()
    for ring in read:
        for touch in ring.reads:
            role = touch.node.role
            if role is None or role[1] is None or not index_names(role[1]) or role[0] in done:
                continue
            done.add(role[0])
            reads = [t for r in read for t in r.reads if t.node.role == role]
            plan += _turns(block, found, reads, naming("turn", ring))
    return plan


def _turns(block: Launch, found: list[Node], reads: list[Touch], name: str) -> Plan:
    """The turns at the reads of one role, whose lanes meet before their warp arrives if they read for themselves."""
    nodes = [t.node for t in reads]
    meet = () if all(t.asynchronous for t in reads) else (Fence(),)
    path = nodes[-1].path
    depth = sum(is_tasks(p) for p in path)
    at = next(n for n, p in enumerate(path) if isinstance(p, Role))
    wrappers = tuple(p for p in path[depth : at + 1] if not is_serial(p))
    declared = next(r for r in block.roles if nodes[-1].role is not None and r.name == nodes[-1].role[0])
    barrier = BarrierDecl(name, declared.threads // declared.unit, declared.unit // WARP)
    return (
        Plan(barriers=(barrier,))
        + before(nodes[0].path[depth], 0, *around(wrappers, Await(name, 1)))
        + afterwards(found, path[depth], wrappers, 0, *by_warps(declared.unit, *meet, Arrive(name, None)))
    )
