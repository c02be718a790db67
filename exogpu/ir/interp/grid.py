"""Many iterations at once: the current iterations of the loops that run together form a grid.

An index expression is evaluated to a number, or to an array with one axis for each such loop (of length 1 where
the value does not depend on it). A mask holds the points of the grid that execute the current statement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from exogpu.ir.arrays import Numbers, Truths, cond, index
from exogpu.ir.index import Cond, Index


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop of the grid: `count` consecutive iterations from `start`. `sums`: its `+=` may meet."""

    place: int
    start: int
    count: int
    sums: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid, the variables in scope, and the points that execute (None: all)."""

    axes: tuple[Axis, ...]
    variables: Mapping[str, int | Axis]
    mask: Truths | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of iterations of each loop of the grid."""
        return tuple(a.count for a in self.axes)

    @property
    def points(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    def bind(self, var: str, value: int) -> Grid:
        """The grid for one iteration of a loop that runs in order."""
        return replace(self, variables={**self.variables, var: value})

    def enter(self, var: str, start: int, count: int, sums: bool) -> Grid:
        """The grid extended by a loop."""
        axis = Axis(len(self.axes), start, count, sums)
        mask = None if self.mask is None else self.mask[..., np.newaxis]
        return Grid((*self.axes, axis), {**self.variables, var: axis}, mask)

    def where(self, truth: bool | Truths) -> Grid | None:
        """The grid of the points where a condition holds; None if there are none."""
        if isinstance(truth, bool):
            return self if truth else None
        mask = truth if self.mask is None else truth & self.mask
        if not mask.any():
            return None
        return replace(self, mask=None if mask.all() else mask)

    def __getitem__(self, name: str, /) -> int | Numbers:
        """The value of a variable."""
        bound = self.variables[name]
        return self._along(bound) if isinstance(bound, Axis) else bound

    def index(self, e: Index) -> int | Numbers:
        """The value of an index expression."""
        return index(e, self)

    def cond(self, c: Cond) -> bool | Truths:
        """The truth value of a condition."""
        return cond(c, self)

    def _along(self, axis: Axis) -> Numbers:
        shape = [1] * len(self.axes)
        shape[axis.place] = axis.count
        return np.arange(axis.start, axis.start + axis.count).reshape(shape)
