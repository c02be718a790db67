"""Arguments of a procedure: checked, prepared for a run, and made at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.interp.buffers import Buffer
from exogpu.ir.interp.errors import InterpError
from exogpu.ir.interp.plan import sequential
from exogpu.ir.numeric import WIDER_STORAGE, Array, compute_dtype, convert, storage_dtype
from exogpu.ir.proc import MAX_SIZE, Arg, Proc, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import Assign
from exogpu.ir.types import Scalar
from exogpu.ir.walk import walk

Argument = int | float | NDArray[Any]
"""A size, a data scalar, or a tensor in the storage type of its elements."""

Arguments = Mapping[str, Argument]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Arguments in the types they are computed in; the buffers are copies."""

    sizes: dict[str, int]
    scalars: dict[str, Array]
    buffers: dict[str, Buffer]


def prepare(proc: Proc, args: Arguments, precise: bool) -> Prepared:
    """Check `args` against the signature and the preconditions of `proc`, and copy them; InterpError otherwise.

    With `precise`, tensors may also be given in f64.
    """
    for name in args:
        if all(a.name != name for a in proc.args):
            raise InterpError("interp.argument", f"`{proc.name}` has no argument `{name}`", proc.span)
    sizes = {a.name: _size(a, _given(a, args)) for a in proc.args if isinstance(a, SizeArg)}
    _check_requires(proc, sizes)
    scalars = {a.name: _scalar(a, _given(a, args), precise) for a in proc.args if isinstance(a, ScalarArg)}
    tensors = {a.name: _tensor(a, _given(a, args), sizes, precise) for a in proc.args if isinstance(a, TensorArg)}
    return Prepared(sizes, scalars, tensors)


def _check_requires(proc: Proc, sizes: Mapping[str, int]) -> None:
    for require in proc.requires:
        if not holds(require.cond, sizes):
            values = ", ".join(f"{name} = {value}" for name, value in sizes.items())
            raise InterpError("interp.require", f"this precondition does not hold for {values}", require.span)


def _given(arg: Arg, args: Arguments) -> Argument:
    if arg.name not in args:
        raise InterpError("interp.argument", f"argument `{arg.name}` is missing", arg.span)
    return args[arg.name]


def _size(arg: SizeArg, value: Argument) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 0 <= value <= MAX_SIZE:
        message = f"size `{arg.name}` must be an integer from 0 to {MAX_SIZE}"
        raise InterpError("interp.argument", message, arg.span)
    return int(value)


def _scalar(arg: ScalarArg, value: Argument, precise: bool) -> Array:
    number = np.asarray(value)
    if number.ndim:
        message = f"`{arg.name}` must be a number, not an array of shape {number.shape}"
        raise InterpError("interp.argument", message, arg.span)
    if number.dtype.kind not in "fiu":
        number = number.astype(np.float64)
    return convert(number, arg.dtype, precise)


def _tensor(arg: TensorArg, value: Argument, sizes: Mapping[str, int], precise: bool) -> Buffer:
    shape = tuple(evaluate(extent, sizes) for extent in arg.shape)
    if not isinstance(value, np.ndarray) or value.shape != shape:
        given = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise InterpError("interp.argument", f"`{arg.name}` must be an array of shape {shape}, not {given}", arg.span)
    wanted = storage_dtype(arg.dtype)
    if value.dtype != wanted and not (precise and value.dtype == np.float64):
        message = f"`{arg.name}` must have elements of type {wanted}, not {value.dtype}"
        raise InterpError("interp.argument", message, arg.span)
    data = value.astype(compute_dtype(arg.dtype, precise)).reshape(-1)
    if arg.dtype in WIDER_STORAGE:
        data = convert(data, arg.dtype, precise)
    return Buffer(arg.name, arg.dtype, (), shape, data)


def written_tensors(proc: Proc) -> tuple[str, ...]:
    """Names of the tensor arguments that some statement or instruction writes, in the order of the signature."""
    written = {s.buffer for s in walk(sequential(proc)) if isinstance(s, Assign)}
    return tuple(a.name for a in proc.args if isinstance(a, TensorArg) and a.name in written)


def random_inputs(proc: Proc, sizes: Mapping[str, int], seed: int) -> dict[str, Argument]:
    """Arguments for these sizes, the same for the same seed: floating-point data is standard normal, rounded to
    the element type; integers are uniform in -8..8 (0..8 if unsigned)."""
    random = np.random.default_rng(seed)
    args: dict[str, Argument] = {}
    for arg in proc.args:
        match arg:
            case SizeArg(name):
                args[name] = sizes[name]
            case ScalarArg(name, dtype):
                args[name] = _random(random, dtype, ()).item()
            case TensorArg(name, dtype, shape):
                extents = tuple(evaluate(extent, sizes) for extent in shape)
                args[name] = _random(random, dtype, extents).astype(storage_dtype(dtype))
    return args


def _random(random: np.random.Generator, dtype: Scalar, shape: tuple[int, ...]) -> Array:
    if dtype.is_float:
        return convert(np.asarray(random.standard_normal(shape)), dtype)
    return np.asarray(random.integers(0 if dtype is Scalar.U8 else -8, 9, shape), np.int32)
