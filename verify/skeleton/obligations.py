"""What has to be shown of a skeleton, as pieces that are decided apart from each other.

Only proofs come from here: what is not proved is UNKNOWN with the reason, and it takes an execution that goes wrong to
refute it (`exogpu.verify.explore`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import holds
from exogpu.ir.index import Index, Int
from exogpu.smt.index import to_formula, to_poly
from exogpu.smt.poly import ZERO
from exogpu.smt.terms import Formula
from exogpu.verify.bounds import bounds, target_cta
from exogpu.verify.claim import Claim
from exogpu.verify.concrete import Env, Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.ordinal import count_all
from exogpu.verify.performed import performed
from exogpu.verify.phases import Phases, arrives, awaits, channels
from exogpu.verify.pieces import Piece
from exogpu.verify.program import Barrier, Counted, Event, ExpectAction, Program
from exogpu.verify.races import Conflict, conflicts
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.barriers import Value
from exogpu.verify.skeleton.coverage import between
from exogpu.verify.skeleton.flags import flag_pieces
from exogpu.verify.skeleton.flows import Flow, parties, totals
from exogpu.verify.skeleton.init import initialisation
from exogpu.verify.skeleton.leaving import ends_of, warps
from exogpu.verify.skeleton.lives import Lives, life_pieces
from exogpu.verify.skeleton.numbering import holds as holding
from exogpu.verify.skeleton.observed import observed
from exogpu.verify.skeleton.reading import Checked
from exogpu.verify.skeleton.settle import any_of, obligation, settle, with_more
from exogpu.verify.skeleton.sharing import Shared, shared_pieces
from exogpu.verify.skeleton.teams import Turns, each_once
from exogpu.verify.skeleton.together import comes_first
from exogpu.verify.skeleton.transfers import balanced
from exogpu.verify.split import in_turns


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a skeleton's program besides its events; `changes` of registers are increases or not."""

    flows: dict[str, tuple[Flow, ...]]
    starts: dict[str, int]
    slots: dict[int, Index]
    inits: dict[str, tuple[Event, ...]]
    values: dict[int, Value]
    checks: tuple[Checked, ...]
    lives: dict[str, Lives]
    shared: tuple[Shared, ...]
    changes: tuple[tuple[Event, bool], ...]


def pieces(program: Program, facts: Facts) -> Iterator[Piece]:
    """Every obligation but progress (`rank`)."""
    for conflict in conflicts(program):
        yield Piece(4, partial(_race, conflict=conflict))
    for barrier in program.barriers.values():
        yield from (_generations if barrier.named else _flag if barrier.flag else _mbarrier)(program, facts, barrier)
    yield from shared_pieces(program, facts.shared)
    for claim in _claims(program, facts):
        yield Piece(1, partial(_claimed, claim=claim))


def _race(program: Program, conflict: Conflict) -> Iterator[Obligation]:
    first, second = conflict.first, conflict.second
    one, other = (f"{use.event.label} (line {use.event.span.line})" for use in (first, second))
    title = f"{one} and {other} on {conflict.buffer.name} are ordered"
    base = obligation(conflict.goal.name, conflict.rule, title, second.access.span)
    found = settle(program, base, (conflict.goal,))
    if found.status is not Status.PROVED:
        ways = (settle(program, base, way) for way in between(program, conflict))
        found = next((way for way in ways if way.status is Status.PROVED), found)
    if found.status is not Status.PROVED or found.chains or found.queries:
        yield found


def _claims(program: Program, facts: Facts) -> Iterator[Claim]:
    for event in program.events:
        for n, access in enumerate(event.accesses):
            yield from bounds(program, event, access, n)
        yield from target_cta(program, event)
    for checked in facts.checks:
        yield _check(checked)


def _claimed(program: Program, claim: Claim) -> Iterator[Obligation]:
    base = Obligation(claim.prop.name, claim.rule, claim.title, Status.PROVED, claim.span)
    yield settle(program, base, (claim.prop,))


def _check(checked: Checked) -> Claim:
    event, cond = checked.event, checked.cond

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.ctx.api.negate(to_formula(model.ctx, cond, xs[0].env))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        return not holds(cond, xs[0].env)

    prop = Property(f"check/{event.id}", (event,), bad, check)
    if checked.stmt is None:
        return Claim(prop, "bounds", "the window is inside its object", "the window leaves its object", event.span)
    text = checked.stmt.text or "the condition"
    return Claim(prop, "seq.mismatch", f"{text} holds", f"{text} does not hold", checked.stmt.span)


# -- mbarriers ---------------------------------------------------------------------------------------------------------


