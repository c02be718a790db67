"""Pairs that only a withdrawn axiom orders: which axioms would accept them, and what to write instead."""

from __future__ import annotations

from exogpu.ir.instr import Group, Mode
from exogpu.verify.axioms import AXIOMS, Axiom, find_axiom, in_order
from exogpu.verify.graph import Search
from exogpu.verify.needs import Needs
from exogpu.verify.ordering import Violated
from exogpu.verify.program import ExitAction, InGroup
from exogpu.verify.races import Conflict

DRAIN, ROWS = "L6", "F5"


def would_accept(outcome: Violated, conflict: Conflict) -> tuple[str, ...]:
    """The axioms out of force that would accept a violated pair: one if one is enough, else all that it takes; empty if
    no axioms do."""
    if _apart_by_rows(outcome, conflict):
        return (ROWS,)
    return (DRAIN,) if drained(conflict) else would_order(outcome, conflict.goal.needs)


def _apart_by_rows(outcome: Violated, conflict: Conflict) -> bool:
    """The two meet only if a warp reads more of a wgmma's operand than its own rows (F5)."""
    u, x, y = outcome.unrolling, outcome.x, outcome.y
    return conflict.divided is not None and not conflict.divided.goal.check(u, x, y)


def would_order(outcome: Violated, needs: Needs) -> tuple[str, ...]:
    """As `would_accept`, for a pair that need not be one of accesses."""
    in_force = outcome.unrolling.program.axioms
    out = in_order({a.name for a in AXIOMS} - in_force)
    if not _ordered(outcome, needs, in_force | set(out)):
        return ()
    kept = list(out)
    for name in out:
        fewer = [n for n in kept if n != name]
        if _ordered(outcome, needs, in_force | set(fewer)):
            kept = fewer
    return tuple(kept)


def drained(conflict: Conflict) -> bool:
    """A bulk store's read of its own CTA's shared memory that may be in flight when the CTA ends (L6)."""
    completion = conflict.first.event.completion
    bulk = isinstance(completion, InGroup) and completion.group is Group.BULK
    return bulk and conflict.first.access.mode is Mode.READ and isinstance(conflict.second.event.action, ExitAction)


def _ordered(outcome: Violated, needs: Needs, axioms: frozenset[str]) -> bool:
    search = Search(outcome.unrolling, outcome.x, needs, everybody=True, axioms=axioms)
    return search.path_to(outcome.y) is not None


def without_axioms(names: tuple[str, ...]) -> str | None:
    """What to write instead, or that there is nothing; None for no axioms."""
    found = [axiom for name in names if (axiom := find_axiom(name)) is not None]
    hopeless = [a.name for a in found if not a.alternative]
    if hopeless:
        return f"the hardware offers no form that does without {' and '.join(hopeless)}"
    return "; ".join(map(_instead, found)) or None


def _instead(axiom: Axiom) -> str:
    """The sentence of the axiom as one piece of advice among others; what is not assumed can also be accepted."""
    text = axiom.alternative[0].lower() + axiom.alternative[1:].removesuffix(".")
    return text if axiom.assumed else f"{text}; or accept the axiom with --axiom {axiom.name}"
