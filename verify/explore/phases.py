"""Arrivals, bytes and waits at mbarriers, and when they count."""

from __future__ import annotations

from exogpu.ir.instr import Mode
from exogpu.ir.skeleton.operations import Arrive, Await, CopyArrive, Expect, Init, Inval, StAsync, TmaLoad
from exogpu.verify.explore.accesses import reach, touch
from exogpu.verify.explore.events import Event, Window
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.flights import Flight
from exogpu.verify.explore.knowledge import PLAIN, TEMPORAL, Knowledge, common, nothing
from exogpu.verify.explore.machine import Machine, Met
from exogpu.verify.explore.mbarriers import MOST_BYTES, Key, Mbarrier
from exogpu.verify.explore.program import Footprint, Strand
from exogpu.verify.explore.text import counted, operation

Uses = TmaLoad | StAsync | Init | Inval | Arrive | Expect | CopyArrive | Await
"""Operations that use an mbarrier."""


def usable(m: Machine, s: Strand, key: Key) -> Mbarrier:
    """The mbarrier, which the strand's current event uses; raises Violation if it can be uninitialised."""
    e, b = m.event(s), m.mbarriers[key]
    reach(m, s, key[0])
    unordered = key in m.program.initialised
    if not b.valid:
        rule = "mbar.init_unordered" if unordered and b.by is None else "mbar.uninit"
        message = f"{operation(e)} on mbarrier `{b.name}`, which is not initialised"
        if rule == "mbar.init_unordered":
            message = f"{operation(e)} can come before the initialisation of mbarrier `{b.name}`"
        m.fail(Finding(rule, message, e.op.span, "not initialised yet", (s.number,)))
    if b.by is not None and not _sees_init(m, s, b.by):
        message = f"nothing orders the initialisation of mbarrier `{b.name}` before {operation(e)}"
        m.fail(Finding("mbar.init_unordered", message, e.op.span, "may see it uninitialised", (s.number, b.by[0])))
    if key in m.program.invalidated:
        assert isinstance(e.op, Uses)
        place = m.program.storage.roots[key[1]][1] + key[2]
        window = Window(e.op.barrier, m.program.storage.space(key[1], key[0]), 1 << place)
        touch(m, s, Footprint(window, 1 << place, None), Mode.READ)
    return b


def _sees_init(m: Machine, s: Strand, by: tuple[int, int]) -> bool:
    strand, pos = by
    mind = m.minds[s.number]
    rows = (PLAIN,) if m.rows.inits is None else (PLAIN, m.rows.inits)
    return strand == s.number or any(mind.shared[row].seen[strand] >= pos for row in rows)


def arrives(m: Machine, s: Strand) -> None:
    """mbarrier.arrive by every lane."""
    e, op = m.event(s), m.event(s).op
    assert isinstance(op, Arrive)
    known = m.publish(s)
    for key in e.barriers:
        b = usable(m, s, key)
        b.arrive(known[TEMPORAL])
        if e.number:
            expect_bytes(m, s, b, e.number * s.weight)
        near, wide = told(m, s, known, relaxed=op.relaxed, wide=op.scope != "cta")
        _in_order(m, s, b)
        for lane in range(s.weight):
            b.gathers.add(s.cta, near, wide, known[TEMPORAL])
            m.observed.append(Met(s.number, m.pc[s.number], lane, key, b.completed, b.life))
            count(m, s, b, op.count, more=lane + 1 < s.weight)


def told(
    m: Machine, s: Strand, known: Knowledge, *, relaxed: bool, wide: bool
) -> tuple[Knowledge | None, Knowledge | None]:
    """What a release tells threads of its own CTA, and those of others; a relaxed one what a fence covers before it, of
    its own thread or, by axiom L14, before a barrier."""
    wide = wide or "scope" in m.lenient or "L3" in m.axioms
    if not relaxed or "relaxed" in m.lenient:
        return known, known if wide else None
    if m.rows.strong is None:
        return None, None
    covered = [known[strong] for strong in m.rows.strong] if "L14" in m.axioms else m.fenced[s.number]
    near, far = (tuple(common(row, clock) for row in known) for clock in covered)
    return near, far if wide else None


def _in_order(m: Machine, s: Strand, b: Mbarrier) -> None:
    """What the strand does counts in the phase after the last completion, and so must come after that."""
    if not b.follows(m.temporal(s)):
        m.early(s, b.since)


