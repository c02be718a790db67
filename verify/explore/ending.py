"""What is wrong when nothing moves any more: blocked strands, or leftovers when all have ended."""

from __future__ import annotations

from exogpu.diagnostics import Label
from exogpu.ir.skeleton import operations as ops
from exogpu.ir.skeleton.objects import Global
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.help import MEETING, OVERTAKEN, PHASE, passing
from exogpu.verify.explore.machine import BARRIER_WAITS, ENDED, EXITED, RUNNING, WARP_WAITS, Machine
from exogpu.verify.explore.mbarriers import Mbarrier
from exogpu.verify.explore.program import Strand
from exogpu.verify.explore.storage import EVERYWHERE
from exogpu.verify.explore.text import at, counted, operation


def verdict(m: Machine) -> Finding | None:
    """What is wrong, if anything; nothing can move."""
    blocked = [s for s in m.program.strands if m.state[s.number] < ENDED]
    return _deadlock(m, blocked) if blocked else _leftover(m)


# -- deadlocks ---------------------------------------------------------------------------------------------------------


def _deadlock(m: Machine, blocked: list[Strand]) -> Finding:
    order = sorted(blocked, key=lambda s: _rank(m, s))
    first = order[0]
    e = m.event(first)
    rule, why = _cause(m, blocked)
    groups: dict[tuple[str, str], list[Strand]] = {}
    for s in order:
        groups.setdefault((s.role.name, _awaits(m, s)), []).append(s)
    labels: dict[object, Label] = {}
    for (role, _), strands in groups.items():
        span = m.event(strands[0]).op.span
        if span != e.op.span:
            labels.setdefault(span, Label(span, f"{role} waits here"))
    facts = [(m.program.actors(strands), what) for (_, what), strands in groups.items()]
    facts += [("overtaken", text) for s in order[:1] for text in _overtaken(m, s)]
    message = f"{m.program.actor(first)} waits for ever in {operation(e)}{at(e.iteration)}{why}"
    also = () if rule == "deadlock.cycle" else ("deadlock.cycle",)
    also = (*also, "mbar.parity_alias") if any(_overtaken(m, s) for s in order) else also
    numbers = tuple(s.number for s in order)
    label = f"{first.role.name} waits here"
    places = tuple(labels.values())
    awaited = frozenset(_awaited(m, s) for s in order)
    advice = _advice(m, order) if rule == "deadlock.cycle" else None
    return Finding(rule, message, e.op.span, label, numbers, places, tuple(facts), None, also, awaited, advice)


def _advice(m: Machine, order: list[Strand]) -> str | None:
    """What to do about the first wait, if there is more to say than of any."""
    first = order[0]
    if _barrier(m, first) is not None:
        if _overtaken(m, first):
            return OVERTAKEN
        fresh = [b for s in order if (b := _barrier(m, s)) is not None and _only_behind(m, order, b)]
        return PHASE + (passing(fresh[0].name) if fresh else "")
    waits = m.state[first.number] == BARRIER_WAITS or isinstance(m.event(first).op, ops.ClusterWait)
    return MEETING if waits else None


def _only_behind(m: Machine, blocked: list[Strand], b: Mbarrier) -> bool:
    """A fresh mbarrier that hands no bytes on; arrivals for its first phase would come, were nobody blocked."""
    if b.completed or b.pending < b.count:
        return False
    rest = [e.op for s in blocked for e in s.events[m.pc[s.number] :] if b.key in e.barriers]
    return any(isinstance(o, ops.Arrive) for o in rest) and not any(
        isinstance(o, ops.TmaLoad | ops.StAsync) or (isinstance(o, ops.Arrive) and o.tx is not None) for o in rest
    )


def _awaited(m: Machine, s: Strand) -> str:
    """The barrier or flag that a blocked strand waits for, as the log names it."""
    b = _barrier(m, s)
    if b is not None:
        return b.name
    e = m.event(s)
    match e.op:
        case ops.BarSync():
            return f"barrier {e.number}"
        case ops.ClusterWait():
            return "cluster barrier"
        case ops.SetMaxnreg():
            return "free registers"
        case _:
            return e.shown


def _rank(m: Machine, s: Strand) -> tuple[int, int]:
    """The most telling first: overtaken waits, waits at mbarriers, other waits."""
    if any(_overtaken(m, s)):
        return (0, s.number)
    return (1 if m.state[s.number] == RUNNING else 2, s.number)


def _barrier(m: Machine, s: Strand) -> Mbarrier | None:
    e = m.event(s)
    return m.mbarriers[e.barriers[0]] if isinstance(e.op, ops.Await) and m.state[s.number] == RUNNING else None


def _overtaken(m: Machine, s: Strand) -> list[str]:
    """Phases whose completion let the strand pass once, and does no more by its parity."""
    b = _barrier(m, s)
    if b is None:
        return []
    # a first wait for odd parity passes on the fresh barrier
    last = m.last_phase.get((s.number, b.key), -1 - m.event(s).number)
    if b.completed - last <= 2:
        return []
    before = f"phase {last + 1} of {b.name} was complete" if last >= -1 else f"{b.name} was fresh"
    return [
        f"{before}, but phase {b.completed - 1} completed before {m.program.actor(s)} looked: "
        f"by its parity the wait is for phase {b.completed} now"
    ]


