"""Simplification keeps the value of every expression, and intervals contain it."""

from __future__ import annotations

import random

import pytest

from exogpu.codegen.fold import Interval, interval, simplify, simplify_cond
from exogpu.codegen.lower.index import Indices
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Bin, Bool, Cmp, CmpOp, Index, IndexOp, Int, Var
from tests.codegen.tree_value import value

FACTS = {"x": Interval(0, 7), "y": Interval(-3, None)}
POINTS = [{"x": x, "y": y} for x in (0, 3, 7) for y in (-3, 0, 5, 11)]
OPERATORS: tuple[IndexOp, ...] = ("+", "-", "*", "//", "%", "ceildiv", "min", "max")
COMPARISONS: tuple[CmpOp, ...] = ("<", "<=", ">", ">=", "==", "!=")


def expression(rng: random.Random, depth: int) -> Index:
    if depth == 0 or rng.random() < 0.2:
        leaves: list[Index] = [Var("x"), Var("y"), Int(rng.randint(-9, 9))]
        return rng.choice(leaves)
    op, left = rng.choice(OPERATORS), expression(rng, depth - 1)
    if op == "*":
        factor = Int(rng.randint(-4, 4))
        return Bin(op, left, factor) if rng.random() < 0.5 else Bin(op, factor, left)
    if op in ("//", "%", "ceildiv"):
        return Bin(op, left, Int(rng.choice([1, 2, 3, 4, 8])))
    return Bin(op, left, expression(rng, depth - 1))


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(400):
        e = expression(rng, 4)
        short, bounds = simplify(e, FACTS), interval(e, FACTS)
        printed = Indices(FACTS, {}).expr(e)
        for env in POINTS:
            exact = evaluate(e, env)
            assert evaluate(short, env) == exact == value(printed, env)
            assert bounds.lo is None or bounds.lo <= exact
            assert bounds.hi is None or exact <= bounds.hi


@pytest.mark.parametrize("seed", range(4))
def test_random_conditions(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(400):
        c = Cmp(rng.choice(COMPARISONS), expression(rng, 3), expression(rng, 2))
        short, printed = simplify_cond(c, FACTS), Indices(FACTS, {}).cond(c)
        for env in POINTS:
            assert holds(short, env) == holds(c, env) == bool(value(printed, env))


def test_decided_conditions_become_literals() -> None:
    assert simplify_cond(Cmp("<", Var("x"), Int(8)), FACTS) == Bool(True)
    assert simplify_cond(Cmp("<", Var("y"), Int(-3)), FACTS) == Bool(False)


def test_thread_arithmetic_folds() -> None:
    x = Var("x")
    assert simplify(Bin("%", x, Int(8)), FACTS) == x
    assert simplify(Bin("//", Bin("+", Bin("*", Int(16), x), Int(5)), Int(8)), FACTS) == Bin("*", Int(2), x)
    assert simplify(Bin("-", Bin("+", x, Int(3)), Int(3)), FACTS) == x
