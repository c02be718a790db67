"""A second interpreter for the tests: one element after the other, nothing at once, no analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Index
from exogpu.ir.interp import sequential
from exogpu.ir.interp.functions import NUMPY
from exogpu.ir.numeric import compute_dtype, convert, poison, storage_dtype
from exogpu.ir.proc import Proc, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, For, If, Stmt
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value

Env = dict[str, int]


class Outside(Exception):
    """An access is out of bounds."""


class Oracle:
    """Executes a procedure whose loop bounds, indices and values are as the front end accepts them."""

    def __init__(self, proc: Proc, args: dict[str, Any]) -> None:
        self.sizes: Env = {a.name: args[a.name] for a in proc.args if isinstance(a, SizeArg)}
        self.types = {a.name: a.dtype for a in proc.args if isinstance(a, TensorArg)}
        self.arrays: dict[str, NDArray[Any]] = {n: args[n].astype(compute_dtype(t)) for n, t in self.types.items()}
        with np.errstate(all="ignore"):
            self._block(sequential(proc), self.sizes)
        self.results = {
            a.name: self.arrays[a.name].astype(storage_dtype(a.dtype)) for a in proc.args if isinstance(a, TensorArg)
        }

    def _block(self, block: tuple[Stmt, ...], env: Env) -> None:
        for stmt in block:
            match stmt:
                case For(var, lo, hi, _, body):
                    for i in range(evaluate(lo, env), evaluate(hi, env)):
                        self._block(body, {**env, var: i})
                case If(cond, then, orelse):
                    self._block(then if holds(cond, env) else orelse, env)
                case Alloc(name, dtype, shape):
                    self.types[name] = dtype
                    self.arrays[name] = np.full(shape, poison(dtype), compute_dtype(dtype))
                case Assign(buffer, index, op, rhs):
                    dtype = self.types[buffer]
                    at = self._at(buffer, index, env)
                    value = self._value(rhs, env, dtype)
                    if op == "+=":
                        value = self.arrays[buffer][at] + value
                    self.arrays[buffer][at] = convert(np.asarray(value), dtype)
                case _:
                    raise AssertionError(stmt)

    def _at(self, buffer: str, index: tuple[Index, ...], env: Env) -> tuple[int, ...]:
        at = tuple(evaluate(i, env) for i in index)
        if any(not 0 <= i < n for i, n in zip(at, self.arrays[buffer].shape, strict=True)):
            raise Outside
        return at

    def _value(self, v: Value, env: Env, like: Scalar) -> Any:
        kind = compute_dtype(like)
        match v:
            case Read(buffer, index):
                return self.arrays[buffer][self._at(buffer, index, env)]
            case Num(number):
                return kind.type(number)
            case FromIndex(index):
                return kind.type(evaluate(index, env))
            case Arith(op, left, right):
                a, b = self._value(left, env, like), self._value(right, env, like)
                return {"+": np.add, "-": np.subtract, "*": np.multiply, "min": np.fmin, "max": np.fmax}[op](a, b)
            case Neg(arg):
                return -self._value(arg, env, like)
            case Call(fn, args):
                return NUMPY[fn](*(self._value(a, env, like) for a in args))
            case Cast(to, arg):
                return convert(np.asarray(self._value(arg, env, like)), to)[()]
            case Select(cond, then, orelse):
                return self._value(then if holds(cond, env) else orelse, env, like)
