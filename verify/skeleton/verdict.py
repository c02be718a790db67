"""The verdict on a skeleton: an execution that goes wrong at small sizes, a proof for all, or neither."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace

from exogpu.ir.skeleton.operations import Unsupported
from exogpu.ir.skeleton.tree import RANK, TID, Skeleton
from exogpu.ir.skeleton.walk import every_statement
from exogpu.ir.walk import index_names
from exogpu.smt.solver import Unsat, version
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.phases import barrier_cta, channels
from exogpu.verify.pieces import GROUP, Piece, groups
from exogpu.verify.program import Event, LoopKind, Program
from exogpu.verify.result import Obligation, Report, Status
from exogpu.verify.session import Session
from exogpu.verify.skeleton.barriers import Signals
from exogpu.verify.skeleton.cases import cases
from exogpu.verify.skeleton.counting import wrapped
from exogpu.verify.skeleton.division import divisible
from exogpu.verify.skeleton.in_turn import in_turn
from exogpu.verify.skeleton.inlined import inlined
from exogpu.verify.skeleton.joined import joined
from exogpu.verify.skeleton.laps import in_laps
from exogpu.verify.skeleton.lifetimes import lifetimes
from exogpu.verify.skeleton.lower import Walk
from exogpu.verify.skeleton.numbering import numbered
from exogpu.verify.skeleton.obligations import Facts, joins, pieces
from exogpu.verify.skeleton.operations import Operations
from exogpu.verify.skeleton.rank import progress
from exogpu.verify.skeleton.refute import refutation, turned
from exogpu.verify.skeleton.rolled import rolled
from exogpu.verify.skeleton.sharing import separated
from exogpu.verify.skeleton.shifted import shifted
from exogpu.verify.skeleton.successive import one_by_one
from exogpu.verify.skeleton.unsupported import NotModelled, SharedInPart
from exogpu.verify.skeleton.whole import whole
from exogpu.verify.skeleton.windows import Windows
from exogpu.verify.workers import spread


def verify_skeleton(skeleton: Skeleton, policy: Policy = DEFAULT, *, jobs: int = 1, hasty: bool = False) -> Report:
    """The verdict on a skeleton. A `hasty` one is reached sooner if something is wrong: executions may be larger than
    they have to be, and what is not shown is not all told. Executions come first, as a proof that fails takes long."""
    started = time.perf_counter()
    features = sorted({s.feature for s in every_statement(skeleton) if isinstance(s, Unsupported)})
    if features:
        reason = f"there is no model of {', '.join(features)}"
        return _report(skeleton, Status.UNSUPPORTED, (), started, policy, reason)
    fault = refutation(skeleton, policy, thorough=False)
    if fault is None:
        fault = turned(skeleton, policy, lowered=not hasty)
    if fault is not None:
        return _report(skeleton, Status.REFUTED, (fault,), started, policy)
    if _impossible(skeleton, policy):
        reason = "the require(...) preconditions leave no sizes, so nothing is shown"
        return _report(skeleton, Status.VACUOUS, (), started, policy, reason)
    try:
        found, reason = proof(skeleton, policy, jobs=jobs, hasty=hasty), ""
    except NotModelled as error:
        found, reason = (_unmodelled(error),), ""
    except NoClosedForm as error:
        found, reason = (), str(error)
    if found and _complete(found):
        return _report(skeleton, Status.PROVED, found, started, policy)
    suspected = dict.fromkeys(sizes for o in found for sizes in o.suspected)
    fault = refutation(skeleton, policy, thorough=True, suspected=suspected)
    if fault is not None:
        return _report(skeleton, Status.REFUTED, (fault,), started, policy)
    return _report(skeleton, Status.UNKNOWN, found, started, policy, reason)


def _unmodelled(error: NotModelled) -> Obligation:
    """What takes the place of all obligations where they cannot be stated."""
    title = "the proof has a model of what stands here"
    return Obligation("model", "unknown", title, Status.UNKNOWN, error.span, reason=error.reason, help=error.help)


def proof(skeleton: Skeleton, policy: Policy, *, jobs: int = 1, hasty: bool = False) -> tuple[Obligation, ...]:
    """What has to be shown in every case, as far as it can be, or `hasty` up to what cannot; raises `NotModelled` or
    `NoClosedForm`."""
    found = ((shown, inlined(case)) for shown, case in cases(skeleton))
    return tuple(_titled(o, shown) for shown, case in found for o in _proof(case, policy, jobs, hasty=hasty))


def _titled(o: Obligation, shown: str) -> Obligation:
    return replace(o, name=f"{o.name}, {shown}", title=f"{o.title} ({shown})") if shown else o


def _proof(skeleton: Skeleton, policy: Policy, jobs: int, *, hasty: bool) -> tuple[Obligation, ...]:
    """In another form of the same meaning, of which more is known, or, if that does not do, in the one nearest to what
    is written: with loops for what is unrolled by hand or in parts, and stores for additions to a flag that wait for
    their turn."""
    written, at_once = shifted(one_by_one(skeleton)), joined(skeleton)
    compact = rolled(written if at_once is skeleton else shifted(one_by_one(at_once)))
    for form in dict.fromkeys(f for f in (in_turn(compact), compact) if f != written):
        try:
            found = _in_parts(form, policy, jobs, hasty=hasty)
        except (NotModelled, NoClosedForm):
            continue
        if found and _complete(found):
            return found
    return _in_parts(written, policy, jobs, hasty=hasty)


def _in_parts(skeleton: Skeleton, policy: Policy, jobs: int, *, hasty: bool) -> tuple[Obligation, ...]:
    """With whole roles or, if that does not do, with their parts."""

    def decided(*, divided: bool) -> tuple[Obligation, ...]:
        return tuple(_decided(skeleton, policy, jobs, divided=divided, hasty=hasty))

    if not divisible(skeleton):
        return decided(divided=False)
    try:
        found = decided(divided=False)
    except (NotModelled, NoClosedForm):
        return decided(divided=True)
    return found if _complete(found) else decided(divided=True)


def _complete(found: Iterable[Obligation]) -> bool:
    return all(o.status is Status.PROVED for o in found)


def _decided(skeleton: Skeleton, policy: Policy, jobs: int, *, divided: bool, hasty: bool) -> Iterator[Obligation]:
    program, facts = prepare(skeleton, policy, divided=divided)
    parts = (
        *pieces(program, facts),
        *lifetimes(program, skeleton),
        *whole(program, skeleton, facts.lives),
        Piece(GROUP, lambda p: (progress(p, facts),)),
    )
    with closing(spread([group.decide for group in groups(program, parts)], jobs)) as results:
        for found in results:
            yield from found
            if hasty and not _complete(found):
                return


def _impossible(skeleton: Skeleton, policy: Policy) -> bool:
    """No sizes satisfy the preconditions."""
    return isinstance(Session(_empty(skeleton, policy), "assumptions", {}).check(), Unsat)


def prepare(skeleton: Skeleton, policy: Policy, *, divided: bool = False) -> tuple[Program, Facts]:
    """The parallel program of a skeleton, its roles `divided` or not, with phases, and what else is known of it; raises
    `NotModelled`."""
    if {TID, RANK} & set(skeleton.sizes):
        raise NotModelled("a size has the name of the executing thread or its CTA", skeleton.span)
    skeleton = in_laps(wrapped(skeleton))
    first = Signals(skeleton)
    _walk(skeleton, first, divided=divided)
    signals = Signals(skeleton, rings=first.found_rings())
    try:
        return _prepared(skeleton, policy, signals, divided=divided)
    except SharedInPart:
        # once more, with a statement of its own for each CTA and each class of threads
        classes = signals.told_apart()
        return _prepared(skeleton, policy, Signals(skeleton, classes=classes, rings=signals.rings), divided=divided)


def _walk(skeleton: Skeleton, signals: Signals, *, divided: bool) -> tuple[Walk, Operations]:
    operations = Operations(skeleton, _windows(skeleton), signals)
    walk = Walk(skeleton, operations, divided, signals.derived)
    walk.run()
    return walk, operations


def _prepared(skeleton: Skeleton, policy: Policy, signals: Signals, *, divided: bool) -> tuple[Program, Facts]:
    walk, operations = _walk(skeleton, signals, divided=divided)
    program = replace(
        _empty(skeleton, policy),
        barriers=signals.barriers,
        events=tuple(operations.events),
        derived=walk.derived,
    )
    for event in program.events:
        _in_cluster(program, event)
    program, shared = separated(program, skeleton)
    phased = numbered(program, signals)
    for barrier in program.barriers.values():
        if barrier.named:
            joins(phased.program, barrier)  # raises where threads join it in part
    renewed = phased.program.events
    checks = tuple(replace(c, event=renewed[c.event.id]) for c in operations.checks)
    inits = {name: tuple(renewed[e.id] for e in found) for name, found in signals.inits.items()}
    changes = tuple((renewed[e.id], increases) for e, increases in operations.changes)
    return phased.program, Facts(
        phased.flows, phased.starts, signals.slots, inits, signals.values, checks, phased.lives, shared, changes
    )


def _windows(skeleton: Skeleton) -> Windows:
    return Windows({o.name: o for o in skeleton.objects}, skeleton.cluster)


def _empty(skeleton: Skeleton, policy: Policy) -> Program:
    """The parallel program without anything that happens."""
    return Program(
        name=skeleton.name,
        span=skeleton.span,
        sizes=skeleton.sizes,
        requires=tuple(r.cond for r in skeleton.requires),
        threads=skeleton.threads,
        cluster=skeleton.cluster,
        persistent=False,
        tasks=(),
        buffers=_windows(skeleton).buffers(),
        barriers={},
        events=(),
        axioms=policy.in_force,
        sequential=False,
    )


def _in_cluster(program: Program, event: Event) -> None:
    """Raises if a signal or a wait is not for a CTA that follows from the thread alone."""
    cta = barrier_cta(event)
    if cta is None:
        return
    if not index_names(cta) <= {loop.var for loop in event.loops if loop.kind is LoopKind.THREADS}:
        raise NotModelled(f"the CTA that {event.label} means depends on more than the thread", event.span)
    if not {c for _, c in channels(program, event)} <= {*range(program.cluster)}:
        raise NotModelled(f"{event.label} reaches a CTA that the cluster does not have", event.span)


def _report(
    skeleton: Skeleton,
    status: Status,
    obligations: tuple[Obligation, ...],
    started: float,
    policy: Policy,
    reason: str = "",
) -> Report:
    seconds = time.perf_counter() - started
    return Report(skeleton.name, skeleton.span, status, obligations, version(), seconds, reason, policy)
