"""What each operation does when a strand executes it."""

from __future__ import annotations

from collections.abc import Callable

from exogpu.ir.instr import Group, Mode
from exogpu.ir.skeleton import operations as ops
from exogpu.ir.skeleton.objects import Registers
from exogpu.verify.explore import phases
from exogpu.verify.explore.accesses import touch
from exogpu.verify.explore.events import Event
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.flights import Flight
from exogpu.verify.explore.knowledge import PLAIN, TEMPORAL, Knowledge, common, nothing
from exogpu.verify.explore.machine import Machine
from exogpu.verify.explore.mbarriers import Key
from exogpu.verify.explore.program import Strand
from exogpu.verify.explore.text import operation


def access(m: Machine, s: Strand, e: Event) -> None:
    """An ordinary access."""
    op = e.op
    assert isinstance(op, ops.Access)
    footprint = s.footprints[m.pc[s.number]][0]
    if not isinstance(m.program.storage.objects[op.ref.name], Registers):
        touch(m, s, footprint, op.mode)
        m.note(s, "accesses")
        return
    met = m.registers[s.cta, s.warp].touch(op.ref.name, footprint.cells)
    if met is not None:
        busy(m, s, e, op.ref.name, met)


def busy(m: Machine, s: Strand, e: Event, name: str, met: int) -> None:
    """Registers are touched that an operation in flight uses."""
    f = m.flights[met]
    message = f"{operation(e)} touches `{name}` while {operation(f.event)} is in flight"
    m.fail(Finding("wgmma.reg_inflight", message, e.op.span, "touched here", (s.number, f.actor)))


# -- asynchronous operations -------------------------------------------------------------------------------------------


def start(m: Machine, s: Strand, *, cta: int, barrier: Key | None = None, size: int = 0) -> Flight:
    """A new operation of the strand's current event."""
    flight = Flight(len(m.flights), s.number, m.pc[s.number], m.event(s), cta, m.temporal(s), barrier, size)
    m.flights.append(flight)
    if barrier is not None:
        m.air.append(flight)
    m.note(s, "starts")
    return flight


def tma_load(m: Machine, s: Strand, e: Event) -> None:
    """cp.async.bulk into shared memory, a copy for every CTA that receives it; or st.async."""
    asynchronous = isinstance(e.op, ops.TmaLoad)
    footprints = s.footprints[m.pc[s.number]]
    m.enter(s)
    for n, key in enumerate(e.barriers):
        phases.usable(m, s, key)
        f = start(m, s, cta=key[0], barrier=key, size=e.number * s.weight)
        touch(m, s, footprints[n], Mode.WRITE, flight=f.number, asynchronous=asynchronous)
        for source in footprints[len(e.barriers) :]:
            touch(m, s, source, Mode.READ, flight=f.number, asynchronous=asynchronous)


def tma_store(m: Machine, s: Strand, e: Event) -> None:
    """cp.async.bulk or cp.reduce.async.bulk out of shared memory."""
    op = e.op
    assert isinstance(op, ops.TmaStore)
    m.enter(s)
    f = start(m, s, cta=s.cta)
    source, *to = s.footprints[m.pc[s.number]]
    touch(m, s, source, Mode.READ, flight=f.number, asynchronous=True)
    for footprint in to:
        mode = Mode.REDUCE if op.reduces else Mode.WRITE
        touch(m, s, footprint, mode, flight=f.number, asynchronous=True)
    m.groups[s.number, Group.BULK].open |= f.bit


def cp_async(m: Machine, s: Strand, e: Event) -> None:
    """cp.async: asynchronous, through the generic proxy."""
    m.enter(s)
    f = start(m, s, cta=s.cta)
    to, *source = s.footprints[m.pc[s.number]]
    touch(m, s, to, Mode.WRITE, flight=f.number)
    for footprint in source:
        touch(m, s, footprint, Mode.READ, flight=f.number)
    m.groups[s.number, Group.COPY].open |= f.bit


def copy_arrive(m: Machine, s: Strand, e: Event) -> None:
    """cp.async.mbarrier.arrive."""
    flight = phases.copy_arrives(m, s, m.groups[s.number, Group.COPY].waited(-1))
    m.flights.append(flight)
    m.air.append(flight)
    m.note(s, "starts")


def commit(m: Machine, s: Strand, e: Event) -> None:
    """Closes a group of the thread."""
    assert isinstance(e.op, ops.Commit)
    m.groups[s.number, e.op.group].commit()


def wait_group(m: Machine, s: Strand, e: Event) -> None:
    """Waits for groups of the thread."""
    op = e.op
    assert isinstance(op, ops.Wait)
    pending = -1 if "depth" in m.lenient else op.pending
    bits = m.groups[s.number, op.group].waited(pending)
    for f in m.flights:
        if bits & f.bit:
            f.read = True
            f.landed = f.landed or not op.reads_only
    m.minds[s.number].finish(0 if op.reads_only else bits, bits)
    if "thread" in m.lenient:
        others = (f for f in m.flights if f.actor != s.number and m.program.strands[f.actor].cta == s.cta)
        m.learn_over((s.number,), sum(f.bit for f in others if f.barrier is None))
    m.note(s, "waits")


# -- fences ------------------------------------------------------------------------------------------------------------


def proxy_fence(m: Machine, s: Strand, e: Event) -> None:
    """fence.proxy.async: of what the thread did itself and, by axiom L1, of what it knows of others."""
    assert isinstance(e.op, ops.ProxyFence)
    mind, others = m.minds[s.number], "L1" in m.axioms
    mind.fence(m.rows.shared[s.cta], others=others)
    if e.op.everywhere:
        mind.fence(m.rows.everywhere[s.cta], others=others)


