"""Fences: barriers of a collective between accesses of its threads that nothing else orders.

Every violated pair of instances says between which statements of which blocks a barrier would order it. The cheapest
places are chosen that serve all pairs; what proves to be violated still adds to the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from exogpu import isa
from exogpu.ir.collective import WARP
from exogpu.ir.instr import Group, ProxyFence
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Fence, For, If, InstrCall, Seq, Stmt, Tasks, Unroll
from exogpu.source import Span
from exogpu.sync.build import call, fence_proxy, wgmma_wait
from exogpu.sync.nodes import Node, common, is_serial, nodes, trips
from exogpu.sync.plan import Plan, around, before, behind, carried_out
from exogpu.verify.axioms import Policy
from exogpu.verify.needs import FenceKind
from exogpu.verify.prepare import prepare
from exogpu.verify.program import TASK, ExitAction, InGroup
from exogpu.verify.violations import Violation, violations

ROUNDS = 8
"""Most times that violations are looked for in one kernel."""
LOOP = 64
"""How many times a loop over sizes is taken to turn."""


@dataclass(frozen=True, slots=True)
class Place:
    """Before statement `index` of a block, or behind its last one: the `cost` of a fence there, and what the threads of
    the first access do ahead of it."""

    block: tuple[Stmt, ...]
    index: int
    cost: float
    ahead: tuple[Stmt, ...]

    @property
    def key(self) -> tuple[int, int]:
        """Tells places apart."""
        return id(self.block[0]), self.index


Demand = tuple[Place, ...]
"""The places at each of which a fence orders a pair of instances."""


def fenced(proc: Proc, policy: Policy) -> Proc | None:
    """The kernel with fences for its violated pairs; None if fences cannot order one of them."""
    found = nodes(proc)
    demands: list[Demand] = []
    edited = proc
    for _ in range(ROUNDS):
        broken = list(violations(prepare(edited, policy)))
        if not broken:
            return edited
        demands += filter(None, (_demand(proc, found, v) for v in broken))
        before_this, edited = edited, carried_out(proc, _plan(demands))
        if edited == before_this:
            return None
    return None


def _plan(demands: list[Demand]) -> Plan:
    """Fences at the cheapest places that serve every demand, chosen greedily, later places first among equals."""
    plan, left = Plan(), demands
    while left:
        places = {p.key: p for d in left for p in d}.values()
        served = {p.key: [q for d in left for q in d if q.key == p.key] for p in places}
        best = max(places, key=lambda p: (len(served[p.key]) / p.cost, p.index))
        ahead: list[Stmt] = []
        for place in served[best.key]:
            ahead += [s for s in place.ahead if s not in ahead]
        ahead.sort(key=_is_proxy_fence)  # what a wait has completed must come before it
        end = best.index == len(best.block)
        stmts = (*ahead, Fence())
        plan += behind(best.block[-1], 9, *stmts) if end else before(best.block[best.index], -1, *stmts)
        left = [d for d in left if all(p.key != best.key for p in d)]
    return plan


def _is_proxy_fence(stmt: Stmt) -> bool:
    return isinstance(stmt, InstrCall) and isinstance(stmt.instr.effect, ProxyFence)


def _demand(proc: Proc, found: list[Node], violation: Violation) -> Demand:
    x, y = violation.found.x, violation.found.y
    if isinstance(y.event.action, ExitAction):
        return ()
    a, b = _at(found, x.event.span), _at(found, y.event.span)
    env = [{**o.env, **{t: o.env.get(TASK, 0) for t in _task_variables(proc)}} for o in (x, y)]
    return tuple(_places(a, b, env[0], env[1], partial(_ahead, violation, a)))


def _ahead(violation: Violation, node: Node, depth: int) -> tuple[Stmt, ...]:
    """What threads do that have made the first access, in the block at a depth around it, before they hand it on."""
    completion = violation.found.x.event.completion
    stmts: list[Stmt] = []
    if completion == InGroup(Group.COPY):
        stmts.append(call(isa.cp_async_wait_all))
    elif isinstance(completion, InGroup):
        wait = wgmma_wait(0) if completion.group is Group.WGMMA else call(isa.bulk_wait, pending=0)
        stmts += around(tuple(p for p in node.parents[depth:] if not is_serial(p)), wait)
    match violation.conflict.goal.needs.fence:
        case FenceKind.SHARED:
            stmts.append(fence_proxy())
        case FenceKind.GLOBAL:
            stmts.append(call(isa.fence_proxy_async_all))
        case _:
            pass
    return tuple(stmts)


def _at(found: list[Node], span: Span) -> Node:
    return next(n for n in found if n.stmt.span == span and not isinstance(n.stmt, For | If))


def _task_variables(proc: Proc) -> Iterator[str]:
    return (n.stmt.var for n in nodes(proc) if isinstance(n.stmt, For) and isinstance(n.stmt.mode, Tasks))


def _places(
    a: Node, b: Node, x: dict[str, int], y: dict[str, int], ahead: Callable[[int], tuple[Stmt, ...]]
) -> Iterator[Place]:
    """Places in every block around both, from the innermost outwards, as long as one collective executes both."""
    shared = common((a.parents, b.parents))
    cost, together = 1.0, True
    for depth in range(len(shared) + 1):
        if depth:
            stmt = shared[depth - 1]
            cost *= (trips(stmt) or LOOP) if is_serial(stmt) and isinstance(stmt, For) else 1
            if isinstance(stmt, For) and not isinstance(stmt.mode, Seq | Unroll | Tasks) and x[stmt.var] != y[stmt.var]:
                return
            if isinstance(stmt, For) and x[stmt.var] != y[stmt.var]:
                together = False
        who, block = a.collectives[depth].size, a.blocks[depth]
        if who == 1 or (who % WARP and WARP % who) or a.blocks[depth] is not b.blocks[depth]:
            return
        i, j = (next(k for k, s in enumerate(block) if s is n.path[depth]) for n in (a, b))
        for index in range(len(block) + 1):
            if (i < index <= j) if together else (index > i or index <= j):
                yield Place(block, index, cost * (1 + who / 1024), ahead(depth))
