"""Whether a procedure computes exactly, whatever the order of its sums: then other values are another meaning.

Integers stay integers under `+`, `-`, `*`, `min`, `max` and rounding; f32 holds all of them up to 2**24. How large they
get is found by running a procedure that computes upper bounds of the absolute values: everything is added, nothing is
subtracted, and the larger of two is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.interp import Argument, interpret, sequential
from exogpu.ir.proc import Arg, Proc, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, Stmt
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.walk import children, map_value, walk, with_blocks
from exogpu.source import Span

LARGEST = 2**23
"""Largest bound; half of what f32 holds, since narrow types may round up on the way."""


def exact(proc: Proc, args: Mapping[str, Argument]) -> bool:
    """Whether every value that the procedure computes from these integers is an integer that f32 holds."""
    body = sequential(proc)
    types = {s.dtype for s in (*proc.args, *walk(body)) if isinstance(s, ScalarArg | TensorArg | Alloc)}
    if Scalar.U8 in types or not all(_whole(s.rhs) for s in walk(body) if isinstance(s, Assign)):
        return False
    larger = replace(proc, args=tuple(_widened(a) for a in proc.args), body=_bounds(body), barriers=(), named=())
    most = [0.0]

    def watch(_: str, __: Span, values: NDArray[Any]) -> None:
        most.append(float(np.max(values, initial=0.0)))

    left = interpret(larger, {n: _absolute(v) for n, v in args.items()}, fill=8, watch=watch)
    return max(*most, *(float(np.max(v, initial=0.0)) for v in left.values())) <= LARGEST


def _absolute(given: Argument) -> Argument:
    return np.abs(given.astype(np.float64)) if isinstance(given, np.ndarray) else abs(given)


def _whole(value: Value) -> bool:
    """It makes integers of integers, and larger ones of larger ones."""
    whole = True

    def node(v: Value) -> Value:
        nonlocal whole
        match v:
            case Num(number):
                whole &= float(number).is_integer()
            case Arith(op):
                whole &= op != "/"
            case Call(fn):
                whole &= fn in ("abs", "relu")
            case Cast(to):
                whole &= to is not Scalar.U8
            case _:
                pass
        return v

    map_value(value, node)
    return whole


def _widened(arg: Arg) -> Arg:
    return arg if isinstance(arg, SizeArg) else replace(arg, dtype=Scalar.F64)


def _bounds(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(_bound(s) for s in block)


def _bound(stmt: Stmt) -> Stmt:
    match stmt:
        case Assign(rhs=rhs):
            return replace(stmt, rhs=map_value(rhs, _larger))
        case Alloc():
            return replace(stmt, dtype=Scalar.F64)
        case _:
            return with_blocks(stmt, [_bounds(inner) for inner in children(stmt)])


def _larger(value: Value) -> Value:
    """At least the absolute value, if the parts are at least those of the parts."""
    match value:
        case Num(number):
            return Num(abs(number))
        case FromIndex():
            return Call("abs", (Cast(Scalar.F64, value),))
        case Arith("-", left, right):
            return Arith("+", left, right)
        case Arith("min", left, right):
            return Arith("max", left, right)
        case Neg(arg) | Cast(_, arg) | Call(_, (arg,)):
            return arg
        case Read() | Arith() | Call() | Select():
            return value
