"""Obligations and what it takes to prove them; nothing here refutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exogpu.diagnostics import InternalError
from exogpu.source import Span
from exogpu.verify.concrete import Env
from exogpu.verify.ordering import Goal, Impossible, Proved, Undecided, Violated, decide
from exogpu.verify.program import Program
from exogpu.verify.result import Chain, Obligation, Query, Status
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.withdrawn import would_order
from exogpu.verify.witness import arguments


def obligation(name: str, rule: str, title: str, span: Span) -> Obligation:
    """An obligation that is proved unless something is found against it."""
    return Obligation(name, rule, title, Status.PROVED, span)


def settle(program: Program, base: Obligation, parts: Sequence[Goal | Property]) -> Obligation:
    """Proved if all parts are."""
    chains: list[Chain] = []
    queries: list[Query] = []
    for part in parts:
        outcome = decide(program, part) if isinstance(part, Goal) else hold(program, part)
        match outcome:
            case Proved(found, query):
                chains += found
                queries.append(query)
            case Impossible():
                pass
            case Undecided(reason):
                return replace(base, status=Status.UNKNOWN, reason=_of(part, base, reason))
            case Violated(unrolling) if isinstance(part, Goal):
                return suspect(base, unrolling.sizes, _of(part, base, _unordered(outcome, part)))
            case Violated():
                raise InternalError(f"{part.name} is a property, which nothing can leave unordered")
            case Found(sizes, _):
                return suspect(base, sizes, _of(part, base, f"it fails with {_at(sizes)}"))
    return replace(base, chains=tuple(dict.fromkeys(chains)), queries=tuple(queries))


def _unordered(outcome: Violated, goal: Goal) -> str:
    """What is missing: an axiom that would order the two, this way or the other, or anything at all."""
    found = ((o, n) for o, n in ((outcome, goal.needs), (_turned(outcome), goal.back), (outcome, goal.also)) if n)
    missing = next((axioms for o, needs in found if (axioms := would_order(o, needs))), ())
    what = f"only axiom {' and '.join(missing)}, which is not accepted," if missing else "nothing"
    return f"{what} orders the two with {_at(outcome.unrolling.sizes)}"


def _turned(outcome: Violated) -> Violated:
    return replace(outcome, x=outcome.y, y=outcome.x)


def _of(part: Goal | Property, base: Obligation, reason: str) -> str:
    """A reason, of which part it is if that is one of several."""
    return reason if part.name == base.name else f"{part.name}: {reason}"


def suspect(base: Obligation, sizes: Env, reason: str) -> Obligation:
    """An obligation that no proof has been found of, since it may fail at these sizes."""
    return replace(base, status=Status.UNKNOWN, reason=reason, suspected=(arguments(sizes),))


def _at(sizes: Env) -> str:
    return ", ".join(f"{name} = {value}" for name, value in arguments(sizes)) or "any sizes"


def with_more(base: Obligation, found: Obligation) -> Obligation:
    """A proved obligation of which one part more is found."""
    if found.status is not Status.PROVED:
        return found
    chains = tuple(dict.fromkeys((*base.chains, *found.chains)))
    return replace(base, chains=chains, queries=(*base.queries, *found.queries))


def each_of(program: Program, base: Obligation, parts: Sequence[Sequence[Goal | Property]]) -> Obligation:
    """Proved if of all parts one way each is."""
    shown = base
    for ways in parts:
        shown = with_more(shown, any_of(program, base, [[way] for way in ways]))
        if shown.status is not Status.PROVED:
            break
    return shown


def any_of(program: Program, base: Obligation, ways: Sequence[Sequence[Goal | Property]]) -> Obligation:
    """Proved if all parts of one way are."""
    verdicts: list[Obligation] = []
    for way in ways:
        verdicts.append(settle(program, base, way))
        if verdicts[-1].status is Status.PROVED:
            return verdicts[-1]
    reason = "; ".join(dict.fromkeys(v.reason for v in verdicts)) or "nothing can show it"
    suspected = tuple(dict.fromkeys(sizes for v in verdicts for sizes in v.suspected))
    return replace(base, status=Status.UNKNOWN, reason=reason, suspected=suspected)