def _observed(m: Machine, s: Strand, b: Mbarrier, e: Event) -> None:
    """A phase must not complete before a wait has seen the one before. The ISA asks for that before the first arrival,
    which multicast rings do not keep (a peer's release may come before the own producer's wait) and do not need."""
    last = b.completed - 2
    if b.seen < last:
        message = f"{operation(e)} completes phase {last + 1} of `{b.name}` before a wait has observed phase {last}"
        _mention(m, s, b, e, "mbar.unobserved_phase", message)


def _mention(m: Machine, s: Strand, b: Mbarrier, e: Event, rule: str, message: str) -> None:
    label = f"phase {b.completed} begins"
    m.mention(Finding(rule, message, e.op.span, label, (s.number,), mild=True))


def count(m: Machine, s: Strand, b: Mbarrier, arrivals: int, *, more: bool = False) -> None:
    """Arrivals count; `more` of the same event follow. Raises Violation if there are too many."""
    if arrivals > b.pending:
        e = m.event(s)
        message = f"{operation(e)}: phase {b.completed} of `{b.name}` gets more than its {counted(b.count, 'arrival')}"
        missing = (("bytes still missing", str(b.tx)),) if b.tx else ()
        m.fail(Finding("mbar.count", message, e.op.span, f"{b.pending} pending", (s.number,), facts=missing))
    b.pending -= arrivals
    m.note(s, "arrives", b.name, state(b))
    if settle(m, s, b, m.pc[s.number]) and more:
        e = m.event(s)
        who, phase = m.program.actor(s), b.completed - 1
        message = f"{operation(e)} by {who} completes phase {phase} of `{b.name}` and arrives for the next"
        _mention(m, s, b, e, "mbar.count", message)


def state(b: Mbarrier) -> str:
    """A barrier's state in words."""
    return f"phase {b.completed}: {counted(b.pending, 'arrival')}{f', {b.tx} bytes' if b.tx else ''} pending"


def settle(m: Machine, s: Strand, b: Mbarrier, index: int) -> bool:
    """Completes the phase if nothing is missing, by the strand's event `index`."""
    overtaken = b.settle()
    if overtaken is None:
        return False
    for strand, pos in overtaken:
        m.late(strand, pos)
    m.note(s, "completes", b.name, f"phase {b.completed}", index)
    _observed(m, s, b, s.events[index])
    return True


def expect_bytes(m: Machine, s: Strand, b: Mbarrier, more: int) -> None:
    """mbarrier.expect_tx; raises Violation if there are too many."""
    b.tx += more
    if b.tx > MOST_BYTES:
        e = m.event(s)
        message = f"phase {b.completed} of `{b.name}` expects {b.tx} bytes, more than {MOST_BYTES}"
        m.fail(Finding("mbar.tx_bytes", message, e.op.span, "too many", (s.number,)))


def expects(m: Machine, s: Strand) -> None:
    """mbarrier.expect_tx by every lane."""
    e = m.event(s)
    assert isinstance(e.op, Expect)
    known = m.publish(s)
    for key in e.barriers:
        b = usable(m, s, key)
        _in_order(m, s, b)
        expect_bytes(m, s, b, e.number * s.weight)
        b.announced.append((s.number, m.pc[s.number] + 1))
        b.gathers.add(s.cta, None, None, known[TEMPORAL])
        m.observed.append(Met(s.number, m.pc[s.number], None, key, b.completed, b.life))
        m.note(s, "expects", b.name, state(b))
        settle(m, s, b, m.pc[s.number])


def waits(m: Machine, s: Strand) -> None:
    """A try_wait that succeeds."""
    e, op = m.event(s), m.event(s).op
    assert isinstance(op, Await)
    b = usable(m, s, e.barriers[0])
    mind = m.minds[s.number]
    phase = m.last_phase[s.number, b.key] = b.passes(s.number, m.pc[s.number] + 1)
    b.told.happened(mind)
    m.observed.append(Met(s.number, m.pc[s.number], None, b.key, phase, b.life))
    wide = op.scope != "cta" or "scope" in m.lenient or "L3" in m.axioms
    if not op.relaxed or "relaxed" in m.lenient:
        b.told.teach(mind, s.cta, wide=wide)
    else:
        m.acquiring[s.number].append((b.told.copy(), int(wide)))
    m.note(s, "passes", b.name, f"phase {phase} is complete" if phase >= 0 else "no phase is complete")


