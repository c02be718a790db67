"""Steps of an execution: which strands can move, and moving one."""

from __future__ import annotations

from exogpu.ir.instr import Group
from exogpu.ir.skeleton import operations as ops
from exogpu.ir.skeleton.tree import Elect
from exogpu.verify.explore.actions import ACTIONS
from exogpu.verify.explore.collectives import is_collective, together
from exogpu.verify.explore.events import Event
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.machine import RUNNING, WARP_WAITS, Machine
from exogpu.verify.explore.phases import sharing
from exogpu.verify.explore.program import Strand
from exogpu.verify.explore.progress import done, end, gathered, settle_cluster
from exogpu.verify.explore.storage import EVERYWHERE


def begin(m: Machine) -> None:
    """Ends strands that have nothing to do; raises Violation if mbarriers lie on one another."""
    for key, b in m.mbarriers.items():
        other = sharing(m, key) if b.valid else None
        if other is not None:
            span = m.program.storage.objects[key[1]].span
            message = f"mbarriers `{b.name}` and `{other.name}` are initialised in the same memory"
            m.fail(Finding("mbar.alias", message, span, "common storage", ()))
    for s in m.program.strands:
        if not s.events:
            m.started.add(s.cta)
            end(m, s)


def able(m: Machine, s: Strand) -> bool:
    """The strand can execute its next event."""
    if m.state[s.number] != RUNNING:
        return False
    e = s.events[m.pc[s.number]]
    if e.problem is not None:
        return True
    match e.op:
        case ops.Await():
            b = m.mbarriers[e.barriers[0]]
            return not b.valid or b.lets_pass(e.number)
        case ops.Spin():
            return m.flags[e.barriers[0]].value >= e.number
        case ops.ClusterWait():
            return m.unwaited[s.number] and s.number not in m.cluster.arrived
        case ops.SetMaxnreg(increases=True):
            return not m.program.skeleton.registers or m.pool[s.cta] >= e.number - m.regs[s.cta, s.warp]
        case ops.Wait(group=Group.WGMMA) if "L12" in m.axioms or "L12" in m.lenient:
            mine = len(m.warp_groups[s.cta, s.warp].committed)
            return all(len(m.warp_groups[w].committed) >= mine for w in m.program.warpgroup(s))
    return True


def advance(m: Machine, s: Strand, limit: int) -> None:
    """Executes the strand's next event, and what follows up to the next one that concerns others, but not event
    `limit`; raises Violation."""
    n = s.number
    m.started.add(s.cta)
    while True:
        e = s.events[m.pc[n]]
        if e.problem is not None:
            p = e.problem
            m.fail(Finding(p.rule, p.message, e.op.span, p.label, (n,)))
        if is_collective(e.op):
            warp = gathered(m, s)
            if warp:
                together(m, warp)
            return
        assert not isinstance(e.op, Elect)
        ACTIONS[type(e.op)](m, s, e)
        done(m, s)
        if isinstance(e.op, ops.ClusterArrive):
            settle_cluster(m)
        if m.state[n] != RUNNING or not (_beside(m, s, e) or (m.pc[n] < limit and _local(m, s))):
            return


def release_warps(m: Machine) -> bool:
    """Lets warps go on that waited only for a thread that has exited meanwhile; true if there was one."""
    for key in m.program.warps:
        for s in m.alive(key):
            warp = gathered(m, s) if m.state[s.number] == WARP_WAITS else ()
            if warp:
                together(m, warp)
                return True
    return False


def _beside(m: Machine, s: Strand, e: Event) -> bool:
    """The next event is an arrive at the side of `e`, on the barrier of another CTA: both count at one time (L13)."""
    if "L13" not in m.axioms or not isinstance(e.op, ops.Arrive) or not isinstance(m.event(s).op, ops.Arrive):
        return False
    following = m.event(s)
    if following.problem is not None:
        return False  # it names no barrier
    (one, *_), (other, *_) = e.barriers, following.barriers
    return one[0] != other[0] and one[1:] == other[1:] and e.iteration == following.iteration


def _local(m: Machine, s: Strand) -> bool:
    e = s.events[m.pc[s.number]]
    match e.op:
        case ops.Access():
            return all(w.space.cta in (s.cta, EVERYWHERE) for w in e.windows)
        case ops.Commit() | ops.Wait():
            return not is_collective(e.op)
    return isinstance(e.op, ops.ProxyFence | ops.MemoryFence | ops.InitFence | ops.Check)
