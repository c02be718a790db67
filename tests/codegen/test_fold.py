"""Simplification keeps the value of every expression, and intervals contain it."""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

import pytest

from exogpu.codegen.cuda.tree import Apply, Binary, Expr, IntLit, Name, Unary
from exogpu.codegen.fold import Interval, interval, simplify, simplify_cond
from exogpu.codegen.lower.index import Indices
from exogpu.ir.computed import subterms
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


LARGE = 2**30
WIDE = {"M": Interval(0, LARGE), "N": Interval(0, LARGE), "i": Interval(0, 127), "free": Interval(0, None)}
CORNERS = [
    {"M": m, "N": n, "i": i, "free": free}
    for m, n in [(0, 0), (5, 4), (LARGE, LARGE - 1), (LARGE - 1, LARGE), (3, LARGE), (LARGE, 2)]
    for i in (0, 127)
    for free in (0, 2**31 - 1)
]


def computed(e: Expr) -> Iterator[Expr]:
    """An expression of the C++ tree and everything that its evaluation computes."""
    yield e
    match e:
        case Binary(_, left, right):
            yield from (*computed(left), *computed(right))
        case Apply(_, args):
            yield from (part for arg in args for part in computed(arg))
        case Unary(_, arg):
            yield from computed(arg)
        case _:
            assert isinstance(e, IntLit | Name)


def fits(values: Iterable[int]) -> bool:
    return all(abs(v) < 2**31 for v in values)


def wide_expression(rng: random.Random, depth: int) -> Index:
    if depth == 0 or rng.random() < 0.1:
        leaves: list[Index] = [Var("M"), Var("N"), Var("i"), Var("free"), Int(rng.choice([1, 3, 128]))]
        return rng.choice(leaves)
    op, left = rng.choice(OPERATORS), wide_expression(rng, depth - 1)
    if op in ("*", "//", "%", "ceildiv"):
        return Bin(op, left, Int(rng.choice([2, 3, 5, 64])))
    return Bin(op, left, wide_expression(rng, depth - 1))


def check_range(e: Index) -> int:
    """Compare at the points where nothing in `e` overflows; their number."""
    printed, checked = Indices(WIDE, {}).expr(e), 0
    for env in CORNERS:
        if fits(evaluate(part, env) for part in subterms(e)):
            checked += 1
            assert value(printed, env) == evaluate(e, env)
            assert fits(value(part, env) for part in computed(printed)), (e, env)
    return checked


@pytest.mark.parametrize("seed", range(4))
def test_what_fits_32_bits_still_does(seed: int) -> None:
    rng = random.Random(seed)
    assert sum(check_range(wide_expression(rng, 4)) for _ in range(600)) > 1000


def test_differences_of_large_sizes_are_not_distributed() -> None:
    m, n = Var("M"), Var("N")
    difference = Bin("-", n, m)
    assert check_range(Bin("//", Bin("+", Bin("*", Int(5), difference), n), Int(3)))
    assert check_range(Bin("+", Bin("*", Int(1000), difference), Int(3)))
    assert simplify(Bin("*", Int(2), Bin("+", Var("i"), Int(1))), WIDE) == Bin("+", Bin("*", Int(2), Var("i")), Int(2))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")
def test_floor_division_of_the_prelude(tmp_path: Path) -> None:
    prelude = resources.files("exogpu.codegen.cuda").joinpath("prelude.cuh").read_text(encoding="utf-8")
    functions = [line for line in prelude.splitlines() if line.startswith("DEVICE int floor_")]
    assert len(functions) == 2
    source, library = tmp_path / "floor.cpp", tmp_path / "floor.so"
    source.write_text("\n".join(['#define DEVICE extern "C"', *functions]))
    subprocess.run(["g++", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    compiled = ctypes.CDLL(str(library))
    for x in (-(2**31) + 1, -7, -6, -1, 0, 5, 6, 2**31 - 1):
        for y in (1, 3, 7, 2**31 - 1):
            assert (compiled.floor_div(x, y), compiled.floor_mod(x, y)) == divmod(x, y)
