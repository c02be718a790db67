"""What the parser makes of programs: the shipped kernels, captured values, names, folding."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

import pytest

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.collective import Collective, inside, whole
from exogpu.ir.index import Bin, BoolOp, Cmp, Int, Var
from exogpu.ir.proc import BarrierDecl, Proc, RoleDecl, TensorArg
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    BarrierRef,
    Fence,
    For,
    If,
    InstrCall,
    Point,
    Range,
    Role,
    Seq,
    Stmt,
    Tasks,
    Threads,
    Unroll,
    Window,
)
from exogpu.ir.types import Rmem, Scalar, Smem, WgmmaD
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.walk import walk
from exogpu.kernels.gemm_bf16 import gemm_bf16
from exogpu.kernels.gemm_f32 import gemm_f32
from exogpu.lang import load, proc, surface

Program = Callable[[str], dict[str, Proc]]
Findings = Callable[[str], tuple[Diagnostic, ...]]
S = TypeVar("S")


def all_of(kernel: Proc, kind: type[S]) -> list[S]:
    return [s for s in walk(kernel.body) if isinstance(s, kind)]


def test_bf16_header() -> None:
    assert [type(a).__name__ for a in gemm_bf16.args] == ["SizeArg"] * 3 + ["TensorArg"] * 3
    assert gemm_bf16.args[3] == TensorArg("A", Scalar.BF16, (Var("M"), Var("K")))
    assert gemm_bf16.block.roles == (RoleDecl("producer", 0, 128, 40), RoleDecl("consumer", 128, 256, 232))
    assert (gemm_bf16.block.threads, gemm_bf16.block.persistent, gemm_bf16.block.raster) == (384, True, 16)
    assert gemm_bf16.barriers == (BarrierDecl("full", 4, 1), BarrierDecl("empty", 4, 8))
    assert [r.cond for r in gemm_bf16.requires] == [Cmp(">=", Var(n), Int(1)) for n in "MNK"]


def test_bf16_body() -> None:
    outer, after = gemm_bf16.body
    assert isinstance(outer, For) and isinstance(after, Role)
    assert (outer.var, outer.lo, outer.hi, outer.mode) == ("tm", Int(0), Bin("ceildiv", Var("M"), Int(128)), Tasks())
    allocations = [(a.name, a.shape, a.memory) for a in all_of(gemm_bf16, Alloc)]
    assert allocations == [
        ("acc", (2, 64, 256), WgmmaD()),
        ("sA", (128, 64), Smem(128, 4)),
        ("sB", (256, 64), Smem(128, 4)),
        ("stage", (2, 64, 64), Smem(128, 2)),
    ]
    assert [a.lag for a in all_of(gemm_bf16, Await)] == [4, 0]
    assert [a.tx for a in all_of(gemm_bf16, Arrive)] == [Int((128 + 256) * 64 * 2), None, None]


def test_bf16_operands() -> None:
    load_a = all_of(gemm_bf16, InstrCall)[0]
    rows, columns = Bin("*", Int(128), Var("tm")), Bin("*", Int(64), Var("k"))
    assert load_a.operand("dst") == Window("sA", (Range(Int(0), 128), Range(Int(0), 64)))
    assert load_a.operand("src") == Window("A", (Range(rows, 128), Range(columns, 64)))
    assert load_a.operand("barrier") == BarrierRef("full")
    multiply = next(c for c in all_of(gemm_bf16, InstrCall) if c.instr.name == "wgmma")
    assert multiply.window("d") == Window("acc", (Point(Var("w")), Range(Int(0), 64), Range(Int(0), 256)))
    condition = BoolOp("or", (Cmp(">", Var("k"), Int(0)), Cmp(">", Var("ks"), Int(0))))
    accumulate = multiply.operand("accumulate")
    assert accumulate is not None and getattr(accumulate, "value", None) == condition


def test_repeated_names_are_renamed() -> None:
    first, *others = [f.var for f in all_of(gemm_bf16, For) if f.var.startswith("w")]
    assert first == "w" and others and others == [f"w_{n}" for n in range(1, len(others) + 1)]
    copies = [c.window("src").dims[0] for c in all_of(gemm_bf16, InstrCall) if c.instr.name == "acc_store"]
    assert copies and all(source in [Point(Var(name)) for name in others] for source in copies)
    declared = [s.var if isinstance(s, For) else s.name for s in walk(gemm_f32.body) if isinstance(s, For | Alloc)]
    assert len(declared) == len(set(declared))


def test_f32_statements() -> None:
    first = all_of(gemm_f32, Assign)[0]
    assert (first.buffer, first.index, first.op, first.rhs) == (
        "acc",
        (Var("ty"), Var("tx"), Var("i"), Var("j")),
        "=",
        Num(0.0),
    )
    update = next(a for a in all_of(gemm_f32, Assign) if a.op == "+=")
    assert update.rhs == Arith("*", Read("a", (Var("i_1"),)), Read("b", (Var("j_1"),)))
    assert len(all_of(gemm_f32, Fence)) == 2
    loops = {f.var: f.mode for f in all_of(gemm_f32, For)}
    assert (loops["ty"], loops["t"], loops["k"], loops["v"]) == (Threads(16), Threads(1), Seq(), Unroll())
    assert next(a for a in all_of(gemm_f32, Alloc) if a.name == "acc").memory == Rmem(threads=2)


def test_spans_are_exact() -> None:
    file = gemm_f32.span.file
    with open(file, encoding="utf-8") as source:
        lines = source.read().splitlines()
    update = next(a for a in all_of(gemm_f32, Assign) if a.op == "+=")
    span = update.rhs.span
    assert lines[span.line - 1][span.col : span.end_col] == "a[i] * b[j]"
    assert lines[gemm_f32.span.line - 1][gemm_f32.span.col : gemm_f32.span.end_col] == "gemm_f32"


HEAD = "from exogpu.lang import *\n\n"
BODY = """\
@proc
def k(N: size, alpha: f32, X: f32[N] @ GMEM, H: bf16[N] @ GMEM):
    block(32)
    for b in tasks(0, N):
        for t in threads(1):
            X[b] = {value}
