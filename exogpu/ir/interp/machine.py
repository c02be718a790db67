"""Execution of a planned program: loops in order, or all their iterations at once on a grid.

A loop marked `FREE` or `SUMS` has independent iterations, so each statement of its body may be executed for all of
them before the next. Every iteration still meets its own statements in program order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from exogpu.ir.arrays import Truths, negated
from exogpu.ir.buffers import reassociable
from exogpu.ir.index import BoolOp, Cmp, Cond, Index, Var
from exogpu.ir.interp.buffers import Buffer, Place, fresh, load, locate, positions, store
from exogpu.ir.interp.dependence import Order
from exogpu.ir.interp.grid import Grid
from exogpu.ir.interp.linear import linear
from exogpu.ir.interp.plan import Guard, Loop, Node
from exogpu.ir.interp.sums import collect, collect_product
from exogpu.ir.interp.values import Evaluator
from exogpu.ir.linear import Linear
from exogpu.ir.numeric import Array, convert
from exogpu.ir.stmt import Alloc, Assign
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Read
from exogpu.ir.value_type import Types, computed
from exogpu.ir.walk import reads
from exogpu.source import Span

LIMIT = 1 << 22
"""Most grid points handled at once, loops inside included."""


Watch = Callable[[str, Span, Array], None]
"""Called before a statement executes with a buffer that it reads, where, and the values read."""


@dataclass(slots=True)
class Machine:
    """The state of an execution. `types` are those of buffers and scalar arguments; fresh buffers hold `fills` by name,
    else `fill`, else poison; `_forms` are the linear forms of indices seen so far, by identity: nodes of the program
    live as long."""

    sizes: Mapping[str, int]
    types: Types
    scalars: Mapping[str, Array]
    buffers: dict[str, Buffer]
    precise: bool
    fill: int | None
    fills: Mapping[str, int] = field(default_factory=dict)
    watch: Watch | None = None
    _values: Evaluator = field(init=False)
    _forms: dict[int, tuple[Linear, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._values = Evaluator(self._read, self.types, self.precise)

    def run(self, block: tuple[Node, ...], grid: Grid) -> None:
        """Execute a block at all points of the grid."""
        for node in block:
            match node:
                case Assign():
                    self._assign(node, grid)
                case Loop():
                    self._loop(node, grid)
                case Guard(cond, then, orelse):
                    truth = grid.cond(cond)
                    yes = grid.where(truth)
                    no = grid.where(negated(truth)) if orelse else None
                    if yes is not None:
                        self.run(then, yes)
                    if no is not None:
                        self.run(orelse, no)
                case Alloc(name, dtype, shape):
                    self.buffers[name] = fresh(
                        name, dtype, grid.shape, shape, self.precise, self.fills.get(name, self.fill)
                    )

    def _loop(self, loop: Loop, grid: Grid) -> None:
        first, end = np.asarray(grid.index(loop.lo)), np.asarray(grid.index(loop.hi))
        start, stop = int(first.min()), int(end.max())
        ragged = bool(first.ndim or end.ndim)
        at_once = 1 if loop.order is Order.SERIAL else max(1, LIMIT // (grid.points * loop.volume))
        for position in range(start, stop, at_once):
            count = min(at_once, stop - position)
            inner: Grid | None
            if count == 1:
                inner = grid.bind(loop.var, position)
            else:
                inner = grid.enter(loop.var, position, count, loop.order is Order.SUMS)
            if ragged:
                inner = inner.where(inner.cond(_inside(loop)))
            if inner is not None:
                self.run(loop.body, inner)

    def _read(self, read: Read, grid: Grid) -> Array:
        if not read.index and read.buffer in self.scalars:
            return self.scalars[read.buffer]
        buffer = self.buffers[read.buffer]
        return load(buffer, self._place(buffer, read.index, grid, read.span), grid)

    def _place(self, buffer: Buffer, index: tuple[Index, ...], grid: Grid, span: Span) -> Place:
        forms = self._forms.get(id(index))
        if forms is None:
            forms = self._forms[id(index)] = tuple(linear(i, self.sizes) for i in index)
        return locate(buffer, forms, grid, span)

    def _tell(self, stmt: Assign, grid: Grid, watch: Watch) -> None:
        """Tells the watcher what the points that execute are about to read."""
        own = [(Read(stmt.buffer, stmt.index, stmt.span), ())] if stmt.op == "+=" else []
        for read, under in (*reads(stmt.rhs), *own):
            reading: Grid | None = grid
            for cond in under:
                reading = reading.where(reading.cond(cond)) if reading is not None else None
            if reading is not None and read.index:
                values = np.broadcast_to(self._read(read, reading), grid.shape)
                span = read.span if read.span.file == stmt.span.file else stmt.span  # else inside an instruction
                watch(read.buffer, span, values if reading.mask is None else values[_everywhere(reading)])

    def _assign(self, stmt: Assign, grid: Grid) -> None:
        if self.watch is not None:
            self._tell(stmt, grid, self.watch)
        buffer = self.buffers[stmt.buffer]
        place = self._place(buffer, stmt.index, grid, stmt.span)
        varies = place.varies
        meet = stmt.op == "+=" and any(axis.sums and v for axis, v in zip(grid.axes, varies, strict=True))
        if meet or grid.mask is not None:
            self._assign_points(stmt, buffer, place, grid)
            return
        rest = [x for x, v in enumerate(varies) if not v]
        value = self._summed(stmt, rest, grid) if stmt.op == "+=" and rest else self._value(stmt, grid)
        if stmt.op == "+=":
            value = load(buffer, place, grid).astype(value.dtype, copy=False) + value
        store(buffer, place, convert(value, buffer.dtype, self.precise), grid)

    def _assign_points(self, stmt: Assign, buffer: Buffer, place: Place, grid: Grid) -> None:
        """The same, point by point: for the points of a mask, and where sums meet irregularly."""
        points = np.ones(grid.shape, np.bool_) if grid.mask is None else np.broadcast_to(grid.mask, grid.shape)
        where = np.broadcast_to(positions(place, grid), grid.shape)[points]
        value = np.broadcast_to(self._value(stmt, grid), grid.shape)[points]
        whole = buffer.data.dtype.kind == "f" or value.dtype == buffer.data.dtype
        if stmt.op == "+=" and reassociable(buffer.dtype, self.precise) and whole:
            np.add.at(buffer.data, where, value.astype(buffer.data.dtype, copy=False))
            value = buffer.data[where]
        elif stmt.op == "+=":
            value = buffer.data[where].astype(value.dtype, copy=False) + value
        buffer.data[where] = convert(value, buffer.dtype, self.precise)

    def _kind(self, stmt: Assign) -> Scalar:
        """The type that a statement is computed in."""
        target = computed(self.types[stmt.buffer])
        whole = Arith("+", Read(stmt.buffer, stmt.index), stmt.rhs) if stmt.op == "+=" else stmt.rhs
        return self._values.kind(whole, target)

    def _value(self, stmt: Assign, grid: Grid) -> Array:
        return self._values.widened(stmt.rhs, grid, self._kind(stmt))

    def _summed(self, stmt: Assign, axes: list[int], grid: Grid) -> Array:
        """The sum of the right-hand side over some axes of the grid."""
        kind = self._kind(stmt)
        if isinstance(stmt.rhs, Arith) and stmt.rhs.op == "*":
            inner = self._values.kind(stmt.rhs, kind)
            a, b = (self._values.widened(factor, grid, inner) for factor in (stmt.rhs.left, stmt.rhs.right))
            if all(f.ndim and f.shape[x] > 1 for f in (a, b) for x in axes):
                return collect_product(a, b, axes)
            value = a * b
        else:
            value = self._values.widened(stmt.rhs, grid, kind)
        return collect(value.reshape(value.shape or (1,) * len(grid.axes)), grid.shape, axes)


def _everywhere(grid: Grid) -> Truths:
    """The mask with an entry for every point."""
    assert grid.mask is not None
    return np.broadcast_to(grid.mask, grid.shape)


def _inside(loop: Loop) -> Cond:
    var = Var(loop.var)
    return BoolOp("and", (Cmp("<=", loop.lo, var), Cmp("<", var, loop.hi)))