def _awaits(m: Machine, s: Strand) -> str:
    e = m.event(s)
    if m.state[s.number] == WARP_WAITS:
        return f"waits in {operation(e)} for the other threads of its warp"
    if m.state[s.number] == BARRIER_WAITS:
        bar = m.named[s.cta, e.number]
        who = "all threads of the CTA" if bar.threads is None else f"{bar.threads} threads"
        return f"waits in {operation(e)} for {who}; {32 * len(bar.joined)} have come"
    b = _barrier(m, s)
    if b is not None:
        missing = [counted(b.pending, "arrival")] * bool(b.pending) + [f"{b.tx} bytes"] * bool(b.tx)
        return (
            f"waits for phase {b.completed} of {b.name} (parity {e.number}){at(e.iteration)}; "
            f"{' and '.join(missing) or 'nothing'} pending"
        )
    if isinstance(e.op, ops.Spin):
        return f"waits until {operation(e)} sees {e.number}; it is {m.flags[e.barriers[0]].value}"
    if isinstance(e.op, ops.ClusterWait):
        return f"waits in {operation(e)} for the whole cluster; {_missing(m)}"
    if isinstance(e.op, ops.SetMaxnreg):
        return f"waits in {operation(e)} for registers; {m.pool[s.cta]} per thread of a warp are free"
    return f"waits in {operation(e)}"


def _missing(m: Machine) -> str:
    """Who has not arrived at the cluster's barrier."""
    missing = [s for s in m.program.strands if m.state[s.number] != EXITED and s.number not in m.cluster.arrived]
    if not missing:
        return "it has not arrived itself"
    first = [s for s in missing if (s.cta, s.role.name) == (missing[0].cta, missing[0].role.name)]
    return f"{m.program.actors(first)} has not arrived"


def _cause(m: Machine, blocked: list[Strand]) -> tuple[str, str]:
    """The rule, and an addition to the message."""
    barriers = [b for s in blocked if (b := _barrier(m, s)) is not None]
    for b in (b for b in barriers if b.tx and not b.pending and not _comes(m, blocked, b)):
        phase = f"phase {b.completed} of `{b.name}`"
        if b.tx < 0:
            return "mbar.tx_bytes", f": {phase} has got {-b.tx} bytes more than are expected"
        return "mbar.tx_bytes", f": {phase} expects {b.tx} bytes more than are copied"
    for s in blocked:
        if isinstance(m.event(s).op, ops.SetMaxnreg) and m.state[s.number] == RUNNING:
            return "setmaxnreg.pool", ": the registers are never free"
    return "deadlock.cycle", ""


def _comes(m: Machine, blocked: list[Strand], b: Mbarrier) -> bool:
    """A blocked strand would still expect or copy bytes."""
    return any(
        b.key in e.barriers and isinstance(e.op, ops.TmaLoad | ops.StAsync | ops.Arrive | ops.Expect)
        for s in blocked
        for e in s.events[m.pc[s.number] :]
    )


# -- leftovers ---------------------------------------------------------------------------------------------------------


def _leftover(m: Machine) -> Finding | None:
    for check in (_bytes, _warpgroups, _results):
        found = check(m)
        if found is not None:
            return found
    return None


def _bytes(m: Machine) -> Finding | None:
    for b in m.mbarriers.values():
        if b.valid and b.tx:
            last = next(x for x in reversed(m.log) if x.barrier == b.name)
            e = m.program.strands[last.strand].events[last.event]
            more = f"has got {-b.tx} bytes more than are expected" if b.tx < 0 else f"still expects {b.tx} bytes"
            message = f"at the end, phase {b.completed} of `{b.name}` {more}"
            return Finding("mbar.tx_bytes", message, e.op.span, "counted here", (last.strand,))
    return None


def _warpgroups(m: Machine) -> Finding | None:
    """Warps of a warpgroup have executed different numbers of wgmma or setmaxnreg."""
    for key, order in m.warpgroups.items():
        for warp in range(key[1], key[1] + 4):
            if m.wgmmas[key][warp] < len(order):
                e, strand = order[m.wgmmas[key][warp]]
                message = f"{operation(e)} is not executed by all warps of the warpgroup"
                return Finding("wgmma.convergence", message, e.op.span, "needs a whole warpgroup", (strand,))
    for s in m.program.strands:
        if len({m.maxnregs[w] for w in m.program.warpgroup(s) if w in m.program.warps}) > 1:
            for e in (e for e in s.events if isinstance(e.op, ops.SetMaxnreg)):
                message = f"{operation(e)} is not executed by all warps of the warpgroup"
                return Finding("setmaxnreg.pool", message, e.op.span, "needs a whole warpgroup", (s.number,))
    return None


def _results(m: Machine) -> Finding | None:
    for o in m.program.skeleton.objects:
        if isinstance(o, Global) and o.result:
            storage = m.program.storage
            missing = storage.whole(o.name) & ~m.written[storage.space(o.name, EVERYWHERE).root]
            if missing:
                message = f"`{storage.text(o.name, missing)}` is a result and never written"
                return Finding("seq.mismatch", message, o.span, "not written everywhere", ())
    return None
