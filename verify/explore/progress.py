"""How strands complete events and end, and the barriers that hold them together meanwhile."""

from __future__ import annotations

from collections.abc import Iterable

from exogpu.diagnostics import Label
from exogpu.ir.collective import WARP
from exogpu.ir.skeleton.operations import BarSync, StAsync, TmaLoad, TmaStore, WarpSync
from exogpu.ir.skeleton.tree import Elect
from exogpu.verify.explore.events import Event
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.knowledge import TEMPORAL
from exogpu.verify.explore.machine import BARRIER_WAITS, ENDED, EXITED, RUNNING, WARP_WAITS, Machine, Met
from exogpu.verify.explore.program import Strand
from exogpu.verify.explore.rendezvous import Named
from exogpu.verify.explore.text import operation


def done(m: Machine, s: Strand) -> None:
    """The strand has executed its event; raises Violation if it or its CTA must not end now."""
    n = s.number
    m.pc[n] += 1
    m.state[n] = RUNNING
    m.minds[n].advance(m.pc[n])
    if m.pc[n] == len(s.events):
        end(m, s)


def all_done(m: Machine, strands: Iterable[Strand]) -> None:
    """Strands have executed a statement together."""
    together = list(strands)
    for s in together:
        m.state[s.number] = RUNNING
    for s in together:
        done(m, s)


def end(m: Machine, s: Strand) -> None:
    """The strand has no more events."""
    m.state[s.number] = EXITED if s.exits else ENDED
    warp = (s.cta, s.warp)
    waiting = [t for t in m.alive(warp) if m.state[t.number] == WARP_WAITS]
    for t in waiting if not s.exits else ():
        if not isinstance(m.event(t).op, Elect):
            m.fail(_divergence(m, t, "the rest has ended without it"))
    for (cta, number), bar in list(m.named.items()):
        if cta == s.cta and bar.joined and bar.threads is None:
            _complete_if_all(m, (cta, number), bar)
    settle_cluster(m)
    if all(m.state[t.number] == EXITED for t in m.program.strands if t.cta == s.cta):
        m.ended.add(s.cta)
        _cta_ended(m, s)


# -- warps -------------------------------------------------------------------------------------------------------------


def gathered(m: Machine, s: Strand) -> tuple[Strand, ...]:
    """The strand comes to a statement of its whole warp: the warp's strands if it was the last, else none; raises
    Violation if the warp can't come together."""
    e = m.event(s)
    m.state[s.number] = WARP_WAITS
    if isinstance(e.op, Elect):
        return _elects(m, s, e)
    warp = m.alive((s.cta, s.warp))
    for t in warp:
        if m.state[t.number] == ENDED:
            m.fail(_divergence(m, s, "the rest has ended without it"))
        if m.state[t.number] == WARP_WAITS:
            other = m.event(t)
            together = isinstance(e.op, WarpSync) and isinstance(other.op, WarpSync)
            if isinstance(other.op, Elect):
                continue
            if not together and (other.path, other.iteration) != (e.path, e.iteration):
                label = Label(other.op.span, "the rest is here")
                m.fail(_divergence(m, s, f"the rest is at {operation(other)}", label))
    ready = all(m.state[t.number] == WARP_WAITS and not isinstance(m.event(t).op, Elect) for t in warp)
    return warp if ready else ()


def _elects(m: Machine, s: Strand, e: Event) -> tuple[Strand, ...]:
    """The lanes that come to an election, once all have come."""
    key = (s.cta, s.warp, e.path, e.iteration)
    lanes = [t for t in m.alive((s.cta, s.warp)) if t.number in m.program.elections[key]]
    here = [t for t in lanes if m.state[t.number] == WARP_WAITS and m.event(t).op is e.op]
    return tuple(lanes) if len(here) == len(lanes) else ()


def _divergence(m: Machine, s: Strand, why: str, *labels: Label) -> Finding:
    e = m.event(s)
    rule = "wgmma.convergence" if operation(e).startswith("wgmma") else "bar.divergence"
    message = f"{operation(e)} is executed by a part of a warp: {why}"
    return Finding(rule, message, e.op.span, "a part is here", (s.number,), labels)


def warp_syncs(m: Machine, warp: tuple[Strand, ...]) -> None:
    """bar.warp.sync by the strands of a warp that there are."""
    for s in warp:
        m.enter(s)
    known = m.together(s.number for s in warp)
    for s in warp:
        m.minds[s.number].learn(known)
    all_done(m, warp)


# -- barriers of the CTA -----------------------------------------------------------------------------------------------


