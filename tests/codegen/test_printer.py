"""The printer: parentheses that the compiler agrees with, names that do not clash, lines that fit."""

from __future__ import annotations

import random

from exogpu.codegen.cuda.printer import WIDTH, print_source
from exogpu.codegen.cuda.prune import prune
from exogpu.codegen.cuda.tree import (
    Apply,
    Binary,
    Branch,
    Declare,
    Do,
    Expr,
    FloatLit,
    Function,
    Inline,
    IntLit,
    Loop,
    Name,
    Node,
    Parameter,
    Scope,
    Set,
    Source,
    Ternary,
    Unary,
)
from exogpu.codegen.nvrtc import compile_cubin
from tests.codegen.tree_value import OPERATORS, value


def text(*body: Node, params: tuple[Parameter, ...] = ()) -> str:
    kernel = Function('extern "C" __global__ void', "k", params, body)
    return print_source(Source((), "#define PRELUDE_NAME 1", (), kernel))


def expression(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.15:
        return IntLit(rng.randint(-3, 20))
    pick = rng.random()
    if pick < 0.1:
        return Unary("-", expression(rng, depth - 1))
    if pick < 0.2:
        return Ternary(*(expression(rng, depth - 1) for _ in range(3)))
    op = rng.choice([*OPERATORS, "&&", "||"])
    if op in ("/", "%"):
        return Binary(op, expression(rng, depth - 1), IntLit(rng.randint(1, 5)))
    if op in ("<<", ">>"):
        return Binary(op, Binary("&", expression(rng, depth - 1), IntLit(255)), IntLit(rng.randint(0, 3)))
    return Binary(op, expression(rng, depth - 1), expression(rng, depth - 1))


def test_the_compiler_reads_what_was_meant() -> None:
    rng = random.Random(7)
    checks: list[Node] = []
    while len(checks) < 400:
        e = expression(rng, 4)
        if abs(value(e, {})) < 1000:
            checks.append(Do(Apply("static_assert", (Binary("==", e, IntLit(value(e, {}))), Name('"value"')))))
    assert compile_cubin(text(*checks), "printed").cubin


def test_user_names_give_way_to_ours() -> None:
    body = (
        Declare("const int", Name("thread"), Name("threadIdx.x")),
        Declare("int", Name("thread", user=True), Name("thread")),
        Declare("int", Name("float", user=True), Name("thread", user=True)),
        Declare("int", Name("thread_", user=True), Name("float", user=True)),
        Declare("int", Name("k", user=True), Name("thread_", user=True)),
        Declare("int", Name("PRELUDE_NAME", user=True), Name("k", user=True)),
    )
    printed = text(*body)
    assert "int thread_ = thread;" in printed
    assert "int float_ = thread_;" in printed
    assert "int thread__ = float_;" in printed
    assert "int PRELUDE_NAME_ = k_;" in printed
    assert compile_cubin(printed, "k").cubin


def test_long_lines_are_broken() -> None:
    names = [Name(f"a_rather_long_name_{i}") for i in range(30)]
    total: Expr = names[0]
    for name in names[1:]:
        total = Binary("+", total, name)
    operands = tuple((f"{'+' if i % 2 else '='}r", name) for i, name in enumerate(names))
    params = tuple(Parameter("int", name) for name in names)
    nodes = (Set(names[0], "=", total), Do(Apply("f", tuple(names))), Inline(("x " * 100,), operands, operands))
    printed = text(*nodes, params=params)
    assert max(len(line) for line in printed.splitlines()) <= WIDTH
    assert all(f"a_rather_long_name_{i}" in printed for i in range(30))


def test_special_floats() -> None:
    printed = text(*(Set(Name("x"), "=", FloatLit(v)) for v in (0.1, -2.0, float("inf"), float("-inf"))))
    assert "x = 0.1f;" in printed and "x = -2.0f;" in printed
    assert "x = __int_as_float(0x7f800000);" in printed and "x = -__int_as_float(0x7f800000);" in printed


def test_pruning_drops_what_nothing_uses() -> None:
    used, unused = Name("used"), Name("unused")
    body = (
        Declare("int", unused, IntLit(1)),
        Declare("int", used, IntLit(2)),
        Scope((Declare("int", unused, used),)),
        Branch(used, (Scope(()),)),
        Loop(Name("i"), IntLit(0), IntLit(3), IntLit(1), (Scope((Do(Apply("f", (used,))),)),)),
    )
    kept = prune(body)
    assert kept == (
        Declare("int", used, IntLit(2)),
        Loop(Name("i"), IntLit(0), IntLit(3), IntLit(1), (Do(Apply("f", (used,))),)),
    )