def initialises(m: Machine, s: Strand) -> None:
    """mbarrier.init."""
    e, op = m.event(s), m.event(s).op
    assert isinstance(op, Init)
    m.enter(s)
    for key in e.barriers:
        b = m.mbarriers[key]
        if b.valid:
            message = f"mbarrier `{b.name}` is initialised again while it is in use"
            m.fail(Finding("mbar.reinit", message, e.op.span, "already initialised", (s.number,)))
        touch(m, s, s.footprints[m.pc[s.number]][0], Mode.WRITE)
        other = sharing(m, key)
        if other is not None:
            message = f"mbarrier `{b.name}` is initialised in the memory of mbarrier `{other.name}`, which is in use"
            m.fail(Finding("mbar.alias", message, e.op.span, "common storage", (s.number,)))
        b.start(op.count, (s.number, m.pc[s.number] + 1))
        m.observed.append(Met(s.number, m.pc[s.number], None, key, 0, b.life))
        m.note(s, "initialises", b.name, f"phase 0: {counted(op.count, 'arrival')} pending")
    if s.weight > 1:
        message = f"{operation(e)} is executed by {s.weight} threads"
        m.fail(Finding("mbar.reinit", message, e.op.span, "one thread initialises", (s.number,)))


def sharing(m: Machine, key: Key) -> Mbarrier | None:
    """Another mbarrier in the same memory that is initialised."""
    entries = m.program.overlaid.get(m.program.storage.space(key[1], key[0]), ())
    places = {found for found, where in entries if where == key}
    others = (m.mbarriers[where] for found, where in entries if found in places and where != key)
    return next((b for b in others if b.valid), None)


def invalidates(m: Machine, s: Strand) -> None:
    """mbarrier.inval."""
    e = m.event(s)
    assert isinstance(e.op, Inval)
    m.enter(s)
    for key in e.barriers:
        usable(m, s, key)
        touch(m, s, s.footprints[m.pc[s.number]][0], Mode.WRITE)
        b = m.mbarriers[key]
        b.valid = False
        m.observed.append(Met(s.number, m.pc[s.number], None, key, b.completed, b.life))
        m.note(s, "invalidates", b.name)


def copy_arrives(m: Machine, s: Strand, after: int) -> Flight:
    """cp.async.mbarrier.arrive: an arrival of every lane that comes after these operations."""
    e, op = m.event(s), m.event(s).op
    assert isinstance(op, CopyArrive)
    b = usable(m, s, e.barriers[0])
    known = m.publish(s)
    if not op.noinc:
        _in_order(m, s, b)
        b.pending += s.weight
        b.announced.append((s.number, m.pc[s.number] + 1))
        b.gathers.add(s.cta, None, None, known[TEMPORAL])
    return Flight(
        len(m.flights), s.number, m.pc[s.number], e, s.cta, known[TEMPORAL], b.key, arrivals=s.weight, after=after
    )


def lands(m: Machine, f: Flight) -> None:
    """An asynchronous operation is over, and counts at its barrier; raises Violation."""
    s = m.program.strands[f.actor]
    f.landed = True
    m.air.remove(f)
    if f.cta in m.ended:
        message = f"{operation(f.event)} completes in CTA {f.cta}, which has ended"
        m.fail(Finding("cluster.exit", message, f.event.op.span, "in flight", (f.actor,)))
    assert f.barrier is not None
    b = m.mbarriers[f.barrier]
    temporal = f.knew._replace(over=f.knew.over | f.bit)
    if not b.follows(f.knew):
        m.early_flight(f, b.since)
    bits = nothing(m.threads)._replace(over=f.bit | f.after)
    effects = (bits, *(nothing(m.threads) for _ in range(m.rows.count - 1)))
    b.gathers.add(f.cta, effects, effects, temporal)
    if f.arrivals:
        _arrivals_of_copies(m, s, b, f)
        return
    m.observed.append(Met(f.actor, f.index, None, b.key, b.completed, b.life))
    b.tx -= f.bytes
    m.note(s, "lands", b.name, state(b), f.index)
    if b.tx < -MOST_BYTES:
        message = f"phase {b.completed} of `{b.name}` gets {-b.tx} bytes that nobody expects"
        m.fail(Finding("mbar.tx_bytes", message, f.event.op.span, "too many", (f.actor,)))
    settle(m, s, b, f.index)


def _arrivals_of_copies(m: Machine, s: Strand, b: Mbarrier, f: Flight) -> None:
    if f.arrivals > b.pending:
        expected = counted(b.count, "arrival")
        message = f"{operation(f.event)}: phase {b.completed} of `{b.name}` gets more than its {expected}"
        m.fail(Finding("mbar.count", message, f.event.op.span, f"{b.pending} pending", (f.actor,)))
    m.observed.append(Met(f.actor, f.index, None, b.key, b.completed, b.life))
    b.arrive(f.knew)
    b.pending -= f.arrivals
    m.note(s, "lands", b.name, state(b), f.index)
    settle(m, s, b, f.index)
