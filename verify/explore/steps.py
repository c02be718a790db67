"""The interleaving that led to a fault, as far as it matters."""

from __future__ import annotations

from itertools import groupby

from exogpu.ir.skeleton.operations import BarSync
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.machine import ENDED, Logged, Machine
from exogpu.verify.explore.memory import Record, Unordered
from exogpu.verify.explore.text import operation
from exogpu.verify.result import Step

MOST_STEPS = 32

WORDS = {
    "starts": "issues {}",
    "waits": "executes {}",
    "accesses": "executes {}",
    "arrives": "executes {}",
    "expects": "executes {}",
    "passes": "passes {}",
    "joins": "executes {}",
    "initialises": "executes {}",
    "invalidates": "executes {}",
    "signals": "executes {}",
    "sees": "passes {}",
    "sets": "executes {}",
    "lands": "{} lands",
    "completes": "completes the phase",
}


def steps(m: Machine, finding: Finding, end: int) -> tuple[Step, ...]:
    """Steps of the threads that take part, and of those that complete phases of the barriers that these use."""
    taking_part = set(finding.strands)
    log = m.log[:end]
    if finding.pair is not None:
        earlier, later = _in_time(m, finding.pair)
        log = [x for x in log if (x.strand, x.event, x.what) != (later.actor, later.pos - 1, "starts")]
        first = (earlier.actor, earlier.pos - 1)
        used = {x.barrier for x in log if x.strand in taking_part and x.barrier}
        kept = [x for x in log if _of_race(x, taking_part, used, first)]
    else:
        kept = [x for x in log if x.barrier in finding.barriers or (x.strand in taking_part and x.what != "accesses")]
    found = [_step(m, list(same)) for _, same in groupby(kept, key=lambda x: _place(m, x))]
    return (*found[-MOST_STEPS:], *_last(m, finding))


def _in_time(m: Machine, pair: Unordered) -> tuple[Record, Record]:
    """The two accesses in the order of this execution, which ended with the later one."""
    unfinished = m.pc[pair.first.actor] == pair.first.pos - 1
    return (pair.second, pair.first) if unfinished else (pair.first, pair.second)


def _of_race(x: Logged, strands: set[int], barriers: set[str], first: tuple[int, int]) -> bool:
    if x.what == "accesses":
        return (x.strand, x.event) == first
    return x.strand in strands or (x.what in ("completes", "lands") and x.barrier in barriers)


def _place(m: Machine, x: Logged) -> tuple[object, ...]:
    """Steps with the same place that follow each other are shown as one."""
    s = m.program.strands[x.strand]
    e = s.events[x.event]
    return (s.cta, e.path, e.iteration, x.what, x.barrier)


def _step(m: Machine, same: list[Logged]) -> Step:
    x = same[-1]
    e = m.program.strands[x.strand].events[x.event]
    who = {y.strand for y in same}
    if isinstance(e.op, BarSync):  # told once for the whole warp
        who = {n for y in who for n in m.program.warps[m.program.strands[y].cta, m.program.strands[y].warp]}
    actor = "asynchronously" if x.what == "lands" else m.program.actors([m.program.strands[n] for n in sorted(who)])
    what = f"{x.barrier} completes its phase" if x.what == "completes" else WORDS[x.what].format(operation(e))
    return Step(actor, e.op.span, e.iteration, what, ((x.barrier, x.state),) if x.state else ())


def _last(m: Machine, finding: Finding) -> list[Step]:
    if finding.pair is not None:
        _, r = _in_time(m, finding.pair)
        s = m.program.strands[r.actor]
        event = f"{'issues' if r.flight >= 0 else 'executes'} {operation(r.event)}: race"
        return [Step(m.program.actor(s), r.event.op.span, r.event.iteration, event)]
    blocked = [m.program.strands[n] for n in finding.strands if m.state[n] < ENDED]
    found = []
    for _, group in groupby(blocked, key=lambda s: (s.cta, m.event(s).path, m.event(s).iteration)):
        same = list(group)
        e = m.event(same[0])
        end = " waits for ever" if finding.barriers else f": {finding.rule}"
        found.append(Step(m.program.actors(same), e.op.span, e.iteration, f"{operation(e)}{end}"))
    return found
