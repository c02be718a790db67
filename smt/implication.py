"""Whether conditions imply another one, as a question: over variables that stand for any integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exogpu.ir.index import Cond
from exogpu.ir.walk import index_names
from exogpu.smt.context import Context
from exogpu.smt.index import to_formula
from exogpu.smt.poly import symbol
from exogpu.smt.solver import Engine, Solver


def names_of(conds: Iterable[Cond]) -> list[str]:
    """The variables of conditions, in one order."""
    return sorted(frozenset[str]().union(*map(index_names, conds)))


def contradicting(engine: Engine, known: Sequence[Cond], goal: Cond) -> tuple[Context, Solver]:
    """A solver that looks for values at which `known` holds and the goal does not."""
    ctx = Context(engine.api)
    env = {name: symbol(name) for name in names_of((*known, goal))}
    posed = [*(to_formula(ctx, c, env) for c in known), ctx.api.negate(to_formula(ctx, goal, env))]
    solver = Solver(engine)
    solver.add([*posed, *ctx.new_facts()])
    return ctx, solver
