"""Verdicts on data: races, tasks of different CTAs, and single-statement claims, as obligations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from exogpu.diagnostics import Label
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Mode
from exogpu.ir.types import Smem
from exogpu.source import Span
from exogpu.verify.axioms import ASSUMED
from exogpu.verify.bounds import claims
from exogpu.verify.claim import Claim
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.diagnose import advice, broken_rule, unclosed
from exogpu.verify.ordering import Impossible, Outcome, Proved, Undecided, Violated, decide
from exogpu.verify.overflow import overflow_claims
from exogpu.verify.pieces import Piece
from exogpu.verify.program import Buffer, ExitAction, Program
from exogpu.verify.races import Conflict, Use, common_range, concrete_box, conflicts, cross_task, hazard
from exogpu.verify.result import Chain, Counterexample, Obligation, Status
from exogpu.verify.reuse import reuse_conflicts, storage_facts
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.text import pair_question, race_message, single_question
from exogpu.verify.turns import choice
from exogpu.verify.withdrawn import DRAIN, without_axioms, would_accept
from exogpu.verify.witness import race, single

Suspects = frozenset[tuple[Span, Span]]
"""Pairs of statements, the earlier one first."""


def race_pieces(program: Program) -> Iterator[Piece]:
    """Ordering obligations of every pair of conflicting statements."""
    for conflict in all_conflicts(program):
        yield Piece(3, partial(_races, conflict=conflict))


def split_race_pieces(program: Program, suspects: Suspects) -> tuple[list[Piece], list[Piece]]:
    """The same in two parts, the suspected pairs of statements and the others."""
    found = [
        ((c.first.event.span, c.second.event.span) in suspects, Piece(3, partial(_races, conflict=c)))
        for c in all_conflicts(program)
    ]
    return [piece for suspect, piece in found if suspect], [piece for suspect, piece in found if not suspect]


def all_conflicts(program: Program) -> Iterator[Conflict]:
    """Every pair of accesses that must be ordered: of one buffer, and of storage that is used again."""
    yield from conflicts(program)
    yield from reuse_conflicts(program)


def _races(program: Program, conflict: Conflict) -> Iterator[Obligation]:
    outcome = decide(program, conflict.goal)
    divided = conflict.divided if "F5" in program.axioms else None
    if isinstance(outcome, Violated | Undecided) and divided is not None:
        yield _by_rows(_race(decide(program, divided.goal), divided))
    elif not isinstance(outcome, Impossible):
        yield _race(outcome, conflict)


def _by_rows(verdict: Obligation) -> Obligation:
    """A proof by what each warp reads of a wgmma's operand says so."""
    if verdict.status is not Status.PROVED:
        return verdict
    return replace(verdict, chains=(*verdict.chains, Chain("each warp reads its own rows of the operand", ("F5",))))


def _race(outcome: Outcome, conflict: Conflict) -> Obligation:
    first, second = conflict.first, conflict.second
    rule = conflict.rule
    missing: tuple[str, ...] = ()
    if isinstance(outcome, Violated):
        missing = would_accept(outcome, conflict)
        rule = broken_rule(outcome, conflict)
    base = Obligation(
        name=conflict.goal.name,
        rule=rule,
        title=f"{first.event.label} (line {first.event.span.line}) before {second.event.label} "
        f"(line {second.event.span.line}) on {_where(conflict)}",
        status=Status.PROVED,
        span=first.access.span if isinstance(second.event.action, ExitAction) else second.access.span,
        question=pair_question(first.event, second.event, _asked(conflict)),
    )
    if missing == (DRAIN,) and isinstance(outcome, Violated) and DRAIN in outcome.unrolling.program.axioms:
        return replace(base, chains=(Chain("the hardware drains the store when the CTA ends", missing),))
    return _with(base, outcome, conflict, missing)


def _asked(conflict: Conflict) -> str:
    """The condition on the pair, in words."""
    if isinstance(conflict.second.event.action, ExitAction):
        return "where no chain below shows that x is done at y"
    memory = conflict.buffer.memory
    touched = f"a byte of {_where(conflict)}" if conflict.reuses else f"an element of {conflict.buffer.name}"
    ring = f", in the same slot of its ring of {memory.ring}" if isinstance(memory, Smem) and memory.ring > 1 else ""
    ring = "" if conflict.reuses else ring
    fence = conflict.goal.needs.fence
    through = f" through a {fence.value}" if fence is not None else ""
    return (
        f"that touch {touched} in common{ring}, where x comes first in the sequential "
        f"program and neither program order nor a chain below orders them{through}"
    )


def _with(base: Obligation, outcome: Outcome, conflict: Conflict, missing: tuple[str, ...]) -> Obligation:
    """The obligation with its verdict; `missing` axioms would order a violated pair."""
    first, second = conflict.first, conflict.second
    match outcome:
        case Proved(chains, query):
            return replace(base, chains=chains, queries=(query,))
        case Impossible():
            return base
        case Undecided(reason):
            return replace(base, status=Status.UNKNOWN, reason=reason)
        case Violated():
            message = race_message(base.rule, _quoted(conflict), first.event.label, second.event.label)
            at_exit = isinstance(second.event.action, ExitAction)
            return replace(
                base,
                status=Status.REFUTED,
                message=f"{message}, unless axiom {' and '.join(missing)} is accepted" if missing else message,
                label="not surely done when the CTA ends" if at_exit else "second access",
                labels=() if at_exit else (Label(first.access.span, "first access"),),
                help=unclosed(outcome) or without_axioms(missing) or advice(base.rule, outcome, conflict),
                counterexample=_counterexample(outcome, conflict, _lacking(base.rule, conflict, missing)),
            )