def _mbarrier(program: Program, facts: Facts, barrier: Barrier) -> Iterator[Piece]:
    flows = facts.flows[barrier.name]
    waits = awaits(program, barrier.name)
    if barrier.name in facts.lives:
        yield from life_pieces(program, facts.lives[barrier.name], flows)
    else:
        yield from initialisation(program, barrier, facts.inits.get(barrier.name, ()), facts.slots)
    if not flows and not waits:
        return
    for hold in holding(program, barrier.name):
        slot, start = facts.slots[hold.id], facts.starts[barrier.name]
        yield Piece(1, partial(_slot, barrier=barrier, event=hold, slot=slot, start=start))
        yield Piece(6, partial(_open, barrier=barrier, event=hold, flows=flows, slots=facts.slots))
        yield Piece(1, partial(_held, barrier=barrier, hold=hold, flows=flows))
    yield Piece(1, lambda p: (_count(p, barrier, flows),))
    yield Piece(2, lambda p: (balanced(p, barrier, flows),))
    yield Piece(3, partial(observed, barrier=barrier, flows=flows))
    for flow in flows:
        if flow.turns is not None:
            yield Piece(3, partial(_in_turn, barrier=barrier, flow=flow, turns=flow.turns))
        for event in flow.statements:
            slot, start = facts.slots[event.id], facts.starts[barrier.name]
            yield Piece(1, partial(_slot, barrier=barrier, event=event, slot=slot, start=start))
            yield Piece(6, partial(_open, barrier=barrier, event=event, flows=flows, slots=facts.slots))
            if isinstance(event.action, ExpectAction):
                yield Piece(4, partial(_announced, barrier=barrier, event=event, flows=flows))
    for wait in waits:
        yield Piece(1, partial(_stated, barrier=barrier, wait=wait, slot=facts.slots[wait.id]))
        yield Piece(6, partial(_open, barrier=barrier, event=wait, flows=flows, slots=facts.slots))
        yield Piece(6, partial(_not_lapped, barrier=barrier, wait=wait, flows=flows))


def _flag(program: Program, facts: Facts, barrier: Barrier) -> Iterator[Piece]:
    flows = facts.flows[barrier.name]
    yield from flag_pieces(program, barrier, facts.values, flows)
    for flow in flows:
        for event in flow.statements:
            yield Piece(6, partial(_open, barrier=barrier, event=event, flows=flows, slots=facts.slots))


def _generations(program: Program, facts: Facts, barrier: Barrier) -> Iterator[Piece]:
    """A named barrier, or the cluster's: a thread that waits is itself part of the next generation, so it cannot miss
    one."""
    flows = joins(program, barrier)
    yield Piece(1, lambda p: (_count(p, barrier, flows),))
    for flow in flows:
        for event in flow.statements:
            yield Piece(6, partial(_open, barrier=barrier, event=event, flows=flows, slots=facts.slots))
    if barrier.split:
        for claim in in_turns(program, barrier):
            yield Piece(1, partial(_claimed, claim=claim))


def joins(program: Program, barrier: Barrier) -> tuple[Flow, ...]:
    """Those that join a named barrier or the cluster's, once for each generation."""
    found = parties(program, arrives(program, barrier.name))
    return tuple(Flow(through, statements, 1, 1) for through, statements in found)


def _count(program: Program, barrier: Barrier, flows: tuple[Flow, ...]) -> Obligation:
    title = f"arrivals of each {'generation' if barrier.named else 'phase'} of {barrier.name}: {barrier.count}"
    base = obligation(f"count/{barrier.name}", "bar.count" if barrier.named else "mbar.count", title, barrier.span)
    per_cta: dict[int, int] = {}
    for flow in flows if not barrier.named or barrier.split else ():
        for _, cta in flow.of_one_phase:
            per_cta[cta] = per_cta.get(cta, 0) + flow.rate * flow.arrivals
    for cta, _ in warps(program, barrier, flows) if barrier.named and not barrier.split else ():
        per_cta[cta] = per_cta.get(cta, 0) + WARP
    wrong = {n for n in per_cta.values() if n != barrier.count}
    if not wrong:
        return base
    reason = f"it waits for {barrier.count} arrivals in a phase, and {min(wrong)} make up a round of those that arrive"
    return replace(base, status=Status.UNKNOWN, reason=reason)


def _in_turn(program: Program, barrier: Barrier, flow: Flow, turns: Turns) -> Iterator[Obligation]:
    """Of those that take turns, exactly one contributes to each phase."""
    event = flow.statements[0]
    title = f"line {event.span.line} and others take turns at the phases of {barrier.name}"
    base = obligation(f"turns/{barrier.name}/{event.id}", "mbar.count", title, event.span)
    parts = [p for cta in sorted(flow.ctas) for p in each_once(turns.members(program, cta), cta)]
    yield settle(program, base, parts)