"""


def value_of(program: Program, text: str, before: str = "") -> Value:
    (assign,) = all_of(program(HEAD + before + BODY.replace("{value}", text))["k"], Assign)
    return assign.rhs


X_B, B = Read("X", (Var("b"),)), FromIndex(Var("b"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-X[b]", Neg(X_B)),
        ("-1.5", Num(-1.5)),
        ("-inf", Num(float("-inf"))),
        ("3", Num(3.0)),
        ("b", B),
        ("X[b] + b % 2", Arith("+", X_B, FromIndex(Bin("%", Var("b"), Int(2))))),
        ("b / N", Arith("/", B, FromIndex(Var("N")))),
        ("index(b) * index(b)", Arith("*", B, B)),
        ("min(X[b], alpha, 0.0)", Arith("min", Arith("min", X_B, Read("alpha", ())), Num(0.0))),
        ("exp(alpha)", Call("exp", (Read("alpha", ()),))),
        ("abs(X[b])", Call("abs", (X_B,))),
        ("cast(bf16, X[b])", Cast(Scalar.BF16, X_B)),
        ("f16(X[b])", Cast(Scalar.F16, X_B)),
        ("select(b > 0, X[b], 0.0)", Select(Cmp(">", Var("b"), Int(0)), X_B, Num(0.0))),
        ("X[b] if b > 0 else 0.0", Select(Cmp(">", Var("b"), Int(0)), X_B, Num(0.0))),
        (
            "X[b] if 0 <= b < N else 0.0",
            Select(BoolOp("and", (Cmp("<=", Int(0), Var("b")), Cmp("<", Var("b"), Var("N")))), X_B, Num(0.0)),
        ),
    ],
)
def test_values(program: Program, text: str, expected: Value) -> None:
    assert value_of(program, text) == expected


def test_scalar_functions_are_inlined(program: Program) -> None:
    before = "@scalar\ndef square(x: f32):\n    return x * x\n\n"
    argument = Cast(Scalar.F32, Read("H", (Var("b"),)))
    assert value_of(program, "square(H[b])", before) == Arith("*", argument, argument)


def test_the_language_comes_before_the_python_function_of_that_name(program: Program) -> None:
    assert value_of(program, "exp(alpha)", "from math import exp\n") == Call("exp", (Read("alpha", ()),))


def test_words_may_be_reached_through_the_module(program: Program) -> None:
    text = """\
import exogpu.lang as xg

@xg.proc
def k(N: xg.size, X: xg.f32[N] @ xg.GMEM):
    xg.block(32)
    for b in xg.tasks(0, xg.ceildiv(N, 2)):
        for t in xg.threads(1):
            X[b] = xg.exp(X[b]) * xg.cast(xg.f32, b)
"""
    (assign,) = all_of(program(text)["k"], Assign)
    assert assign.rhs == Arith("*", Call("exp", (X_B,)), Cast(Scalar.F32, B))


FACTORY = """\
from __future__ import annotations

from dataclasses import dataclass

from exogpu.lang import *


@dataclass
class Config:
    width: int
    element: object


def make(config, scale, deep):
    depth = 2

    @proc
    def k(N: size, X: config.element[N, depth] @ GMEM):
        block(32 * config.width)
        for b in tasks(0, N):
            if deep or depth > 2:
                tile: config.element[depth, config.width] @ SMEM
                Fence()
            elif config.width > 4:
                Fence()
                Fence()
            for t in threads(1):
                X[b, depth - 1] = scale * config.width

    return k


