"""The term layer against plain integers."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from exogpu.smt.context import Context
from exogpu.smt.poly import Poly, lift, symbol
from exogpu.smt.solver import FIRST, RLIMIT, Engine, Sat, Solver, Unsat
from exogpu.smt.terms import TermApi

Operation = tuple[Callable[[Context, Poly, Poly], Poly], Callable[[int, int], int]]

OPERATIONS: dict[str, Operation] = {
    "floordiv 3": (lambda c, a, b: c.floordiv(a, 3), lambda a, b: a // 3),
    "floordiv 8 of sum": (lambda c, a, b: c.floordiv(a * 8 + b, 8), lambda a, b: (a * 8 + b) // 8),
    "mod 5": (lambda c, a, b: c.mod(a - b, 5), lambda a, b: (a - b) % 5),
    "max": (lambda c, a, b: c.max(a, b), max),
    "min": (lambda c, a, b: c.min(a, b), min),
    "ite": (lambda c, a, b: c.ite(c.lt(a, b), a + 1, b * 2), lambda a, b: a + 1 if a < b else b * 2),
    "trip": (lambda c, a, b: c.trip(a, b), lambda a, b: max(0, b - a)),
}


def decided(build: Callable[[Context, Poly, Poly], Poly], a: int, b: int, value: int) -> bool:
    """The term can have `value`, and no other value, at a and b."""
    answers = []
    for equal in (True, False):
        ctx = Context()
        x, y = ctx.fresh("x"), ctx.fresh("y")
        solver = Solver(Engine(ctx.api))
        same = ctx.eq(build(ctx, x, y), value)
        solver.add([ctx.eq(x, a), ctx.eq(y, b), same if equal else ctx.api.negate(same), *ctx.new_facts()])
        answers.append(solver.check())
    return isinstance(answers[0], Sat) and isinstance(answers[1], Unsat)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(OPERATIONS)), st.integers(-20, 20), st.integers(-20, 20))
def test_operations_mean_what_python_means(name: str, a: int, b: int) -> None:
    build, meaning = OPERATIONS[name]
    assert decided(build, a, b, meaning(a, b))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_product_facts_hold_for_real_products(u: int, v: int, s: int) -> None:
    ctx = Context()
    a, b, t = ctx.fresh("a"), ctx.fresh("b"), ctx.fresh("t")
    solver = Solver(Engine(ctx.api))
    products = [ctx.eq(a * t, u * s), ctx.eq(b * t, v * s)]
    solver.add([ctx.eq(a, u), ctx.eq(b, v), ctx.eq(t, s), *products, *ctx.new_facts()])
    assert isinstance(solver.check(), Sat)


def test_a_small_budget_is_spent_in_one_attempt() -> None:
    """One broken off first has cost proofs of `equiv` that fit the budget."""
    for rlimit, attempts in ((1, 1), (FIRST, 1), (10 * FIRST, 1), (10 * FIRST + 1, 2), (RLIMIT, 2)):
        engine = Engine(TermApi(), rlimit)
        assert [len(engine.attempts[small]) for small in (True, False)] == [attempts, attempts]


def test_fresh_symbols_of_one_name_are_different() -> None:
    ctx = Context()
    one = ctx.fresh("x.row0", 0, 8)
    for other in (ctx.fresh("x.row0", 0, 2), ctx.copy().fresh("x.row0")):
        assert other != one
    solver = Solver(Engine(ctx.api))
    solver.add([ctx.eq(one, 7), *ctx.new_facts()])
    assert isinstance(solver.check(), Sat)


def test_ordinals_of_a_nest_are_injective() -> None:
    ctx = Context()
    trips = ctx.fresh("trips", 0)
    i, j, k, m = (ctx.fresh(n, 0) for n in "ijkm")
    solver = Solver(Engine(ctx.api))
    different = ctx.api.negate(ctx.api.conj((ctx.eq(i, j), ctx.eq(k, m))))
    solver.add([ctx.lt(k, trips), ctx.lt(m, trips), different, ctx.eq(i * trips + k, j * trips + m), *ctx.new_facts()])
    assert isinstance(solver.check(), Unsat)


def test_a_few_quotients_need_no_product_facts() -> None:
    """Iterations of a loop and of the next round: where one ends, the other goes on."""
    ctx = Context()
    trips, k, steps = ctx.fresh("trips", 1), ctx.fresh("k", 0), 3
    passed = ctx.quotient_among(k + steps, trips, range(steps + 1))
    inside = ctx.between(0, k + steps - passed * trips, trips)
    solver = Solver(Engine(ctx.api))
    solver.add([ctx.lt(k, trips), ctx.api.negate(inside), *ctx.new_facts()])
    assert isinstance(solver.check(), Unsat)


@settings(deadline=None, max_examples=60)
@given(st.integers(-6, 6), st.integers(-2, 4), st.integers(-3, 0), st.integers(1, 4))
def test_quotients_and_products_that_are_spelt_out_exist(p: int, divisor: int, low: int, values: int) -> None:
    """What is said of them leaves room for every value, in range or not."""
    ctx = Context()
    x, y = symbol("x"), symbol("y")
    among = range(low, low + values)
    q = ctx.quotient_among(x, y, among)
    ctx.spell_out(x, y, among)
    expected = p // divisor if divisor > 0 and p // divisor in among else None
    solver = Solver(Engine(ctx.api))
    solver.add([ctx.eq(x, p), ctx.eq(y, divisor), ctx.eq(x * y, p * divisor), *ctx.new_facts()])
    if expected is not None and len(among) > 1:
        solver.add([ctx.eq(q, expected), *ctx.new_facts()])
    assert isinstance(solver.check(), Sat)


@given(st.lists(st.tuples(st.integers(-5, 5), st.sampled_from(["a", "b", "c"])), max_size=6), st.integers(-9, 9))
def test_polynomials_are_canonical(terms: list[tuple[int, str]], constant: int) -> None:
    forward, backward = lift(constant), lift(0)
    for coefficient, name in terms:
        forward = forward + symbol(name) * coefficient
    for coefficient, name in reversed(terms):
        backward = symbol(name) * coefficient + backward
    backward = backward + constant
    assert forward == backward
    env = {"a": 2, "b": -3, "c": 7}
    assert forward.value(env) == constant + sum(c * env[n] for c, n in terms)


def test_model_of_a_satisfiable_query() -> None:
    ctx = Context()
    x = ctx.fresh("x", 3, 5)
    solver = Solver(Engine(ctx.api))
    solver.add([ctx.eq(ctx.mod(x, 2), 0), *ctx.new_facts()])
    answer = solver.check()
    assert isinstance(answer, Sat)
    assert answer.model["x"] == 4


def test_core_names_the_assumptions_used() -> None:
    ctx = Context()
    x = ctx.fresh("x", 0)
    solver = Solver(Engine(ctx.api))
    solver.add(ctx.new_facts())
    solver.assume("small", ctx.lt(x, 3))
    solver.assume("even", ctx.eq(ctx.mod(x, 2), 0))
    solver.assume("large", ctx.lt(7, x))
    solver.add(ctx.new_facts())
    answer = solver.check()
    assert isinstance(answer, Unsat)
    assert answer.core == {"small", "large"}
