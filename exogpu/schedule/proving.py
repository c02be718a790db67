"""Side conditions of rewrites: proved for all sizes and iterations, or refuted by one where they fail.

A question is asked in the language of conditions, over variables that stand for any integers. So a counterexample of
the solver is checked by evaluation, which shares nothing with the translation to solver terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING

from exogpu.ir.evaluate import holds
from exogpu.ir.index import Cond
from exogpu.ir.terms import both
from exogpu.schedule.errors import Counterexample

if TYPE_CHECKING:
    # what asks the solver imports it: loading it takes longer than reading a file that asks nothing
    from exogpu.smt.context import Context
    from exogpu.smt.script import Script
    from exogpu.smt.solver import Engine, Sat, Solver

SMALL = (2, 6, 40)
"""Bounds of the values that are tried first: a small counterexample says more."""


@dataclass(frozen=True, slots=True)
class Proved:
    """It holds for all values of the variables; `script` is the query that was unsatisfiable."""

    seconds: float
    script: Script


@dataclass(frozen=True, slots=True)
class Refuted:
    """It does not hold for these values, at which everything known does."""

    example: Counterexample


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither is known."""

    reason: str


Answer = Proved | Refuted | Undecided


class Prover:
    """What the solver is asked in one schedule. Its engine is made, and the solver loaded, when something is asked:
    making one costs more than most questions. Counterexamples come from engines of their own, so that they do not
    depend on what was asked before."""

    @cached_property
    def engine(self) -> Engine:
        """The engine that answers `implied`."""
        return _fresh_engine()


def _fresh_engine() -> Engine:
    from exogpu.smt.solver import Engine
    from exogpu.smt.terms import TermApi

    return Engine(TermApi())


def implied(known: Sequence[Cond], goal: Cond, prover: Prover) -> Proved | None:
    """Whether `known` implies `goal` for all integers; None also if that is not known."""
    from exogpu.smt.implication import contradicting
    from exogpu.smt.solver import Unsat

    start = perf_counter()
    _, solver = contradicting(prover.engine, known, goal)
    proved = isinstance(solver.check(), Unsat)
    return Proved(perf_counter() - start, solver.script()) if proved else None


def decide(known: Sequence[Cond], goal: Cond) -> Answer:
    """Whether `known` implies `goal` for all integers, or values at which it does not."""
    from exogpu.smt.implication import contradicting, names_of
    from exogpu.smt.solver import Sat, Unknown, Unsat

    start = perf_counter()
    names = names_of((*known, goal))
    ctx, solver = contradicting(_fresh_engine(), known, goal)
    match solver.check():
        case Unsat():
            return Proved(perf_counter() - start, solver.script())
        case Unknown(reason):
            return Undecided(f"the solver gave up: {reason}")
        case Sat() as found:
            return _checked(_small(ctx, solver, names, found), known, goal, names)


def _small(ctx: Context, solver: Solver, names: Sequence[str], found: Sat) -> Sat:
    from exogpu.smt.poly import symbol
    from exogpu.smt.solver import Sat

    for bound in SMALL:
        box = [f for n in names for f in (ctx.le(-bound, symbol(n)), ctx.le(symbol(n), bound))]
        result = solver.check(box)
        if isinstance(result, Sat):
            return result
    return found


def _checked(found: Sat, known: Sequence[Cond], goal: Cond, names: Sequence[str]) -> Refuted | Undecided:
    values = {name: found.model.get(name, 0) for name in names}
    if holds(both(known), values) and not holds(goal, values):
        return Refuted(Counterexample(tuple(values.items())))
    return Undecided("the solver's counterexample does not stand up to evaluation")