def init_fence(m: Machine, s: Strand, e: Event) -> None:
    """fence.mbarrier_init."""
    assert m.rows.inits is not None
    m.minds[s.number].fence(m.rows.inits, others=False)


def memory_fence(m: Machine, s: Strand, e: Event) -> None:
    """fence.acq_rel: ends acquire patterns of relaxed waits before it, begins release patterns of what comes after."""
    op = e.op
    assert isinstance(op, ops.MemoryFence)
    assert m.rows.strong is not None
    mind, wide = m.minds[s.number], op.scope != "cta"
    for told, scope in m.acquiring[s.number]:
        told.teach(mind, s.cta, wide=wide and bool(scope))
    for row in m.rows.strong[: 1 + wide]:
        mind.fence(row, others=True)
    mine = mind.published_row(PLAIN)
    m.fenced[s.number] = (mine, mine if wide else m.fenced[s.number][1])


# -- the cluster, flags, checks ----------------------------------------------------------------------------------------


def cluster_arrive(m: Machine, s: Strand, e: Event) -> None:
    """barrier.cluster.arrive; a relaxed one tells only of what fences cover."""
    op = e.op
    assert isinstance(op, ops.ClusterArrive)
    if s.number in m.cluster.arrived or m.unwaited[s.number]:
        message = f"{m.program.actor(s)} arrives at the cluster's barrier again without a wait"
        m.fail(Finding("bar.recycle", message, e.op.span, "arrives twice", (s.number,)))
    known = m.publish(s)
    if op.relaxed and "relaxed" not in m.lenient:
        known = _fenced(m, known)
    m.unwaited[s.number] = True
    m.cluster.arrive(s.number, known)
    m.note(s, "joins", "cluster barrier", f"{len(m.cluster.arrived)} of {m.threads}")


def _fenced(m: Machine, known: Knowledge) -> Knowledge:
    """What a relaxed arrive tells: initialisations of mbarriers before their fence, what a fence of cluster scope
    covers, and that it has happened."""
    rows = m.rows
    if rows.strong is None:
        found = [nothing(m.threads)] * rows.count
    else:
        found = [common(row, known[rows.strong[1]]) for row in known]
    found[TEMPORAL] = known[TEMPORAL]
    if rows.inits is not None:
        found[rows.inits] = known[rows.inits]
    return tuple(found)


def cluster_wait(m: Machine, s: Strand, e: Event) -> None:
    """barrier.cluster.wait: acquires."""
    m.unwaited[s.number] = False
    m.minds[s.number].learn(m.cluster.told[-1])
    m.note(s, "passes", "cluster barrier", f"generation {m.cluster.generation - 1}")


def signal(m: Machine, s: Strand, e: Event) -> None:
    """A strong store to a flag, or an atomic addition."""
    op = e.op
    assert isinstance(op, ops.Signal)
    known = m.publish(s)
    near, wide = phases.told(m, s, known, relaxed=op.relaxed, wide=op.scope != "cta")
    flag = m.flags[e.barriers[0]]
    flag.writers.add(s.number)
    if op.adds:
        flag.value += e.number * s.weight
    else:
        for strand, pos in flag.seen_by if e.number < flag.value else ():  # who has not looked yet will not see it
            m.hints.undecided = True
            m.late(strand, pos)
        flag.value = e.number
        flag.told.forget()
    flag.told.add(s.cta, near, wide, known[TEMPORAL])
    m.note(s, "signals", e.shown, str(flag.value))


def spin(m: Machine, s: Strand, e: Event) -> None:
    """A loop of loads that has seen the value."""
    op = e.op
    assert isinstance(op, ops.Spin)
    flag, mind = m.flags[e.barriers[0]], m.minds[s.number]
    flag.told.happened(mind)
    wide = op.scope != "cta" or "scope" in m.lenient
    if not op.relaxed or "relaxed" in m.lenient:
        flag.told.teach(mind, s.cta, wide=wide)
    else:
        m.acquiring[s.number].append((flag.told.copy(), int(wide)))
    if len(flag.writers) > 1 or flag.value != e.number:
        m.hints.undecided = True
        m.late(s.number, m.pc[s.number] + 1)
    flag.seen_by.append((s.number, m.pc[s.number] + 1))
    m.note(s, "sees", e.shown, str(flag.value))


def idle(m: Machine, s: Strand, e: Event) -> None:
    """What has been checked when the events were made, or matters at the end only."""


Action = Callable[[Machine, Strand, Event], None]


def _barrier(action: Callable[[Machine, Strand], None]) -> Action:
    def act(m: Machine, s: Strand, e: Event) -> None:
        action(m, s)

    return act


ACTIONS: dict[type[ops.Operation], Action] = {
    ops.Access: access,
    ops.TmaLoad: tma_load,
    ops.StAsync: tma_load,
    ops.TmaStore: tma_store,
    ops.CpAsync: cp_async,
    ops.Commit: commit,
    ops.Wait: wait_group,
    ops.Init: _barrier(phases.initialises),
    ops.Inval: _barrier(phases.invalidates),
    ops.Arrive: _barrier(phases.arrives),
    ops.Expect: _barrier(phases.expects),
    ops.CopyArrive: copy_arrive,
    ops.Await: _barrier(phases.waits),
    ops.ClusterArrive: cluster_arrive,
    ops.ClusterWait: cluster_wait,
    ops.ProxyFence: proxy_fence,
    ops.InitFence: init_fence,
    ops.MemoryFence: memory_fence,
    ops.Signal: signal,
    ops.Spin: spin,
    ops.Exit: idle,
    ops.Check: idle,
}
"""Operations that each thread executes by itself."""
