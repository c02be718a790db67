"""A search for inputs on which two procedures compute different values, by running their sequential meanings.

Inputs are small integers, of which most sums are exact in any order: then another value is another meaning. Where
something is not exact, values count as different only if they are so in f64, far beyond what rounding explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.equiv.effort import effort
from exogpu.equiv.exact import exact
from exogpu.equiv.result import Difference
from exogpu.equiv.sizes import candidates
from exogpu.ir.evaluate import evaluate
from exogpu.ir.interp import Argument, InterpError, interpret, written_tensors
from exogpu.ir.interp.arguments import Arguments
from exogpu.ir.numeric import convert, storage_dtype
from exogpu.ir.proc import Proc, ScalarArg, SizeArg, TensorArg
from exogpu.ir.types import Scalar

MAGNITUDES = (2, 200, 2500)
"""Largest inputs: the larger ones show where values are rounded, if their sums are still exact."""
FILLS = (7, -3)
"""What fresh buffers hold: a result that depends on it says nothing."""
MOST_EFFORT = 2**28
"""Above which two procedures are not run: a few seconds."""
FACTOR, FLOOR = 8.0, 1e-6
"""The difference in f64 that rounding may explain: so many times that of f32 to f64, and at least `FLOOR`."""

Element = tuple[str, tuple[int, ...], float, float]
"""A tensor, the index in it, and both values."""
Results = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found, at how many sizes nothing was, and why some could not be compared."""

    difference: Difference | None
    compared: int
    trouble: str = ""


def compare_runs(a: Proc, b: Proc) -> Tried:
    """Runs both at small and odd sizes that both allow, smallest first, until they differ."""
    compared, trouble = 0, ""
    for n, sizes in enumerate(candidates(a, b)):
        magnitude = MAGNITUDES[n % 3]
        if effort(a, sizes) + effort(b, sizes) > MOST_EFFORT:
            trouble = trouble or f"a run would take too long ({_named(sizes)})"
            continue
        try:
            found = _difference(a, b, integers(a, sizes, magnitude, n))
        except (InterpError, _Unwritten) as error:
            trouble = trouble or f"{_message(error)} ({_named(sizes)})"
            continue
        if found is not None:
            (tensor, index, one, other), wide = found
            difference = Difference(tuple(sizes.items()), magnitude, n, tensor, index, one, other, wide)
            return Tried(difference, compared, trouble)
        compared += 1
    return Tried(None, compared, trouble)


def integers(proc: Proc, sizes: Mapping[str, int], magnitude: int, seed: int) -> dict[str, Argument]:
    """Integers as arguments, rounded to the types."""
    random = np.random.default_rng(seed)
    args: dict[str, Argument] = {}
    for arg in proc.args:
        match arg:
            case SizeArg(name):
                args[name] = sizes[name]
            case ScalarArg(name, dtype):
                args[name] = _integers(random, dtype, (), magnitude).item()
            case TensorArg(name, dtype, shape):
                extents = tuple(evaluate(extent, sizes) for extent in shape)
                args[name] = _integers(random, dtype, extents, magnitude).astype(storage_dtype(dtype))
    return args


def _integers(random: np.random.Generator, dtype: Scalar, shape: tuple[int, ...], magnitude: int) -> NDArray[Any]:
    most = min(magnitude, 127) if dtype.bits == 8 else magnitude
    drawn = random.integers(0 if dtype is Scalar.U8 else -most, most + 1, shape)
    return convert(np.asarray(drawn, np.float64 if dtype.is_float else np.int32), dtype)


def _message(error: Exception) -> str:
    return error.diagnostics[0].message if isinstance(error, InterpError) else str(error)


def _named(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sizes.items()) or "no sizes"


class _Unwritten(Exception):
    """A result depends on memory that nothing has written."""


def _difference(a: Proc, b: Proc, args: Arguments) -> tuple[Element, bool] | None:
    """The first element that differs, and whether only the values in f64 tell."""
    one, other = (interpret(p, args, fill=FILLS[0]) for p in (a, b))
    written = dict.fromkeys(chain(written_tensors(a), written_tensors(b)))
    if all(_same(one[name], other[name]).all() for name in written):
        return None
    _check_defined(a, args, one)
    _check_defined(b, args, other)
    if exact(a, args) and exact(b, args):
        found = _first({name: ~_same(one[name], other[name]) for name in written}, one, other)
        return None if found is None else (found, False)
    wide, also = (interpret(p, args, precise=True, fill=FILLS[0]) for p in (a, b))
    apart = {n: _apart(wide[n], also[n], (one[n], other[n])) for n in written}
    found = _first(apart, wide, also)
    return None if found is None else (found, True)


def _check_defined(proc: Proc, args: Arguments, results: Results) -> None:
    """The results must not depend on what fresh buffers hold."""
    again = interpret(proc, args, fill=FILLS[1])
    for name, values in results.items():
        if not _same(values, again[name]).all():
            raise _Unwritten(f"`{name}` depends on memory that `{proc.name}` has not written")


def _same(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    x, y = a.astype(np.float64), b.astype(np.float64)
    return np.asarray((x == y) | (np.isnan(x) & np.isnan(y)))


def _apart(a: NDArray[Any], b: NDArray[Any], rounded: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[np.bool_]:
    """Where two results in f64 are finite and differ by more than rounding explains."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    u, v = (r.astype(np.float64) for r in rounded)
    with np.errstate(all="ignore"):
        explained = FACTOR * (np.abs(u - x) + np.abs(v - y)) + FLOOR * (1 + np.abs(x) + np.abs(y))
        return np.asarray(np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) > explained))


def _first(apart: Mapping[str, NDArray[np.bool_]], a: Results, b: Results) -> Element | None:
    for name, where in apart.items():
        if where.any():
            index = tuple(int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape))
            return name, index, float(a[name][index]), float(b[name][index])
    return None
