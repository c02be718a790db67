"""Printing and reading back gives an equal procedure."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from exogpu.ir.index import ORDINAL, Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Arg, BarrierDecl, Launch, Proc, Require, RoleDecl, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    Fence,
    For,
    If,
    InstrCall,
    Mode,
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
from exogpu.ir.types import Rmem, Scalar, Smem
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.wellformed import check
from exogpu.isa import vec_copy
from exogpu.kernels.gemm_bf16 import gemm_bf16
from exogpu.kernels.gemm_f32 import gemm_f32
from exogpu.kernels.gemm_pingpong import gemm_pingpong
from exogpu.lang import load

FLOATS = (Scalar.F64, Scalar.F32, Scalar.F16, Scalar.BF16)
SIZES = ("M", "N")
TENSORS = {"X": 1, "Y": 2}
POSITIVE = st.integers(1, 300).map(Int)


def indices(names: tuple[str, ...]) -> SearchStrategy[Index]:
    leaves: SearchStrategy[Index] = st.sampled_from(names).map(Var) | st.integers(-9, 300).map(Int)

    def grow(inner: SearchStrategy[Index]) -> SearchStrategy[Index]:
        sums = st.builds(Bin, st.sampled_from(("+", "-", "min", "max")), inner, inner)
        products = st.builds(Bin, st.just("*"), POSITIVE, inner) | st.builds(Bin, st.just("*"), inner, POSITIVE)
        return sums | products | st.builds(Bin, st.sampled_from(("//", "%", "ceildiv")), inner, POSITIVE)

    return st.recursive(leaves, grow, max_leaves=5)


def conds(names: tuple[str, ...]) -> SearchStrategy[Cond]:
    comparisons = st.sampled_from(("<", "<=", ">", ">=", "==", "!="))
    tests: SearchStrategy[Cond] = st.builds(Cmp, comparisons, indices(names), indices(names))

    def grow(inner: SearchStrategy[Cond]) -> SearchStrategy[Cond]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.builds(Not, inner) | st.builds(BoolOp, st.sampled_from(("and", "or")), several)

    return st.recursive(tests | st.booleans().map(Bool), grow, max_leaves=4)


def reads(names: tuple[str, ...]) -> SearchStrategy[Value]:
    def read(buffer: str) -> SearchStrategy[Value]:
        rank = TENSORS[buffer]
        return st.lists(indices(names), min_size=rank, max_size=rank).map(lambda i: Read(buffer, tuple(i)))

    return st.sampled_from(sorted(TENSORS)).flatmap(read) | st.just(Read("alpha", ()))


def values(names: tuple[str, ...]) -> SearchStrategy[Value]:
    numbers = st.floats(allow_nan=False).map(Num)
    leaves: SearchStrategy[Value] = numbers | reads(names) | indices(names).map(FromIndex)

    def grow(inner: SearchStrategy[Value]) -> SearchStrategy[Value]:
        unary = st.builds(Call, st.sampled_from(("exp", "abs", "relu")), st.tuples(inner))
        binary = st.builds(Arith, st.sampled_from(("+", "-", "*", "/", "min", "max")), inner, inner)
        choices = st.builds(Select, conds(names), inner, inner)
        return st.builds(Neg, inner) | st.builds(Cast, st.sampled_from(FLOATS), inner) | unary | binary | choices

    return st.recursive(leaves, grow, max_leaves=6)


Make = Callable[[tuple[str, ...], int], Stmt]


class Writer:
    """Draws statements with unique names."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.numbers = itertools.count()

    def fresh(self, stem: str) -> str:
        return f"{stem}{next(self.numbers)}"

    def block(self, make: Make, names: tuple[str, ...], depth: int) -> tuple[Stmt, ...]:
        return tuple(make(names, depth) for _ in range(self.draw(st.integers(0, 3))))

    def loop(self, make: Make, names: tuple[str, ...], depth: int) -> Stmt:
        var = self.fresh("v")
        body = self.block(make, (*names, var), depth - 1)
        if self.draw(st.booleans()):
            return For(var, Int(self.draw(st.integers(0, 2))), Int(self.draw(st.integers(0, 9))), Unroll(), body)
        return For(var, self.draw(indices(names)), self.draw(indices(names)), Seq(), body)

    def branch(self, make: Make, names: tuple[str, ...], depth: int) -> Stmt:
        then, orelse = self.block(make, names, depth - 1), self.block(make, names, depth - 1)
        return If(self.draw(conds(names)), then, orelse)

    def one_thread(self, names: tuple[str, ...], depth: int) -> Stmt:
        """A statement that one thread executes."""
        kind = self.draw(st.integers(0, 4 if depth else 2))
        if kind == 0:
            return Alloc(self.fresh("r"), Scalar.F32, (self.draw(st.integers(1, 8)),), Rmem())
        if kind == 1:
            offset = self.draw(indices(names))
            source = Window("Y", (Point(self.draw(indices(names))), Range(offset, 4)))
            return InstrCall(vec_copy, (("dst", Window("X", (Range(offset, 4),))), ("src", source)))
        if kind == 2:
            index, value = (self.draw(indices(names)),), self.draw(values(names))
            return Assign("X", index, "=" if self.draw(st.booleans()) else "+=", value)
        return (self.loop if kind == 3 else self.branch)(self.one_thread, names, depth)

    def whole_cta(self, names: tuple[str, ...], depth: int) -> Stmt:
        """A statement that all threads of the CTA, or of a role, execute."""
        kind = self.draw(st.integers(0, 6 if depth else 3))
        if kind == 0:
            swizzle, ring = self.draw(st.sampled_from((0, 32, 64, 128))), self.draw(st.integers(1, 4))
            return Alloc(self.fresh("s"), self.draw(st.sampled_from(FLOATS)), (8, 16), Smem(swizzle, ring))
        if kind == 1:
            return Fence()
        if kind == 2:
            return Await("full", self.draw(st.integers(0, 4)))
        if kind == 3:
            return Arrive("full", self.draw(st.none() | st.integers(0, 4096).map(Int)))
        if kind == 4:
            unit, var = self.draw(st.sampled_from((1, 1, 8, 32, 128))), self.fresh("t")
            body = self.block(self.one_thread, (*names, var), depth - 1) if unit == 1 else (Arrive("full", None),)
            return For(var, Int(self.draw(st.integers(0, 1))), Int(128 // unit), Threads(unit), body)
        return (self.loop if kind == 5 else self.branch)(self.whole_cta, names, depth)

    def body(self, block: Launch) -> tuple[Stmt, ...]:
        names = (*SIZES, "b")
        inner = list(self.block(self.whole_cta, names, 3))
        inner += (self.role(r, names) for r in block.roles)
        mode: Mode = Tasks()
        nest = For("b", Int(0), self.draw(indices(SIZES)), mode, tuple(inner))
        return (Await("full", 0), nest, Fence()) if self.draw(st.booleans()) else (nest,)

    def role(self, decl: RoleDecl, names: tuple[str, ...]) -> Role:
        if self.draw(st.booleans()):
            return Role(decl.name, self.block(self.whole_cta, names, 2))
        unit = self.draw(indices((*names, ORDINAL)))
        return Role(decl.name, (Fence(), Await("full", 0)), index=unit)


@st.composite
def procs(draw: DrawFn) -> Proc:
    """Well-formed procedures."""
    regs = draw(st.none() | st.sampled_from((24, 240)))
    threads = draw(st.sampled_from((160, 256)))
    consumer = RoleDecl("consumer", 128, threads, by_warps=threads == 256 and draw(st.booleans()))
    roles = (RoleDecl("producer", 0, 128, regs), consumer)
    persistent, raster = draw(st.booleans()), draw(st.integers(1, 8))
    with_roles = Launch(sum(r.threads for r in roles), roles, persistent, raster)
    block = draw(st.sampled_from((with_roles, Launch(128, (), persistent, raster))))
    wide = Bin("*", Int(2), Var("N"))
    tensors = (
        TensorArg("X", Scalar.F32, (Var("N"),)),
        TensorArg("Y", Scalar.F32, (Var("M"), wide)),
    )
    args: tuple[Arg, ...] = (SizeArg("M"), SizeArg("N"), ScalarArg("alpha", Scalar.F32), *tensors)
    requires = tuple(Require(c) for c in draw(st.lists(conds(SIZES), max_size=2)))
    barriers = (BarrierDecl("full", draw(st.integers(1, 8)), draw(st.integers(1, 2**20 - 1))),)
    return Proc("generated", args, requires, block, barriers, Writer(draw).body(block))


@given(proc=procs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_generated_procedures(proc: Proc, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert check(proc) == ()
    assert read_back(proc, tmp_path_factory.mktemp("generated")) == proc


@pytest.mark.parametrize("proc", [gemm_bf16, gemm_f32, gemm_pingpong], ids=lambda p: p.name)
def test_shipped_kernels(proc: Proc, tmp_path: Path) -> None:
    assert read_back(proc, tmp_path) == proc


def read_back(proc: Proc, folder: Path) -> Proc:
    file = folder / "printed.py"
    file.write_text(to_source(proc), encoding="utf-8")
    return load(file)[proc.name]


def test_scalar_functions_are_printed_once(tmp_path: Path) -> None:
    file = tmp_path / "epilogue.py"
    source = Path(gemm_bf16.span.file).read_text(encoding="utf-8")
    function = "@scalar\ndef silu(x: f32):\n    return x / (1.0 + exp(-x))\n\n\n@proc"
    source = source.replace("@proc", function).replace("64 * c : 64 * c + 64])", "64 * c : 64 * c + 64], fn=silu)")
    file.write_text(source, encoding="utf-8")
    proc = load(file)["gemm_bf16"]
    assert to_source(proc).count("def silu(x: f32):\n    return x / (1.0 + exp(-x))\n") == 1
    assert read_back(proc, tmp_path) == proc
