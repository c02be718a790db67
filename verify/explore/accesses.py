"""Accesses to memory by events and asynchronous operations, and what can be wrong with one."""

from __future__ import annotations

from exogpu.diagnostics import Label
from exogpu.ir.instr import Mode
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.knowledge import Mind, nothing
from exogpu.verify.explore.machine import Machine
from exogpu.verify.explore.memory import NO_FLIGHT, Fences, Record, Unordered
from exogpu.verify.explore.program import Footprint, Strand
from exogpu.verify.explore.storage import EVERYWHERE
from exogpu.verify.explore.text import operation


def touch(
    m: Machine,
    s: Strand,
    f: Footprint,
    mode: Mode,
    *,
    flight: int = NO_FLIGHT,
    asynchronous: bool = False,
    warp: bool = False,
) -> None:
    """The strand's current event touches memory, or starts an operation that does, in the async proxy if
    `asynchronous`; `warp`: all lanes of the warp together. Raises Violation."""
    e, space = m.event(s), f.window.space
    reach(m, s, space.cta)
    _check_alias(m, s, f)
    mind = m.minds[s.number]
    if warp:
        mind = Mind(-1, m.in_common(m.program.warps[s.cta, s.warp]), [])
    source = flight != NO_FLIGHT and mode is Mode.READ
    weight, pos = 1 if warp else s.weight, m.pc[s.number] + 1
    record = Record(
        f.cells, f.lanes, weight, mode, not asynchronous, mind.strand, s.number, pos, flight, source, f, e
    )  # fmt: skip
    counts = isinstance(m.program.storage.objects[f.window.ref.name], Mbarriers)
    fences = _fences(m, s.cta, space.cta)._replace(counts=counts)
    found = m.memory.touch(space, record, mind, fences)
    if found is not None:
        m.fail(race(m, found))
    if mode is not Mode.READ and space.cta == EVERYWHERE:
        m.written[space.root] |= f.cells


def _fences(m: Machine, issuer: int, target: int) -> Fences:
    """Rows of proxy fences for an asynchronous access by a thread of one CTA to the memory of another."""
    rows = m.rows
    if target == EVERYWHERE:
        return Fences(rows.everywhere[issuer : issuer + 1], rows.shared[issuer : issuer + 1])
    # across CTAs a fence where the access is made; any is taken to cover the memory, so that none is reported missing
    # that a reading of the ISA does without
    ended = m.program.skeleton.cluster > 1 and "L4" in m.axioms
    return Fences(rows.shared[issuer : issuer + 1], (), ended)


def reach(m: Machine, s: Strand, cta: int) -> None:
    """The strand's current event concerns an object of a CTA, which has to be there; raises Violation."""
    if cta in (s.cta, EVERYWHERE):
        return
    e = m.event(s)
    m.remote.add((s.number, m.pc[s.number] + 1, cta))
    if not m.program.met and not any(m.temporal(s).seen[t.number] for t in m.program.strands if t.cta == cta):
        m.early(s, nothing(m.threads))
    if cta in m.started and cta not in m.ended:
        return
    what = operation(e)
    if cta in m.ended:
        message = f"{what} reaches CTA {cta} of the cluster, which can have ended"
        m.fail(Finding("cluster.exit", message, e.op.span, f"CTA {cta} has ended", (s.number,)))
    message = f"{what} reaches CTA {cta} of the cluster, which need not have started"
    m.fail(Finding("cluster.entry", message, e.op.span, f"CTA {cta} has not started", (s.number,)))


def _check_alias(m: Machine, s: Strand, f: Footprint) -> None:
    for place, key in m.program.overlaid.get(f.window.space, ()):
        barrier = m.mbarriers[key]
        if f.cells & place and barrier.valid and f.window.ref.name != key[1]:
            e = m.event(s)
            message = f"{operation(e)} touches the memory of mbarrier `{barrier.name}`, which is in use"
            m.fail(Finding("mbar.alias", message, e.op.span, "overlaps the mbarrier", (s.number,)))


def hazard(first: Mode, second: Mode) -> str:
    """The rule that two unordered accesses break."""
    if first is Mode.READ:
        return "race.war"
    return "race.raw" if second is Mode.READ else "race.waw"


def _meant_first(a: Record, b: Record) -> bool:
    """The access was presumably meant to come first: in one role the earlier one, else the one of an earlier iteration,
    and of the same iteration the write."""
    if a.event.path[0] == b.event.path[0]:
        return a.pos < b.pos
    one, other = (tuple(value for _, value in r.event.iteration) for r in (a, b))
    return one < other or (one == other and a.mode is not Mode.READ)


def race(m: Machine, pair: Unordered) -> Finding:
    """Two accesses that nothing orders, or not for their proxies; named by what is missing at first sight. Of two that
    can come either way, the one that was meant to be first is told first."""
    if pair.either and _meant_first(pair.second, pair.first):
        pair = pair._replace(first=pair.second, second=pair.first)
    first, second = pair.first, pair.second
    if pair.missing:
        rule = "fence.state_space" if pair.missing == "space" else "proxy.generic_to_async"
    elif any(isinstance(m.program.storage.objects[r.footprint.window.ref.name], Mbarriers) for r in (first, second)):
        objects = {type(m.program.storage.objects[r.footprint.window.ref.name]) for r in (first, second)}
        rule = "mbar.reinit" if objects == {Mbarriers} else "mbar.alias"
    elif first.footprint.window.ref.name != second.footprint.window.ref.name:
        rule = "smem.reuse"
    else:
        rule = hazard(first.mode, second.mode)
    also = (hazard(first.mode, second.mode),) if rule == "smem.reuse" else ()
    also = (*also, hazard(second.mode, first.mode)) if pair.either else also
    strands = (first.actor, second.actor)
    return Finding(rule, "", second.event.op.span, "", strands, (Label(first.event.op.span, ""),), pair=pair, also=also)
