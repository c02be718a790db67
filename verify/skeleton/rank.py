"""Progress: a rank of all waits and signals that grows along every thread and from every signal to the waits for it.

Take the blocked thread whose wait has the smallest rank. Something of the phase that it waits for is missing, and its
thread goes as far (`enough`), so that thread is blocked before: at a smaller rank. So nobody is blocked. Who gets more
registers waits for all that are given back in its CTA (`pool`).

`ranking` says what a rank looks like; what all of one form have to satisfy is learnt from pairs that a choice gets
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from exogpu.source import Span
from exogpu.verify.concrete import Unrolling
from exogpu.verify.ordering import Proved, Undecided
from exogpu.verify.phases import arrives, awaits, channels
from exogpu.verify.program import Barrier, Event, Program
from exogpu.verify.result import Obligation, Query, Status
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.skeleton.flows import Flow
from exogpu.verify.skeleton.leaving import ends, ends_of
from exogpu.verify.skeleton.mistakes import executed, mistakes
from exogpu.verify.skeleton.obligations import Facts, enough, joins
from exogpu.verify.skeleton.ranking import Ordered, Ranking, Why, forms
from exogpu.verify.skeleton.settle import suspect

SOLVES = 80
"""Most choices of ranks of one form."""


def progress(program: Program, facts: Facts) -> Obligation:
    """Every wait of every barrier returns."""
    title = "every thread that waits is woken"
    base = Obligation("progress", "deadlock.cycle", title, Status.PROVED, program.span)
    queries: list[Query] = []
    ordered: list[Ordered] = []
    for barrier in program.barriers.values():
        if barrier.flag and not facts.flows[barrier.name]:
            # that the value is stored at all is shown with the flag
            pairs = product(arrives(program, barrier.name), awaits(program, barrier.name))
            ordered += (Ordered(signal, wait, Why.COMPLETES) for signal, wait in pairs)
    for barrier in program.barriers.values():
        pairs = product(ends(program, barrier), awaits(program, barrier.name))
        ordered += (Ordered(end, wait, Why.ENDS) for end, wait in pairs)
    given, got = ([e for e, increases in facts.changes if increases is wanted] for wanted in (False, True))
    ordered += (Ordered(less, more, Why.GIVES_BACK) for less, more in product(given, got))
    for barrier, wait, flow in _waited(program, facts):
        ordered += (Ordered(s, wait, Why.COMPLETES) for s in flow.statements)
        if flow.numbers is not None:
            continue
        missing = enough(barrier, flow, wait, 0, ends_of(program, barrier, flow))
        match hold(program, missing):
            case Proved(_, query):
                queries.append(query)
            case Undecided(reason):
                return _unknown(base, wait.span, f"the phases that line {wait.span.line} waits for: {reason}")
            case Found(sizes, _):
                line = flow.statements[0].span.line
                reason = f"line {line} is executed too rarely for line {wait.span.line}"
                return suspect(replace(base, span=wait.span), sizes, reason)
    found = base
    for flat, pace in forms(program):
        found = _ranked(program, base, Ranking(program, tuple(ordered), flat, pace), queries)
        if found.status is Status.PROVED:
            break
    return found


def _unknown(base: Obligation, span: Span, reason: str) -> Obligation:
    return replace(base, status=Status.UNKNOWN, span=span, reason=reason)


def _waited(program: Program, facts: Facts) -> Iterator[tuple[Barrier, Event, Flow]]:
    """Every wait with everything that makes up the phases of its barrier."""
    for barrier in program.barriers.values():
        for wait in awaits(program, barrier.name):
            meant = {cta for _, cta in channels(program, wait)}
            flows = joins(program, barrier) if barrier.named else facts.flows[barrier.name]
            yield from ((barrier, wait, f) for f in flows if f.ctas & meant)


def _ranked(program: Program, base: Obligation, ranking: Ranking, queries: Sequence[Query]) -> Obligation:
    """Proved if ranks are found that grow for all sizes; a choice that is wrong at some is replaced by the next."""
    seen: list[Unrolling] = []
    done: list[tuple[Property, Query]] = []
    todo = list(ranking.wanted)
    reason = _chosen(ranking, seen)
    while todo and not reason:
        match hold(program, todo[0]):
            case Proved(_, query):
                done.append((todo.pop(0), query))
            case Undecided(why):
                return _unknown(base, todo[0].events[1].span, why)
            case Found(sizes, (earlier, later)):
                ranking.learn(earlier, later)
                if all(sizes != u.sizes for u in seen):
                    seen += executed(program, sizes)
                reason = _chosen(ranking, seen)
                todo += [prop for prop, _ in done]
                done = []
    if reason:
        return replace(base, status=Status.UNKNOWN, reason=reason)
    return replace(base, queries=(*queries, *(query for _, query in done)))


def _chosen(ranking: Ranking, seen: Sequence[Unrolling]) -> str:
    """Chooses ranks that grow at all sizes at which others have not; or says why there are none."""
    while ranking.solves < SOLVES:
        if not ranking.solve():
            return "no rank grows from every signal to every wait for it"
        wrong = [pair for unrolling in seen for pair in mistakes(ranking, unrolling)]
        if not wrong:
            return ""
        for earlier, later in wrong:
            ranking.learn(earlier, later)
    return f"no rank after {SOLVES} attempts"
