"""CTAs of a cluster: each has started before another touches its shared memory or its barriers, and has not ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from math import prod

from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Mode
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.ir.types import Smem
from exogpu.ir.walk import index_names
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant
from exogpu.verify.declared import CLUSTER_BARRIER
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.performed import AWAITED
from exogpu.verify.phases import Phases, awaits, barrier_cta, channels, executions, executors
from exogpu.verify.pieces import Piece
from exogpu.verify.program import Access, ArriveAction, Event, ExitAction, LoopKind, Program, TxOn
from exogpu.verify.races import concrete_box
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.flows import Flow, totals
from exogpu.verify.skeleton.obligations import joins
from exogpu.verify.skeleton.settle import any_of, obligation, settle

MOST_WAYS_TO_END = 8
"""In which threads of different sorts may end together."""


def lifetimes(program: Program, skeleton: Skeleton) -> Iterator[Piece]:
    """The obligations of all statements that reach into another CTA, or are still under way when their own ends."""
    if program.cluster > 1 and not any(isinstance(o, Mbarriers) and o.count is not None for o in skeleton.objects):
        for event in program.events:
            if _reaches_out(program, event):
                yield Piece(4, partial(_started, event=event))
    for cta in sorted(_ending(program, skeleton)):
        for event in program.events:
            yield Piece(4, partial(_ended, event=event, cta=cta))


def _remote(program: Program, event: Event) -> list[Access]:
    """Accesses of shared memory that may be another CTA's."""
    shared = (a for a in event.accesses if program.buffers[a.buffer].per_cta)
    return [a for a in shared if isinstance(program.buffers[a.buffer].memory, Smem)]


