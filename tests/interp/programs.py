"""Random sequential programs for Hypothesis: loops, guards and allocations around integer and bf16 accesses.

Integer sums are exact in any order and bf16 sums in none, so results can be compared for equality.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Index, Int, Var
from exogpu.ir.interp import random_inputs
from exogpu.ir.proc import Launch, Proc, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, For, If, Seq, Stmt
from exogpu.ir.types import Rmem, Scalar
from exogpu.ir.value import Arith, FromIndex, Neg, Num, Read, Select, Value

ARGS = (
    SizeArg("N"),
    TensorArg("x", Scalar.I32, (Int(48),)),
    TensorArg("y", Scalar.I32, (Int(12), Int(16))),
    TensorArg("z", Scalar.I8, (Int(40),)),
    TensorArg("u", Scalar.BF16, (Int(48),)),
    TensorArg("w", Scalar.BF16, (Int(12), Int(16))),
)
INTEGER = (Scalar.I32, Scalar.I8)


@dataclass(frozen=True)
class Scope:
    """Loop variables with their largest possible value, buffers with type and shape, numbers for new names."""

    variables: dict[str, int]
    buffers: dict[str, tuple[Scalar, tuple[int, ...]]]
    depth: int
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def deeper(self) -> Scope:
        """The scope of a nested block."""
        return replace(self, depth=self.depth + 1)


@st.composite
def atoms(draw: st.DrawFn, scope: Scope) -> tuple[Index, int]:
    """A non-negative part of an index, and its largest possible value."""
    name = draw(st.sampled_from(sorted(scope.variables)))
    top = scope.variables[name]
    var = Var(name)
    m = draw(st.sampled_from((2, 3, 4)))
    match draw(st.sampled_from(("var", "var", "var", "div", "mod", "both", "sum"))):
        case "div":
            return Bin("//", var, Int(m)), top // m
        case "mod":
            return Bin("%", var, Int(m)), min(top, m - 1)
        case "both":
            return Bin("%", Bin("//", var, Int(2)), Int(m)), min(top // 2, m - 1)
        case "sum":
            factor, shift = draw(st.integers(1, 6)), draw(st.integers(0, 6))
            inner = Bin("+", Bin("*", var, Int(factor)), Int(shift))
            most = factor * top + shift
            if draw(st.booleans()):
                return Bin("%", inner, Int(m)), min(most, m - 1)
            return draw(
                st.sampled_from(((Bin("//", inner, Int(m)), most // m), (Bin("ceildiv", inner, Int(m)), -(-most // m))))
            )
    return var, top


@st.composite
def indices(draw: st.DrawFn, scope: Scope, extent: int) -> Index:
    """An index expression, wrapped into the extent if it could leave it."""
    const = draw(st.sampled_from((0, 0, 0, 1, 4)))
    result: Index = Int(const)
    top = const
    for _ in range(draw(st.integers(0, 3)) if scope.variables else 0):
        atom, most = draw(atoms(scope))
        factor = draw(st.sampled_from((1, 1, 2, 4, 8)))
        result, top = Bin("+", result, Bin("*", Int(factor), atom)), top + factor * most
    if top >= extent and draw(st.integers(0, 19)):
        return Bin("%", result, Int(extent))
    return result


@st.composite
def conds(draw: st.DrawFn, scope: Scope) -> Cond:
    op: Any = draw(st.sampled_from(("<", "<=", ">", ">=", "==", "!=")))
    test = Cmp(op, draw(indices(scope, 8)), draw(indices(scope, 8)))
    if draw(st.booleans()):
        return test
    joined: Any = draw(st.sampled_from(("and", "or")))
    return BoolOp(joined, (test, Cmp("<", draw(indices(scope, 12)), Int(draw(st.integers(0, 8))))))


@st.composite
def reads(draw: st.DrawFn, scope: Scope, integer: bool) -> Value:
    """A read, sometimes behind a test that it is in bounds."""
    names = [n for n, (dtype, _) in scope.buffers.items() if (dtype in INTEGER) == integer]
    name = draw(st.sampled_from(sorted(names)))
    shape = scope.buffers[name][1]
    index = tuple(draw(indices(scope, n)) for n in shape)
    if draw(st.integers(0, 4)) or not scope.variables:
        return Read(name, index)
    shift = draw(st.integers(-3, 3))
    index = (Bin("+", index[0], Int(shift)), *index[1:])
    tests = [Cmp(">=", i, Int(0)) for i in index] + [Cmp("<", i, Int(n)) for i, n in zip(index, shape, strict=True)]
    return Select(BoolOp("and", tuple(tests)), Read(name, index), Num(3.0))


@st.composite
def values(draw: st.DrawFn, scope: Scope, integer: bool, depth: int = 2) -> Value:
    match (
        draw(st.sampled_from(("read", "read", "num", "index", "arith", "arith", "neg", "select"))) if depth else "read"
    ):
        case "num":
            return Num(float(draw(st.integers(-4, 4))))
        case "index":
            return FromIndex(draw(indices(scope, 99)))
        case "neg":
            return Neg(draw(values(scope, integer, depth - 1)))
        case "arith":
            op: Any = draw(st.sampled_from(("+", "-", "*", "*", "min", "max")))
            return Arith(op, draw(values(scope, integer, depth - 1)), draw(values(scope, integer, depth - 1)))
        case "select":
            then, orelse = draw(values(scope, integer, depth - 1)), draw(values(scope, integer, depth - 1))
            return Select(draw(conds(scope)), then, orelse)
    return draw(reads(scope, integer))


@st.composite
def assigns(draw: st.DrawFn, scope: Scope) -> Stmt:
    name = draw(st.sampled_from(sorted(scope.buffers)))
    dtype, shape = scope.buffers[name]
    op: Literal["=", "+="] = draw(st.sampled_from(("=", "+=")))
    target = tuple(draw(indices(scope, n)) for n in shape)
    return Assign(name, target, op, draw(values(scope, dtype in INTEGER)))


@st.composite
def blocks(draw: st.DrawFn, scope: Scope) -> tuple[Stmt, ...]:
    stmts: list[Stmt] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("assign", "assign", "loop", "loop", "if", "alloc")))
        if scope.depth >= 3 or kind == "assign":
            stmts.append(draw(assigns(scope)))
        elif kind == "loop":
            stmts.append(draw(loops(scope)))
        elif kind == "if":
            orelse = draw(blocks(scope.deeper())) if draw(st.booleans()) else ()
            stmts.append(If(draw(conds(scope)), draw(blocks(scope.deeper())), orelse))
        else:
            name = f"t{next(scope.numbers)}"
            shape = draw(st.sampled_from(((4,), (2, 3), (12,))))
            dtype = draw(st.sampled_from((Scalar.I32, Scalar.I32, Scalar.BF16)))
            scope = replace(scope, buffers={**scope.buffers, name: (dtype, shape)})
            stmts.append(Alloc(name, dtype, shape, Rmem()))
    return tuple(stmts)


@st.composite
def loops(draw: st.DrawFn, scope: Scope) -> Stmt:
    var = f"v{len(scope.variables)}"
    lo, hi, top = draw(st.sampled_from(((0, 2, 1), (0, 3, 2), (0, 8, 7), (1, 4, 3), (0, 1, 0))))
    first: Index = Int(lo)
    end: Index = Int(hi)
    match draw(st.integers(0, 9)):
        case 0:
            first, end, top = Int(0), Var("N"), 4
        case 1 if scope.variables:
            end, most = draw(atoms(scope))
            top = max(most - 1, 0)
        case 2 if scope.variables:
            first, most = draw(atoms(scope))
            end, top = Bin("+", first, Int(2)), most + 1
    body = draw(blocks(replace(scope.deeper(), variables={**scope.variables, var: top})))
    return For(var, first, end, Seq(), body)


@st.composite
def procs(draw: st.DrawFn) -> tuple[Proc, dict[str, Any]]:
    """A procedure of one or two loop nests, and its arguments."""
    buffers = {
        a.name: (a.dtype, tuple(getattr(e, "value", 0) for e in a.shape)) for a in ARGS if isinstance(a, TensorArg)
    }
    scope = Scope({}, buffers, 0)
    body = tuple(draw(loops(scope)) for _ in range(draw(st.integers(1, 2))))
    proc = Proc("random", ARGS, (), Launch(1), (), body)
    sizes = {"N": draw(st.integers(0, 5))}
    args: dict[str, Any] = dict(random_inputs(proc, sizes, draw(st.integers(0, 5))))
    return proc, {n: np.asarray(a) if n != "N" else a for n, a in args.items()}