wide = make(Config(8, f32), 0.5, False)
deep = make(Config(2, f16), 3, True)
"""


def test_captured_values(program: Program) -> None:
    kernels = program(FACTORY)
    assert list(kernels) == ["wide", "deep"]
    wide, deep = kernels["wide"], kernels["deep"]
    assert (wide.block.threads, deep.block.threads) == (256, 64)
    assert wide.args[1] == TensorArg("X", Scalar.F32, (Var("N"), Int(2)))
    assert deep.args[1] == TensorArg("X", Scalar.F16, (Var("N"), Int(2)))
    assert all_of(wide, Assign)[0].rhs == Arith("*", Num(0.5), Num(8.0))
    assert all_of(deep, Assign)[0].rhs == Num(6.0)
    assert all_of(wide, Assign)[0].index == (Var("b"), Int(1))


def test_conditions_on_captured_values_choose_a_branch(program: Program) -> None:
    kernels = program(FACTORY)
    assert [type(s) for s in kernels["wide"].body[0].body] == [Fence, Fence, For]  # type: ignore[union-attr]
    assert [type(s) for s in kernels["deep"].body[0].body] == [Alloc, Fence, For]  # type: ignore[union-attr]
    assert not any(all_of(k, If) for k in kernels.values())


def test_shadowing(program: Program) -> None:
    text = """\
from exogpu.lang import *
t = 7

@proc
def k(N: size, X: f32[N] @ GMEM):
    block(32)
    for t in tasks(0, N):
        for t in threads(1):
            for t in seq(0, t + 1):
                X[t] = 0.0
"""
    tasks, threads, seq = all_of(program(text)["k"], For)
    assert (tasks.var, threads.var, seq.var) == ("t", "t_1", "t_2")
    assert seq.hi == Bin("+", Var("t_1"), Int(1))


def test_a_procedure_is_read_where_python_defines_it() -> None:
    module = import_module("tests.lang.cases.captured")
    local = module.made(3)
    assert all_of(local, For)[1].hi == Int(3)
    assert local.span.file == module.__file__


def test_all_findings_are_reported(findings: Findings) -> None:
    text = """\
from exogpu.lang import *

@proc
def k(N: size, X: f32[N] @ GMEM, Y: f31[N] @ GMEM):
    block(32)
    for b in tasks(0, N * N):
        X[b] = 0.0
        for t in threads(64):
            X[q] = Y[b] + z
        while b:
            pass
"""
    found = [(d.code, d.span.line) for d in findings(text)]
    assert found == [
        ("lang.type", 4),
        ("lang.non_affine", 6),
        ("lang.unknown_name", 9),
        ("lang.syntax", 10),
    ]


def test_one_cause_is_reported_once(findings: Findings) -> None:
    text = """\
from exogpu.lang import *

@proc
def k(N: size, X: f32[N] @ GMEM):
    block(48)
    for b in tasks(0, N):
        tile: f32[8] @ SHARED
        X[b] = 0.0
        Fence()
        for t in threads(1):
            tile[0] = X[b]
            X[b] = tile[0]
"""
    assert [(d.code, d.span.line) for d in findings(text)] == [("lang.block", 5), ("lang.memory", 7)]


def test_words_do_nothing_outside_procedures() -> None:
    with pytest.raises(TypeError, match="only inside a function decorated with @proc"):
        surface.seq(0, 4)


def test_only_functions_can_be_decorated() -> None:
    with pytest.raises(BadInput) as bad:
        proc(len)
    assert [d.code for d in bad.value.diagnostics] == ["lang.syntax"]


def test_functions_without_source_text_are_rejected() -> None:
    scope: dict[str, object] = {}
    exec("def k(): pass", scope)
    with pytest.raises(BadInput) as bad:
        proc(scope["k"])  # type: ignore[arg-type]
    assert [d.code for d in bad.value.diagnostics] == ["lang.no_source"]


def test_collectives_of_the_bf16_kernel() -> None:
    """The threads that execute each instruction of the consumer, from its role and loops."""
    found: dict[str, Collective] = {}

    def visit(block: tuple[Stmt, ...], who: Collective) -> None:
        for stmt in block:
            if isinstance(stmt, InstrCall):
                found.setdefault(stmt.instr.name, who)
            for field in ("body", "then", "orelse"):
                visit(getattr(stmt, field, ()), inside(gemm_bf16.block, who, stmt))

    visit(gemm_bf16.body, whole(gemm_bf16.block))
    assert found["tma_load"] == Collective(Var("p"), 1)
    assert found["wgmma"] == Collective(Bin("+", Int(128), Bin("*", Int(128), Var("w"))), 128)
    assert found["wgmma"].starts_at_multiple_of(128) and not found["bulk_commit"].starts_at_multiple_of(32)


def test_load_gives_all_procedures_in_order() -> None:
    assert list(load(gemm_f32.span.file)) == ["gemm_f32"]


def test_the_star_import_shadows_no_builtin(program: Program) -> None:
    names = set(__import__("exogpu.lang", fromlist=["__all__"]).__all__)
    assert not names & set(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
    text = HEAD + "WIDTH = max(16, min(32, 64))\n\n" + BODY.replace("block(32)", "block(WIDTH)")
    assert program(text.replace("{value}", "max(X[b], 0.0)"))["k"].block.threads == 32
