"""Operations that a whole warp executes together."""

from __future__ import annotations

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.instr import Group, Mode
from exogpu.ir.skeleton import operations as ops
from exogpu.ir.skeleton.objects import Registers
from exogpu.ir.skeleton.tree import Elect
from exogpu.verify.explore.accesses import touch
from exogpu.verify.explore.actions import busy, start
from exogpu.verify.explore.events import Event
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.knowledge import TEMPORAL, later, nothing
from exogpu.verify.explore.machine import Machine
from exogpu.verify.explore.program import Footprint, Strand
from exogpu.verify.explore.progress import all_done, joins, warp_syncs
from exogpu.verify.explore.text import operation

Strands = tuple[Strand, ...]


def is_collective(op: ops.Operation | Elect) -> bool:
    """The warp's threads execute it together."""
    if isinstance(op, ops.Commit | ops.Wait):
        return op.group is Group.WGMMA
    return isinstance(op, ops.BarSync | ops.WarpSync | ops.Wgmma | ops.WgmmaFence | ops.SetMaxnreg | Elect)


def together(m: Machine, warp: Strands) -> None:
    """The warp executes its statement."""
    e = m.event(warp[0])
    match e.op:
        case ops.BarSync():
            joins(m, warp)
            return
        case ops.WarpSync():
            warp_syncs(m, warp)
            return
        case ops.Wgmma():
            _wgmma(m, warp, e, e.op)
        case ops.WgmmaFence():
            m.registers[warp[0].cta, warp[0].warp].fence()
        case ops.Commit():
            m.warp_groups[warp[0].cta, warp[0].warp].commit()
        case ops.Wait(pending=pending):
            _wait(m, warp, pending)
        case ops.SetMaxnreg():
            _registers(m, warp[0], e, e.op)
        case Elect():
            pass
    meet(m, warp)
    all_done(m, warp)


def meet(m: Machine, warp: Strands) -> None:
    """Lanes of a warp have come to one instruction: each comes after what all have executed before, whether or not it
    sees the effects."""
    clock = nothing(m.threads)
    for s in warp:
        clock = later(clock, m.enter(s).published_row(TEMPORAL))
    for s in warp:
        m.minds[s.number].learn_row(TEMPORAL, clock)


# -- wgmma -------------------------------------------------------------------------------------------------------------


def _wgmma(m: Machine, warp: Strands, e: Event, op: ops.Wgmma) -> None:
    s = warp[0]
    _convergence(m, s, e)
    meet(m, warp)
    f = start(m, s, cta=s.cta)
    f.knew = later(f.knew, m.minds[s.number].shared[TEMPORAL])
    accumulator, *operands = s.footprints[m.pc[s.number]]
    registers = m.registers[s.cta, s.warp]
    found = registers.accumulate(op.acc.name, accumulator.cells, op.shape, f.number, fences="F1" in m.axioms)
    _registers_ready(m, s, e, op.acc.name, found)
    for footprint in operands:
        name = footprint.window.ref.name
        if isinstance(m.program.storage.objects[name], Registers):
            _registers_ready(m, s, e, name, registers.read(name, footprint.cells, f.number))
        else:
            whole = Footprint(footprint.window, _of_warp(m, warp, footprint), None)
            touch(m, s, whole, Mode.READ, flight=f.number, asynchronous=True, warp=True)
    m.warp_groups[s.cta, s.warp].open |= f.bit


def _of_warp(m: Machine, warp: Strands, footprint: Footprint) -> int:
    place = warp[0].footprints[m.pc[warp[0].number]].index(footprint)
    cells = 0
    for t in warp:
        cells |= t.footprints[m.pc[t.number]][place].cells
    return cells


def _registers_ready(m: Machine, s: Strand, e: Event, name: str, found: object) -> None:
    if found == "fence":
        message = f"no wgmma_fence comes between an access to `{name}` and {operation(e)}"
        m.fail(Finding("wgmma.reg_fence", message, e.op.span, "uses registers", (s.number,)))
    if isinstance(found, int):
        busy(m, s, e, name, found)


def _convergence(m: Machine, s: Strand, e: Event) -> None:
    """All warps of an aligned warpgroup execute the same wgmmas; raises Violation."""
    group = m.program.warpgroup(s)
    lanes = sum(t.weight for w in group for t in m.program.strands if (t.cta, t.warp) == w and t.role == s.role)
    if lanes < WARPGROUP:
        message = f"{operation(e)} is executed by {lanes} of the {WARPGROUP} threads of a warpgroup"
        m.fail(Finding("wgmma.convergence", message, e.op.span, "needs a whole warpgroup", (s.number,)))
    counts = m.wgmmas[group[0]]
    mine = counts[s.warp]
    counts[s.warp] += 1
    order = m.warpgroups[group[0]]
    if mine == len(order):
        order.append((e, s.number))
        return
    first, other = order[mine]
    if (first.path, first.iteration) != (e.path, e.iteration):
        message = f"warps of one warpgroup execute different wgmmas: {operation(e)} and {operation(first)}"
        m.fail(Finding("wgmma.convergence", message, e.op.span, "executed by one warp", (s.number, other)))


def _wait(m: Machine, warp: Strands, pending: int) -> None:
    """The warp's own part is over; with axiom L12 that of its warpgroup, too."""
    mine = m.warp_groups[warp[0].cta, warp[0].warp]
    depth = -1 if "depth" in m.lenient else pending
    bits = mine.waited(depth)
    m.registers[warp[0].cta, warp[0].warp].over(bits)
    if "L12" in m.axioms or "L12" in m.lenient:
        committed = len(mine.committed)
        for key in m.program.warpgroup(warp[0]):
            for group in m.warp_groups[key].committed[: max(0, committed - max(depth, 0))]:
                bits |= group
        for f in m.flights:
            if f.bit & bits:  # the other warps have got so far
                for s in warp:
                    m.minds[s.number].learn_row(TEMPORAL, f.knew)
    m.learn_over((s.number for s in warp), bits)
    for s in warp[:1]:
        m.note(s, "waits")


# -- setmaxnreg --------------------------------------------------------------------------------------------------------


def _registers(m: Machine, s: Strand, e: Event, op: ops.SetMaxnreg) -> None:
    """setmaxnreg by a warp; the pool has what it asks for."""
    if not m.program.skeleton.registers:
        return
    key = (s.cta, s.warp)
    before = m.regs[key]
    if op.registers < before if op.increases else op.registers > before:
        message = f"{operation(e)} of a warp that has {before} registers per thread"
        m.fail(Finding("setmaxnreg.pool", message, e.op.span, f"has {before}", (s.number,)))
    m.regs[key] = op.registers
    m.pool[s.cta] -= op.registers - before
    m.maxnregs[key] += 1
    m.hints.undecided |= m.maxnregs[key] > 1
    m.note(s, "sets", "free registers", str(m.pool[s.cta] * WARP))
