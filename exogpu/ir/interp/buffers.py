"""Buffers of the interpreter: where an access falls, loads and stores.

A buffer allocated inside loops of the grid has one copy for each of their iterations: leading dimensions that
every access indexes with the grid's own point. Elements are kept in the type they are computed in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.arrays import Truths
from exogpu.ir.index import Var
from exogpu.ir.interp.errors import InterpError
from exogpu.ir.interp.grid import Axis, Grid
from exogpu.ir.linear import Linear
from exogpu.ir.numeric import Array, compute_dtype, poison
from exogpu.ir.types import Scalar
from exogpu.source import Span


@dataclass(frozen=True, slots=True)
class Strided:
    """Elements at `offset + sum(stride * position)`, one stride for each axis of the grid."""

    offset: int
    strides: tuple[int, ...]

    @property
    def varies(self) -> tuple[bool, ...]:
        """For each axis of the grid, whether the elements depend on it."""
        return tuple(stride != 0 for stride in self.strides)


@dataclass(frozen=True, slots=True)
class Scattered:
    """Elements at these positions; the array has one axis for each axis of the grid."""

    positions: NDArray[np.int64]

    @property
    def varies(self) -> tuple[bool, ...]:
        """For each axis of the grid, whether the elements depend on it."""
        return tuple(count > 1 for count in self.positions.shape)


Place = Strided | Scattered


@dataclass(frozen=True, slots=True)
class Buffer:
    """`copies` are the extents of the leading, per-iteration dimensions; `data` is flat, row-major."""

    name: str
    dtype: Scalar
    copies: tuple[int, ...]
    shape: tuple[int, ...]
    data: Array

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours of each dimension, copies included."""
        extents = self.copies + self.shape
        return tuple(math.prod(extents[d + 1 :]) for d in range(len(extents)))


def fresh(
    name: str, dtype: Scalar, copies: tuple[int, ...], shape: tuple[int, ...], precise: bool, fill: int | None
) -> Buffer:
    """A buffer that nothing has been written to: it holds poison, or `fill`."""
    held = poison(dtype) if fill is None else fill
    data = np.full(math.prod(copies + shape), held, compute_dtype(dtype, precise))
    return Buffer(name, dtype, copies, shape, data)


def locate(buffer: Buffer, index: Sequence[Linear], grid: Grid, span: Span) -> Place:
    """The elements that the points of the grid access; InterpError if one of them is outside the buffer."""
    place = _strided(buffer, index, grid)
    return _scattered(buffer, index, grid, span) if place is None else place


def _strided(buffer: Buffer, index: Sequence[Linear], grid: Grid) -> Strided | None:
    """The place if the indices are linear in the loops of the grid and inside the buffer at all its points."""
    inner = buffer.strides[len(buffer.copies) :]
    strides = [*buffer.strides[: len(buffer.copies)], *[0] * (len(grid.axes) - len(buffer.copies))]
    offset = 0
    for form, extent, step in zip(index, buffer.shape, inner, strict=True):
        lo = hi = first = form.const
        for atom, coefficient in form.terms.items():
            if not isinstance(atom, Var):
                return None
            value = grid.variables[atom.name]
            if isinstance(value, Axis):
                reach = coefficient * (value.count - 1)
                lo, hi = lo + min(reach, 0), hi + max(reach, 0)
                strides[value.place] += coefficient * step
                value = value.start
            lo, hi, first = lo + coefficient * value, hi + coefficient * value, first + coefficient * value
        if lo < 0 or hi >= extent:
            return None
        offset += first * step
    return Strided(offset, tuple(strides))


def _scattered(buffer: Buffer, index: Sequence[Linear], grid: Grid, span: Span) -> Scattered:
    positions: NDArray[np.int64] = np.zeros((1,) * len(grid.axes), np.int64)
    lead = len(buffer.copies)
    for dimension, (form, extent, step) in enumerate(zip(index, buffer.shape, buffer.strides[lead:], strict=True)):
        value = np.asarray(form.const)
        for atom, coefficient in form.terms.items():
            value = value + coefficient * np.asarray(grid.index(atom))
        outside = (value < 0) | (value >= extent)
        if outside.any():
            bad = outside if grid.mask is None else outside & grid.mask
            if bad.any():
                raise _out_of_bounds(buffer, dimension, value, bad, grid, span)
            value = np.where(outside, 0, value)
        positions = positions + value * step
    for place, step in enumerate(buffer.strides[:lead]):
        along = [1] * len(grid.axes)
        along[place] = buffer.copies[place]
        positions = positions + (np.arange(buffer.copies[place]) * step).reshape(along)
    return Scattered(positions)


def _out_of_bounds(
    buffer: Buffer, dimension: int, value: NDArray[np.int64], bad: Truths, grid: Grid, span: Span
) -> InterpError:
    bad = np.broadcast_to(bad, grid.shape)
    point = np.unravel_index(int(np.argmax(bad)), bad.shape) if bad.shape else ()
    at = int(np.broadcast_to(value, grid.shape)[point])
    names = {n: v.start + int(point[v.place]) if isinstance(v, Axis) else v for n, v in grid.variables.items()}
    where = ", ".join(f"{name} = {v}" for name, v in names.items() if not name.startswith("_"))
    extent = buffer.shape[dimension]
    message = f"index {at} of dimension {dimension} is outside `{buffer.name}`, whose extent there is {extent}"
    return InterpError("interp.bounds", message, span, (f"where {where}",) if where else ())


def load(buffer: Buffer, place: Place, grid: Grid) -> Array:
    """The elements at `place`, one axis for each axis of the grid; possibly a view of the buffer."""
    if isinstance(place, Scattered):
        return buffer.data.take(place.positions)
    return _view(buffer, place, grid)


def _view(buffer: Buffer, place: Strided, grid: Grid) -> Array:
    """The buffer's elements at `place`, in place; of length 1 along axes they do not depend on."""
    size = buffer.data.itemsize
    shape = tuple(axis.count if stride else 1 for axis, stride in zip(grid.axes, place.strides, strict=True))
    strides = tuple(stride * size for stride in place.strides)
    return np.ndarray(shape, buffer.data.dtype, buffer.data.data, place.offset * size, strides)


def store(buffer: Buffer, place: Place, value: Array, grid: Grid) -> None:
    """Write to `place`, whose elements are distinct."""
    if isinstance(place, Scattered):
        buffer.data[place.positions] = value
    else:
        _view(buffer, place, grid)[...] = value


def positions(place: Place, grid: Grid) -> NDArray[np.int64]:
    """The flat positions of `place`."""
    if isinstance(place, Scattered):
        return place.positions
    result: NDArray[np.int64] = np.full((1,) * len(grid.axes), place.offset, np.int64)
    for axis, stride in zip(grid.axes, place.strides, strict=True):
        if stride:
            along = [1] * len(grid.axes)
            along[axis.place] = axis.count
            result = result + (np.arange(axis.count) * stride).reshape(along)
    return result
