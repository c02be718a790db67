"""Procedures of one statement, for tests."""

from __future__ import annotations

from exogpu.ir.index import Index, Int, Var
from exogpu.ir.proc import Arg, Launch, Proc, Require, TensorArg
from exogpu.ir.stmt import Assign, For, Seq, Stmt
from exogpu.ir.types import Scalar
from exogpu.ir.value import Value

N = Var("N")
I = Var("i")  # noqa: E741 - the loop variable of these procedures


def procedure(args: tuple[Arg, ...], *body: Stmt, requires: tuple[Require, ...] = ()) -> Proc:
    return Proc("small", args, requires, Launch(1), (), body)


def loop(var: str, lo: int, hi: Index, *body: Stmt) -> For:
    return For(var, Int(lo), hi, Seq(), body)


def elementwise(source: Scalar, target: Scalar, rhs: Value, count: int) -> Proc:
    """`y[i] = rhs` for all i, where `rhs` may read `x[i]`."""
    shape = (Int(count),)
    args = (TensorArg("x", source, shape), TensorArg("y", target, shape))
    return procedure(args, loop("i", 0, Int(count), Assign("y", (I,), "=", rhs)))