def _reaches_out(program: Program, event: Event) -> bool:
    barrier = program.barriers.get(getattr(event.action, "barrier", ""))
    if barrier is not None and (barrier.split or barrier.flag):
        return False
    if any(t // program.threads != cta for t, cta in channels(program, event)):
        return True
    places = [a.dims[0][0] for a in _remote(program, event)]
    if any(index_names(e) - {loop.var for loop in event.loops if loop.kind is LoopKind.THREADS} for e in places):
        return True
    return any(evaluate(e, env) != t // program.threads for t, env in executions(event) for e in places)


def _started(program: Program, event: Event) -> Iterator[Obligation]:
    """All threads of the cluster have joined its first generation before."""
    title = f"the CTAs that line {event.span.line} reaches have started"
    base = obligation(f"entry/{event.id}", "cluster.entry", title, event.span)
    barrier = program.barriers.get(CLUSTER_BARRIER)
    if barrier is None:
        yield any_of(program, base, [])
        return
    parts: list[Goal | Property] = []
    for flow in joins(program, barrier):
        parts.append(_joined(flow, event))
        parts += (_after_first(s, event) for s in flow.statements)
    yield settle(program, base, parts)


def _joined(flow: Flow, event: Event) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.ctx.api.disj(model.ctx.lt(total, 1) for total in totals(model, flow))

    return Property(f"entry/{event.id}/{flow.statements[0].id}", (event,), bad, None)


def _after_first(join: Event, event: Event) -> Goal:
    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        return model.ctx.eq(phases.phase(x), 0)

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        return u.number_at(x) == 0

    return Goal(f"entry/{join.id}-{event.id}", join, event, condition, check, Needs(temporal=True))


def _ending(program: Program, skeleton: Skeleton) -> set[int]:
    """CTAs all of whose threads end by statement."""
    out: set[int] = set()
    ends = [e for e in program.events if isinstance(e.action, ExitAction)]
    ended = frozenset[int]().union(*(executors(program, e) for e in ends))
    for cta in range(program.cluster):
        here = [b.role for b in skeleton.bodies if cta in b.role.ctas]
        threads = {cta * program.threads + r.first + t for r in here for t in range(r.threads)}
        if threads and threads <= ended:
            out.add(cta)
    return out


def _ended(program: Program, event: Event, cta: int) -> Iterator[Obligation]:
    """What touches a CTA is over when one of its threads ends, and so before the CTA does."""
    meant = {c for _, c in channels(program, event)} if barrier_cta(event) is not None else set()
    barrier = program.barriers.get(getattr(event.action, "barrier", ""))
    joins_cluster = barrier is not None and (barrier.split or barrier.flag)
    own = {t // program.threads for t in executors(program, event)}
    signals = cta in meant and own != {cta} and not joins_cluster
    uses = [a for a in event.accesses if isinstance(program.buffers[a.buffer].memory, Smem)]
    outside = event.completion is not None or own != {cta}
    if not signals and not (uses and outside):
        return
    remote = own != {cta}
    title = f"{event.label} (line {event.span.line}) is over before CTA {cta} ends"
    rule = "cluster.exit" if remote else "race.async_inflight"
    base = obligation(f"exit/{cta}/{event.id}", rule, title, event.span)
    ends = [e for e in program.events if isinstance(e.action, ExitAction)]
    here = [e for e in ends if cta in {t // program.threads for t in executors(program, e)}]
    touched = [*(uses if outside else []), *([None] if signals else [])]
    ways: list[tuple[int | None, list[Event]]] = []
    mine = executors(program, event)
    if own == {cta} and len(mine) > 1:
        ways.append((None, [e for e in here if executors(program, e) & mine]))
    ways += ((t, [e for e in here if t in executors(program, e)]) for t in _of_each_sort(program, cta))
    ways.sort(key=lambda way: way[0] is not None and not _awaits(program, event, way[0]))
    goals = [[_over(program, event, a, end, cta, t) for end in ends_of for a in touched] for t, ends_of in ways]
    goals.append([goal for a in touched for goal in _over_by_one(program, event, a, here, cta)])
    found = any_of(program, base, [g for g in goals if g])
    if found.status is not Status.PROVED or found.queries:
        yield found


def _awaits(program: Program, event: Event, thread: int) -> bool:
    """The thread waits for the barrier on which the operation completes."""
    if not isinstance(event.completion, TxOn):
        return False
    return any(thread in executors(program, e) for e in awaits(program, event.completion.barrier))


def _of_each_sort(program: Program, cta: int) -> list[int]:
    """A thread for each sort of those in a CTA that execute the same statements."""
    sorts: dict[tuple[bool, ...], int] = {}
    for t in range(cta * program.threads, (cta + 1) * program.threads):
        sorts.setdefault(tuple(t in executors(program, e) for e in program.events), t)
    return list(sorts.values())


def _over_by_one(program: Program, event: Event, access: Access | None, ends: list[Event], cta: int) -> Iterator[Goal]:
    """It is over when one of some threads ends, which may be another one each time: of those that do the most."""
    done = {t: {e.id for e in program.events if t in executors(program, e)} for t in _of_each_sort(program, cta)}
    most = [t for t, mine in done.items() if not any(mine < others for others in done.values())]
    each = [[(t, e) for e in ends if t in executors(program, e)] for t in most]
    if len(most) > 1 and prod(map(len, each)) <= MOST_WAYS_TO_END:
        for chosen in product(*each):
            first, *others = (_over(program, event, access, end, cta, t) for t, end in chosen)
            yield replace(first, others=tuple(others))


def _over(program: Program, event: Event, access: Access | None, end: Event, cta: int, thread: int | None) -> Goal:
    """It is over when that thread of the CTA ends; without one, when its own does. A CTA does not end before what its
    threads do themselves, so then only others' accesses matter."""
    foreign = access is not None and event.completion is None

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx = model.ctx
        who = model.same_thread(x.threads, y.threads) if thread is None else ctx.eq(y.threads.first, thread)
        away = [ctx.api.negate(ctx.eq(phases.own_cta(x), cta))] if foreign else []
        ends_here = ctx.api.conj((ctx.eq(phases.own_cta(y), cta), who, *away))
        if access is None:
            return ctx.api.conj((ends_here, ctx.eq(phases.cta(x), cta)))
        if not program.buffers[access.buffer].per_cta:
            return ends_here
        return ctx.api.conj((ends_here, ctx.eq(model.box(x, access)[0][0], cta)))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        if y.first // program.threads != cta or y.first != (x.first if thread is None else thread):
            return False
        if foreign and x.first // program.threads == cta:
            return False
        if access is None:
            return cta_meant(program, x) == cta
        return not program.buffers[access.buffer].per_cta or cta in concrete_box(x, access)[0]

    reads = access is not None and access.mode is Mode.READ
    name = f"exit/{cta}/{event.id}-{end.id}/{'own' if thread is None else thread}"
    also = AWAITED if access is None and isinstance(event.action, ArriveAction) else None
    return Goal(name, event, end, condition, check, Needs(reads_only=reads), also=also)