def joins(m: Machine, warp: tuple[Strand, ...]) -> None:
    """bar.sync or bar.arrive by a warp."""
    s, e = warp[0], m.event(warp[0])
    assert isinstance(e.op, BarSync)
    where, key = (s.cta, e.number), (s.cta, s.warp)
    bar = m.named[where]
    everybody = -(-m.program.skeleton.threads // WARP) * WARP
    asked = everybody if e.op.count is None else e.op.count
    if bar.joined and (bar.threads or everybody) != asked:
        message = f"barrier {e.number} is used for {bar.threads or everybody} and for {asked} threads at a time"
        m.fail(Finding("bar.id_count_mismatch", message, e.op.span, f"for {asked}", _numbers(warp, bar)))
    if key in bar.joined:
        message = f"warp {s.lanes[0] // WARP} of {s.role.name} joins barrier {e.number} again before it has completed"
        m.fail(Finding("bar.recycle", message, e.op.span, "the same generation still forms", _numbers(warp, bar)))
    for t in warp:
        m.enter(t)
        if bar.since is not None and not bar.follows(m.temporal(t)):
            m.early(t, bar.since)
    bar.threads = e.op.count
    bar.join(key, tuple(t.number for t in warp), e.op.waits, m.together(t.number for t in warp))
    m.note(s, "joins", f"barrier {e.number}", f"{len(bar.joined) * WARP} of {asked}")
    for t in warp:
        met = (s.cta, f"barrier {e.number}", 0)
        m.observed.append(Met(t.number, m.pc[t.number], None, met, bar.generation))
    for t in warp:
        if e.op.waits:
            m.state[t.number] = BARRIER_WAITS
    if bar.threads is None:
        _complete_if_all(m, where, bar)
    elif len(bar.joined) * WARP == asked:
        _release(m, bar)
    if not e.op.waits:
        all_done(m, warp)


def _numbers(warp: tuple[Strand, ...], bar: Named) -> tuple[int, ...]:
    return (warp[0].number, *(n for strands, _ in bar.joined.values() for n in strands))


def _complete_if_all(m: Machine, where: tuple[int, int], bar: Named) -> None:
    """Completes a barrier of all threads of the CTA once all that have not exited have joined."""
    for warp in m.program.warps:
        alive = m.alive(warp) if warp[0] == where[0] else ()
        if alive and warp not in bar.joined:
            gone = next((t for t in alive if m.state[t.number] == ENDED), None)
            if gone is None:
                return
            waiting = m.program.strands[next(iter(bar.joined.values()))[0][0]]
            e = m.event(waiting) if m.pc[waiting.number] < len(waiting.events) else waiting.events[-1]
            message = f"{operation(e)} is for all threads of the CTA, but {m.program.actor(gone)} never comes to it"
            m.fail(
                Finding("bar.divergence", message, e.op.span, "waits for all threads", (waiting.number, gone.number))
            )
    _release(m, bar)


def _release(m: Machine, bar: Named) -> None:
    waiting, known = bar.complete()
    for n in waiting:
        m.minds[n].learn(known)
    all_done(m, (m.program.strands[n] for n in waiting))


# -- the cluster's barrier ---------------------------------------------------------------------------------------------


def settle_cluster(m: Machine) -> None:
    """Completes the cluster's barrier once all threads that have not exited have arrived."""
    c = m.cluster
    if c.arrived and all(m.state[s.number] == EXITED or s.number in c.arrived for s in m.program.strands):
        c.complete()


# -- the end of a CTA --------------------------------------------------------------------------------------------------


def _cta_ended(m: Machine, s: Strand) -> None:
    """All threads of a CTA have exited: asynchronous operations on its shared memory must be over."""
    strands = [t for t in m.program.strands if t.cta == s.cta]
    known = m.together(t.number for t in strands)
    for actor, pos, cta in m.remote:
        if cta == s.cta and known[TEMPORAL].seen[actor] < pos:
            m.late(actor, pos)
    for f in m.flights:
        match f.event.op:
            case TmaLoad() | StAsync():
                if f.cta == s.cta and not f.landed:
                    _in_flight(m, s, f.actor, f.index, "writes its shared memory")
                if f.cta == s.cta and not known[TEMPORAL].over & f.bit:
                    m.late(f.actor, f.index + 1, flight=True)
            case TmaStore():
                mine = m.program.strands[f.actor].cta == s.cta
                if mine and not f.read and "L6" not in m.axioms:
                    _in_flight(m, s, f.actor, f.index, "reads its shared memory")


def _in_flight(m: Machine, s: Strand, actor: int, index: int, what: str) -> None:
    issuer = m.program.strands[actor]
    e = issuer.events[index]
    rule = "race.async_inflight" if issuer.cta == s.cta else "cluster.exit"
    message = f"the CTA can end while {operation(e)} still {what}"
    m.fail(Finding(rule, message, e.op.span, "in flight at the end", (actor, s.number)))