def _lacking(rule: str, conflict: Conflict, missing: tuple[str, ...]) -> str | None:
    """What the ordered pair's paths lack, where no interleaving shows the fault."""
    if missing and ASSUMED.issuperset(missing):
        return f"without axiom {', '.join(missing)}"
    fence = conflict.goal.needs.fence
    if fence is not None and rule.startswith(("proxy.", "fence.", "wgmma.")):
        return f"through a {fence.value}"
    return None


def _quoted(conflict: Conflict) -> str:
    one, other = conflict.buffer.name, conflict.second.access.buffer
    return f"the storage of `{one}` and `{other}`" if conflict.reuses else f"`{one}`"


def _where(conflict: Conflict) -> str:
    one, other = conflict.buffer.name, conflict.second.access.buffer
    return f"the storage of {one} and {other}" if conflict.reuses else one


def _counterexample(outcome: Violated, conflict: Conflict, lacking: str | None) -> Counterexample:
    u, x, y = outcome.unrolling, outcome.x, outcome.y
    if not conflict.reuses:
        return race(u, x, y, common=_common(u, x, y, conflict), lacking=lacking, minimal=outcome.minimal)
    found = race(u, x, y, lacking=lacking, minimal=outcome.minimal)
    return replace(found, facts=(*found.facts, *storage_facts(u, conflict, x, y)))


def _common(u: Unrolling, x: Occurrence, y: Occurrence, conflict: Conflict) -> tuple[str, str] | None:
    """The buffer and the elements that both accesses touch, as a Python-like slice."""
    if isinstance(conflict.second.event.action, ExitAction):
        return None
    shape = [evaluate(e, u.sizes) for e in conflict.buffer.shape]
    boxes = zip(concrete_box(x, conflict.first.access), concrete_box(y, conflict.second.access), shape, strict=True)
    parts = [common_range(p, q, extent) for p, q, extent in boxes]
    text = ", ".join(str(r.start) if len(r) == 1 else f"{r.start}:{r.stop}" for r in parts)
    return conflict.buffer.name, f"{conflict.buffer.name}[{text}]"


def task_pieces(program: Program) -> Iterator[Piece]:
    """No two tasks touch one element of global memory."""
    for buffer, first, second, prop in cross_task(program):
        yield Piece(1, partial(_apart, buffer=buffer, first=first, second=second, prop=prop))


def _apart(program: Program, buffer: Buffer, first: Use, second: Use, prop: Property) -> Iterator[Obligation]:
    verdict = hold(program, prop)
    rule = hazard(first.access, second.access)
    title = f"tasks do not share elements of {buffer.name} (lines {first.event.span.line}, {second.event.span.line})"
    asked = single_question(prop.events, title)
    base = Obligation(prop.name, rule, title, Status.PROVED, second.access.span, question=asked)
    message = f"two tasks touch one element of `{buffer.name}`, and nothing orders different CTAs"
    labels = (Label(first.access.span, "other task"),)
    advice = "give every task its own elements"
    if Mode.READ not in (first.access.mode, second.access.mode):
        advice += ", or add to common ones with atomic_add in all tasks, or with tma_reduce_add in all"
    yield judge(program, base, verdict, message, advice, labels)


def choice_obligations(program: Program) -> Iterator[Obligation]:
    """The units of roles that take turns exist."""
    for event in program.events:
        if event.chooses is not None:
            yield from _claim(program, choice(event, event.chooses))


def claim_pieces(program: Program) -> Iterator[Piece]:
    """Bounds, integer width, alignment and ownership of every statement."""
    for claim in (*claims(program), *overflow_claims(program)):
        yield Piece(1, partial(_claim, claim=claim))


def _claim(program: Program, claim: Claim) -> Iterator[Obligation]:
    yield claimed(program, claim)


def claimed(program: Program, claim: Claim) -> Obligation:
    """The verdict on a claim."""
    asked = single_question(claim.prop.events, claim.title)
    base = Obligation(claim.prop.name, claim.rule, claim.title, Status.PROVED, claim.span, question=asked)
    return judge(program, base, hold(program, claim.prop), claim.message, claim.help, ())


def judge(
    program: Program,
    base: Obligation,
    verdict: Proved | Found | Undecided,
    message: str,
    advice: str | None,
    labels: tuple[Label, ...],
) -> Obligation:
    """The obligation with the verdict of a single-instance property."""

    match verdict:
        case Proved(_, query):
            return replace(base, queries=(query,))
        case Undecided(reason):
            return replace(base, status=Status.UNKNOWN, reason=reason)
        case Found(sizes, items, minimal):
            return replace(
                base,
                status=Status.REFUTED,
                message=message,
                label="here",
                labels=labels,
                help=advice,
                counterexample=replace(single(program, sizes, items, {}), minimal=minimal),
            )
