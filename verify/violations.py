"""The pairs of accesses that nothing orders, with a concrete instance each: what synchronisation is missing for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.verify.data_verdicts import all_conflicts
from exogpu.verify.ordering import Violated, decide
from exogpu.verify.program import Program
from exogpu.verify.races import Conflict


@dataclass(frozen=True, slots=True)
class Violation:
    """Two conflicting statements and a concrete pair of their instances that no path orders as they need."""

    conflict: Conflict
    found: Violated


def violations(program: Program) -> Iterator[Violation]:
    """Every violated ordering obligation; what is undecided is left out."""
    for conflict in all_conflicts(program):
        outcome = decide(program, conflict.goal)
        divided = conflict.divided if "F5" in program.axioms else None
        if isinstance(outcome, Violated) and divided is not None:
            conflict, outcome = divided, decide(program, divided.goal)
        if isinstance(outcome, Violated):
            yield Violation(conflict, outcome)
