"""From a finding to a fault: the most telling rule, in words.

What a race is due to is found by executing again with something forgiven: if there is no race on the same memory then,
that was missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from exogpu.diagnostics import Label
from exogpu.verify.explore.accesses import hazard
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.help import FAR_FENCE, HELP, WHOLE_WAIT
from exogpu.verify.explore.machine import Machine
from exogpu.verify.explore.memory import Record, Unordered
from exogpu.verify.explore.outcome import Fault
from exogpu.verify.explore.schedule import Schedule, run
from exogpu.verify.explore.steps import steps
from exogpu.verify.explore.storage import Space
from exogpu.verify.explore.text import at, operation

FORGIVEN = (
    ("lanes", "mbar.lane_release", "would be ordered if an arrive published what its whole warp has done"),
    ("L12", "mbar.lane_release", "would be ordered if one warp's wgmma wait covered its warpgroup (axiom L12)"),
    ("scope", "mbar.scope", "would be ordered if scopes were wide enough for threads of other CTAs"),
    ("depth", "group.depth", "would be ordered if a group wait finished all that its thread has issued"),
    ("thread", "group.wrong_thread", "would be ordered if the group had been waited for by its own thread"),
    ("relaxed", "", "would be ordered if the relaxed operations were release and acquire"),
)

MOST_TRIALS = 6
"""Executions that are tried for the cause of a race."""


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """An execution that has run into something, after `end` entries of its log."""

    schedule: Schedule
    machine: Machine
    finding: Finding
    end: int


@dataclass(frozen=True, slots=True)
class Due:
    """What a race is due to: a rule, the fact in words, and what to do if that is more than the rule's own advice."""

    rule: str
    fact: str
    help: str | None = None


def fault(executions: Sequence[Execution]) -> Fault:
    """The fault of the first execution, or of another with a race for the same memory that shows what it is due to."""
    first = executions[0]
    if first.finding.pair is None:
        return _fault(first, first.finding, ())
    chosen, due = first, None
    for x in executions[:MOST_TRIALS]:
        if x.finding.pair is not None and _space(x.finding.pair) == _space(first.finding.pair):
            due = _due(x, x.finding.pair)
            if due is not None:
                chosen = x
                break
    return _fault(chosen, *_race(chosen.machine, chosen.finding, due))


def _fault(x: Execution, finding: Finding, due: tuple[str, ...]) -> Fault:
    also = dict.fromkeys(rule for rule in (*x.finding.also, *due) if rule != finding.rule)
    return Fault(
        finding.rule,
        finding.message,
        finding.span,
        finding.label,
        finding.labels,
        finding.help or HELP.get(finding.rule),
        tuple(sorted(x.machine.program.sizes.items())),
        finding.facts,
        steps(x.machine, finding, x.end),
        tuple(also),
    )


def _due(x: Execution, pair: Unordered) -> Due | None:
    """The breach of a rule that explains a race."""
    if pair.missing or x.finding.rule.startswith("mbar."):
        return None
    for name, rule, fact in FORGIVEN:
        found = run(Machine(x.machine.program, x.machine.axioms, frozenset((name,))), x.schedule)
        if found is None or found.pair is None or _space(found.pair) != _space(pair):
            return Due(rule or x.finding.rule, fact, WHOLE_WAIT if name == "L12" else None)
    return None


def _space(pair: Unordered) -> Space:
    return pair.first.footprint.window.space


def _race(m: Machine, finding: Finding, due: Due | None) -> tuple[Finding, tuple[str, ...]]:
    """The finding in words, and rules that are broken besides."""
    assert finding.pair is not None
    first, second = finding.pair.first, finding.pair.second
    storage = m.program.storage
    name = second.footprint.window.ref.name
    cells = finding.pair.cells >> storage.roots[name][1]
    place = storage.text(name, cells)
    rule = finding.rule if due is None else due.rule
    lanes = ("a lane of ", "another lane of ") if first.strand == second.strand >= 0 else ("", "")
    who = [
        f"{operation(r.event)} by {lane}{m.program.actor(m.program.strands[r.actor])}{at(r.event.iteration)}"
        for r, lane in zip((first, second), lanes, strict=True)
    ]
    facts = [("cell", place), ("first", who[0]), ("second", who[1])]
    facts += [("missing", due.fact)] if due is not None else []
    labels = (Label(first.event.op.span, f"first: {_did(first)}"),)
    message = _message(rule, place, first, second)
    also = () if rule == finding.rule else (hazard(first.mode, second.mode),)
    label = f"second: {_did(second)}"
    apart = rule == "proxy.generic_to_async" and len({m.program.strands[r.actor].cta for r in (first, second)}) > 1
    told = replace(finding, rule=rule, message=message, label=label, labels=labels, facts=tuple(facts))
    return replace(told, help=FAR_FENCE if apart else None if due is None else due.help), also


def _did(r: Record) -> str:
    kind = {"read": "reads", "write": "writes", "reduce": "adds"}[r.mode.value]
    return f"{kind}{' asynchronously' if r.flight >= 0 else ''}{at(r.event.iteration)}"


def _message(rule: str, place: str, first: Record, second: Record) -> str:
    one, other = operation(first.event), operation(second.event)
    if first is second:
        return f"race on `{place}`: two threads write it in the same {one}"
    match rule:
        case "proxy.generic_to_async":
            return f"no proxy fence orders the access of `{place}` by {one} before the asynchronous one by {other}"
        case "fence.state_space":
            return f"the proxy fence between {one} and {other} does not cover the memory where `{place}` lies"
        case "mbar.lane_release":
            return f"the release of `{place}` covers only its own thread: {other} can come while {one} is not done"
        case "mbar.scope":
            return f"the scope of the synchronisation is too narrow to order {one} before {other} on `{place}`"
        case "mbar.reinit" | "mbar.alias":
            return f"nothing orders {one} before {other}, which changes what the memory of `{place}` is"
        case "race.raw":
            return f"race on `{place}`: {other} can read it before {one} has written it"
        case "race.war":
            return f"race on `{place}`: {other} can overwrite it while {one} still reads it"
        case "race.waw":
            return f"race on `{place}`: {other} can write it before the write of {one} is done"
        case _:
            return f"race on `{place}`: {other} can come while {one} is not done"