def _slot(program: Program, barrier: Barrier, event: Event, slot: Index, start: int) -> Iterator[Obligation]:
    """Signals go through the slots in turn."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        phase = phases.phase(x)
        turn = ctx.eq(to_poly(ctx, slot, x.env), ctx.mod(phase + start, barrier.ring))
        return ctx.api.negate(ctx.api.conj((turn, ctx.ge(phase, 0))))

    title = f"{event.label} (line {event.span.line}) goes through the {barrier.ring} slots in turn"
    base = obligation(f"slot/{barrier.name}/{event.id}", "mbar.count", title, event.span)
    prop = Property(base.name, (event,), bad, None)
    behind = isinstance(event.numbering, Counted) and event.numbering.lag
    if barrier.ring > 1 or slot != Int(0) or behind:
        yield settle(program, base, (prop,))


def _stated(program: Program, barrier: Barrier, wait: Event, slot: Index) -> Iterator[Obligation]:
    """A wait names a slot of the ring, and a phase that its parity can mean."""
    ring = barrier.ring

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        here = ctx.between(0, to_poly(ctx, slot, x.env), ring)
        return ctx.api.negate(ctx.api.conj((here, ctx.ge(phases.phase(x), -ring))))

    title = f"the wait at line {wait.span.line} is for a phase of a slot of {barrier.name}"
    base = obligation(f"wait/{barrier.name}/{wait.id}", "mbar.parity_alias", title, wait.span)
    yield settle(program, base, (Property(base.name, (wait,), bad, None),))


def _open(
    program: Program, barrier: Barrier, event: Event, flows: tuple[Flow, ...], slots: Mapping[int, Index]
) -> Iterator[Obligation]:
    """The phase before in the slot is complete when a signal or a wait comes."""
    signal = event not in awaits(program, barrier.name)
    rule = "mbar.unobserved_phase" if signal else "mbar.parity_alias"
    rule = "bar.recycle" if barrier.named else rule
    title = f"the phase before in its slot of {barrier.name} is complete at {event.label} (line {event.span.line})"
    base = obligation(f"open/{barrier.name}/{event.id}", rule, title, event.span)
    met = list(_meeting(program, flows, event))
    counted = [flow for flow in met if flow.numbers is None]
    # who has ended is not waited for
    left = [(flow, ends_of(program, barrier, flow)) for flow in counted]
    shown = settle(program, base, [enough(barrier, flow, event, barrier.ring, ends) for flow, ends in left])
    for earlier in (s for flow in met for s in flow.statements):
        if shown.status is Status.PROVED:
            goal = _follows(barrier, earlier, event, barrier.ring)
            shown = with_more(shown, comes_first(program, base, goal, slots))
    yield shown


def _meeting(program: Program, flows: Sequence[Flow], event: Event) -> Iterator[Flow]:
    """Flows that signal a barrier which the event means."""
    meant = {cta for _, cta in channels(program, event)}
    return (f for f in flows if f.ctas & meant)


def enough(barrier: Barrier, flow: Flow, event: Event, behind: int, ends: Sequence[Event] = ()) -> Property:
    """A flow goes as far as the phase that lies `behind` the event's, or its threads come to one of the `ends`."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        phase = phases.phase(x) - behind
        here = ctx.api.disj(ctx.eq(phases.cta(x), cta) for cta in sorted(flow.ctas))
        done = totals(model, flow)
        gone = [ZERO] * len(done)
        if ends:
            gone = [sum((count_all(model, e, t) for e in ends), ZERO) for t in flow.threads(model.program)]
        pairs = zip(done, gone, strict=True)
        less = (ctx.api.conj((ctx.lt(n, (phase + 1) * flow.rate), ctx.eq(end, 0))) for n, end in pairs)
        return ctx.api.conj((here, ctx.ge(phase, 0), ctx.api.disj(less)))

    name = f"{barrier.name}/{event.id}/enough-{flow.statements[0].id}"
    return Property(name, (event,), bad, None)


