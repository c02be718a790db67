"""Statements of which no execution has both: they stand under conditions that exclude each other all the time."""

from __future__ import annotations

from collections.abc import Set

from exogpu.ir.index import Cond
from exogpu.ir.terms import negated
from exogpu.ir.walk import conjuncts, index_names
from exogpu.verify.program import Applied, Event, Program


def steady(program: Program, event: Event) -> frozenset[Cond]:
    """The conditions of a statement that are the same in every iteration, for every thread and CTA."""
    same = {*program.sizes}
    for name, meaning in program.derived.items():  # what an unknown number depends on comes before it
        if isinstance(meaning, Applied) and all(index_names(a) <= same for a in meaning.args):
            same.add(name)
    return frozenset(c for guard in event.guards for c in conjuncts(guard) if index_names(c) <= same)


def exclusive(some: Set[Cond], others: Set[Cond]) -> bool:
    """Two sets of conditions never hold together."""
    return any(negated(c) in others for c in some)
