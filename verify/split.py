"""The cluster barrier in two parts: every thread arrives, then waits, then arrives again (PTX ISA, barrier.cluster)."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.smt.poly import ZERO
from exogpu.smt.terms import Formula
from exogpu.verify.claim import Claim
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.phases import Phases, arrives, awaits, channels, signalled_by
from exogpu.verify.program import AwaitAction, Barrier, Event, Program
from exogpu.verify.single import Property
from exogpu.verify.tally import Tally


def in_turns(program: Program, barrier: Barrier) -> Iterator[Claim]:
    """At each arrive the thread has waited as often as it has arrived, at each wait once less: the first statement that
    is out of turn is an arrive too many or a wait too many."""
    for event in (*arrives(program, barrier.name), *awaits(program, barrier.name)):
        yield _turn(program, barrier, event)


def _turn(program: Program, barrier: Barrier, event: Event) -> Claim:
    waits = isinstance(event.action, AwaitAction)
    through = channels(program, event)
    joins = signalled_by(program, through, arrives(program, barrier.name))
    ends = signalled_by(program, through, awaits(program, barrier.name))

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        joined, ended = (sum((phases.count(xs[0], s) for s in found), ZERO) for found in (joins, ends))
        return model.ctx.le(joined, ended) if waits else model.ctx.lt(ended, joined)

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        tally = Tally(program, sizes)
        open_ = sum(tally.before(e, xs[0]) for e in joins) - sum(tally.before(e, xs[0]) for e in ends)
        return open_ <= 0 if waits else open_ > 0

    what = "waits for what it has joined" if waits else "joins after it has waited for the generation before"
    wrong = "waits for the cluster without having arrived" if waits else "arrives twice without a wait between"
    return Claim(
        Property(f"turns/{event.id}", (event,), bad, check),
        "deadlock.cycle" if waits else "bar.recycle",
        f"every thread at line {event.span.line} {what}",
        f"a thread {wrong}",
        event.span,
        "let every thread of the cluster execute cluster_arrive() and then cluster_wait(), in turns",
    )
