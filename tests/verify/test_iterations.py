"""Iterations that guards choose, counted in closed form, against enumeration."""

from __future__ import annotations

from itertools import product

import pytest

from exogpu.ir.evaluate import holds
from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Int, Not, Var
from exogpu.smt.context import Context
from exogpu.smt.poly import lift, symbol
from exogpu.smt.solver import Engine, Solver, Unsat
from exogpu.verify.bounds_of import Interval, NotAnInterval
from exogpu.verify.iterations import chosen_iterations, sum_of

TRIP, N = Var("i"), Var("n")
LAST = Cmp("==", TRIP, Bin("-", N, Int(1)))
EVEN = Cmp("==", Bin("%", TRIP, Int(2)), Int(0))
GUARDS: list[tuple[Cond, ...]] = [
    (),
    (LAST,),
    (Not(LAST),),
    (Cmp("!=", TRIP, Int(1)),),
    (Not(Cmp("!=", TRIP, Int(1))),),
    (Not(LAST), Cmp("!=", TRIP, Int(0))),
    (Not(LAST), Cmp("!=", TRIP, Int(2)), Cmp("!=", TRIP, Int(2))),
    (Not(LAST), EVEN),
    (EVEN, Cmp("!=", TRIP, Int(2)), Cmp(">=", TRIP, Int(1))),
    (BoolOp("or", (Cmp("<", TRIP, Int(1)), Cmp(">=", TRIP, Int(3)))),),
    (Not(BoolOp("and", (Cmp(">", TRIP, Int(0)), Cmp("<", TRIP, N)))), Not(LAST)),
]


@pytest.mark.parametrize("guards", GUARDS)
def test_counts_are_those_of_enumeration(guards: tuple[Cond, ...]) -> None:
    ctx = Context()
    n, here = symbol("n"), symbol("here")
    found = chosen_iterations(ctx, Interval(lift(0), n), "i", guards, {"n": n}, {})
    count, before = sum_of(ctx, found.count()), sum_of(ctx, found.before(here))
    includes, up_to = found.includes(here), sum_of(ctx, found.up_to(here))
    for size, at in product(range(6), range(-1, 7)):
        passing = [i for i in range(size) if all(holds(g, {"i": i, "n": size}) for g in guards)]
        done = sum(i < at for i in passing)
        wrong = [ctx.api.negate(ctx.eq(count, len(passing))), ctx.api.negate(ctx.eq(before, done))]
        wrong.append(ctx.api.negate(includes) if at in passing else includes)
        if at in passing:
            wrong.append(ctx.api.negate(ctx.eq(up_to, done)))
        solver = Solver(Engine(ctx.api))
        solver.add([*ctx.definitions, ctx.eq(n, size), ctx.eq(here, at), ctx.api.disj(wrong)])
        assert isinstance(solver.check(), Unsat), (size, at)


def test_too_many_holes_have_no_closed_form() -> None:
    n = symbol("n")
    guards = [Cmp("!=", TRIP, Int(k)) for k in range(4)]
    with pytest.raises(NotAnInterval):
        chosen_iterations(Context(), Interval(lift(0), n), "i", guards, {"n": n}, {})