def _follows(barrier: Barrier, earlier: Event, later: Event, behind: int) -> Goal:
    """What happens for a phase comes before what happens `behind` phases later."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx, before = model.ctx, phases.phase(x)
        return ctx.api.conj((phases.same_cta(x, y), ctx.ge(before, 0), ctx.eq(phases.phase(y), before + behind)))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        same = cta_meant(u.program, x) == cta_meant(u.program, y)
        return same and 0 <= u.number_at(x) == u.number_at(y) - behind

    needs, also = performed(earlier)
    name = f"before/{barrier.name}/{earlier.id}-{later.id}"
    return Goal(name, earlier, later, condition, check, needs, also=also)


def _held(program: Program, barrier: Barrier, hold: Event, flows: tuple[Flow, ...]) -> Iterator[Obligation]:
    """The thread that holds a phase open arrives for it."""
    title = f"{hold.label} (line {hold.span.line}) is followed by an arrive of its thread"
    base = obligation(f"held/{barrier.name}/{hold.id}", "mbar.count", title, hold.span)
    mine = channels(program, hold)
    yield settle(
        program,
        base,
        [enough(barrier, f, hold, 0) for f in flows if f.arrivals and f.turns is None and mine <= f.channels],
    )


def _announced(program: Program, barrier: Barrier, event: Event, flows: tuple[Flow, ...]) -> Iterator[Obligation]:
    """Bytes are announced while the phase is kept open by an arrival that is still to come."""
    title = f"the bytes announced at line {event.span.line} belong to a phase that is open"
    base = obligation(f"announced/{barrier.name}/{event.id}", "mbar.tx_bytes", title, event.span)
    ways: list[list[Goal | Property]] = []
    for flow in _meeting(program, flows, event):
        if flow.arrivals and flow.ctas >= {cta for _, cta in channels(program, event)}:
            ways.append([enough(barrier, flow, event, 0), *(_follows(barrier, event, s, 0) for s in flow.statements)])
    yield any_of(program, base, ways)


def _not_lapped(program: Program, barrier: Barrier, wait: Event, flows: tuple[Flow, ...]) -> Iterator[Obligation]:
    """Some part of the next phase in the slot comes only after the wait has returned."""
    title = f"the wait on {barrier.name} at line {wait.span.line} is never overtaken by a whole ring"
    base = obligation(f"parity/{barrier.name}/{wait.id}", "mbar.parity_alias", title, wait.span)
    for cta in sorted({cta for _, cta in channels(program, wait)}):
        here = [f for f in flows if cta in f.ctas and f.numbers is None]
        each = [f for f in here if f.turns is None]
        waiting = {c for c in channels(program, wait) if c[1] == cta}
        mine = [f for f in each if f.arrivals and waiting <= f.channels]
        ways: list[list[Goal | Property]] = []
        ways += [[_overtaking(barrier, wait, s, cta, own=True) for s in f.statements] for f in mine]
        ways += [[_overtaking(barrier, wait, s, cta) for s in f.statements] for f in here]
        apart = [(f, by) for f in each if len(by_cta := _from(program, f, cta)) > 1 for by in by_cta]
        ways += [[_overtaking(barrier, wait, s, cta, by=by) for s in f.statements] for f, by in apart]
        ways += [] if any(cta in f.ctas for f in flows) else [[_for_no_phase(barrier, wait, cta)]]
        found = any_of(program, base, ways)
        if found.status is not Status.PROVED:
            yield found
            return
        base = with_more(base, found)
    yield base


def _for_no_phase(barrier: Barrier, wait: Event, cta: int) -> Property:
    """A wait passes at once, as for a mbarrier that nobody arrives at, of which no phase ends."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        return model.ctx.api.conj((model.ctx.eq(phases.cta(x), cta), model.ctx.ge(phases.phase(x), 0)))

    return Property(f"parity/{barrier.name}/{wait.id}/none/{cta}", (wait,), bad, None)


def _from(program: Program, flow: Flow, cta: int) -> list[int]:
    """The CTAs whose threads signal a CTA's barrier."""
    return sorted({t // program.threads for t, c in flow.channels if c == cta})


def _overtaking(
    barrier: Barrier, wait: Event, signal: Event, cta: int, *, own: bool = False, by: int | None = None
) -> Goal:
    """A part of the next phase in the slot, or the waiting thread's `own`, or what a CTA contributes, comes after the
    wait."""
    ring = barrier.ring

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx, waited = model.ctx, phases.phase(x)
        parts = [ctx.eq(phases.cta(x), cta), phases.same_cta(x, y), ctx.eq(phases.phase(y), waited + ring)]
        if own:
            parts.append(model.same_thread(x.threads, y.threads))
        if by is not None:
            parts.append(ctx.eq(phases.own_cta(y), by))
        return ctx.api.conj(parts)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        same = cta == cta_meant(u.program, x) == cta_meant(u.program, y) and (not own or x.first == y.first)
        same = same and by in (None, y.first // u.program.threads)
        return same and u.number_at(x) == u.number_at(y) - ring

    name = f"parity/{barrier.name}/{wait.id}-{signal.id}{'/own' * own}{'' if by is None else f'/{by}'}"
    return Goal(name, wait, signal, condition, check, Needs(temporal=True))
