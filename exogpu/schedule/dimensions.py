"""Operators on the dimensions of allocated buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from exogpu.ir.index import Bin, Index, Int
from exogpu.ir.stmt import Alloc, InstrCall, Point, Range
from exogpu.ir.terms import add, divide, times, within
from exogpu.ir.walk import walk
from exogpu.schedule.cursor import Where
from exogpu.schedule.effects import Access
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import IndexLike, as_index, words
from exogpu.schedule.paths import Block, Path, block_at, same
from exogpu.schedule.redirect import Dims, Redirect, difference
from exogpu.schedule.work import Work, operator


@dataclass(frozen=True, slots=True)
class Allocated:
    """A buffer, where it is allocated, and the statements that can use it."""

    at: Work
    alloc: Alloc
    path: Path
    users: Block

    @staticmethod
    def find(at: Work, where: Where) -> Allocated:
        """The allocation that an operator is asked to change."""
        cursor = at.find(where)
        if not isinstance(cursor.stmt, Alloc):
            raise Refused("schedule.pattern", f"`{cursor}` is not an allocation", cursor.stmt.span)
        block = block_at(at.proc.body, cursor.path[:-1])
        return Allocated(at, cursor.stmt, cursor.path, block[cursor.path[-1] + 1 :])

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All accesses to the buffer."""
        return tuple(a for a in self.at.effects(self.users) if a.buffer == self.alloc.name)

    def in_no_instruction(self) -> None:
        """Refuses instructions that use the buffer."""
        for stmt in walk(self.users):
            if isinstance(stmt, InstrCall) and self.alloc.name in self.at.names_in((stmt,)):
                raise limit(f"`{stmt.instr.name}` uses `{self.alloc.name}`", stmt.span)

    def dimension(self, dim: int) -> int:
        """The number of a dimension, which may be counted from the last one."""
        rank = len(self.alloc.shape)
        if not -rank <= dim < rank:
            raise limit(f"`{self.alloc.name}` has no dimension {dim}", self.alloc.span)
        return dim % rank

    def constant(self, given: IndexLike) -> Index:
        """An index that has one value as long as the buffer lives."""
        index = as_index(given)
        self.at.in_scope(index, self.path)
        return index

    def within(self, indices: Sequence[tuple[Access, Index]], extent: int) -> None:
        """The indices that accesses get lie in a dimension of this extent."""
        known = self.at.known(self.path)
        for i in dict.fromkeys(i for _, i in indices):
            goal = within(i, Int(0), Int(extent))
            if self.at.implied(known, goal):
                continue
            failure = f"the index `{words(i)}` does not always lie in a dimension of {extent} elements"
            for a in (a for a, j in indices if j == i):
                self.at.prove("the access stays in bounds", (*known, *a.given), goal, failure, a.span)

    def becomes(self, new: Alloc, dims: Callable[[Dims], Dims] = lambda dims: dims) -> None:
        """Replaces the allocation, and sends every access to the element that `dims` tells."""
        at, name = self.at, self.alloc.name
        shape = tuple(Int(n) for n in new.shape)
        info = replace(at.buffers[name], dtype=new.dtype, memory=new.memory, shape=shape)
        users = Redirect(name, name, dims, at.buffers, {**at.buffers, name: info}).block(self.users)
        count = 1 + len(users)
        at.splice(self.path, count, (new, *users), same(0, count))


@operator
def expand_dim(at: Work, where: Where, extent: int, index: IndexLike, dim: int = 0) -> None:
    """A buffer with one more dimension, before dimension `dim`, in which all accesses are at `index`: an expression
    that is known where the buffer is allocated, and proved to be less than `extent` and not negative."""
    buffer = Allocated.find(at, where)
    there = buffer.constant(index)
    shape = buffer.alloc.shape
    if not 0 <= dim <= len(shape):
        raise limit(f"a dimension cannot be put before dimension {dim}", buffer.alloc.span)
    buffer.within([(a, there) for a in buffer.accesses], extent)
    new = replace(buffer.alloc, shape=(*shape[:dim], extent, *shape[dim:]))
    buffer.becomes(new, lambda dims: (*dims[:dim], Point(there), *dims[dim:]))


@operator
def drop_dim(at: Work, where: Where, dim: int) -> None:
    """A buffer without a dimension of one element."""
    buffer = Allocated.find(at, where)
    n, shape = buffer.dimension(dim), buffer.alloc.shape
    if shape[n] != 1 or len(shape) == 1:
        raise limit(
            f"dimension {dim} of `{buffer.alloc.name}` is not one of several, with one element", buffer.alloc.span
        )
    buffer.within([(a, a.index[n]) for a in buffer.accesses], 1)

    def dims(given: Dims) -> Dims:
        point_of(buffer.alloc, given[n])
        return (*given[:n], *given[n + 1 :])

    buffer.becomes(replace(buffer.alloc, shape=(*shape[:n], *shape[n + 1 :])), dims)


@operator
def rearrange_dims(at: Work, where: Where, order: Sequence[int]) -> None:
    """A buffer whose dimension n is what dimension `order[n]` was."""
    buffer = Allocated.find(at, where)
    shape = buffer.alloc.shape
    if sorted(order) != [*range(len(shape))]:
        raise limit(f"{tuple(order)} is no order of {len(shape)} dimensions", buffer.alloc.span)
    buffer.becomes(
        replace(buffer.alloc, shape=tuple(shape[n] for n in order)), lambda dims: tuple(dims[n] for n in order)
    )


@operator
def resize_dim(at: Work, where: Where, dim: int, extent: int, offset: IndexLike = 0) -> None:
    """A buffer that keeps `extent` elements of a dimension, from `offset` on, where all accesses are proved to be."""
    buffer = Allocated.find(at, where)
    n, start, shape = buffer.dimension(dim), buffer.constant(offset), buffer.alloc.shape
    buffer.within([(a, difference(a.index[n], start)) for a in buffer.accesses], extent)
    new = replace(buffer.alloc, shape=(*shape[:n], extent, *shape[n + 1 :]))

    def dims(given: Dims) -> Dims:
        d = given[n]
        lo = difference(d.index if isinstance(d, Point) else d.lo, start)
        return (*given[:n], Point(lo) if isinstance(d, Point) else replace(d, lo=lo), *given[n + 1 :])

    buffer.becomes(new, dims)


@operator
def divide_dim(at: Work, where: Where, dim: int, factor: int) -> None:
    """A dimension of n elements as two, of `n // factor` and of `factor`: element i becomes `i // factor, i % factor`.
    The factor divides n."""
    buffer = Allocated.find(at, where)
    n, shape = buffer.dimension(dim), buffer.alloc.shape
    if factor < 1 or shape[n] % factor:
        raise limit(f"{factor} does not divide the extent {shape[n]}", buffer.alloc.span)
    new = replace(buffer.alloc, shape=(*shape[:n], shape[n] // factor, factor, *shape[n + 1 :]))

    def dims(given: Dims) -> Dims:
        i = point_of(buffer.alloc, given[n])
        return (*given[:n], Point(divide(i, factor)), Point(divide(i, factor, "%")), *given[n + 1 :])

    buffer.becomes(new, dims)


@operator
def join_dims(at: Work, where: Where, dim: int) -> None:
    """Two dimensions of m and n elements, of which `dim` is the first, as one: element (i, j) becomes `n * i + j`.
    Accesses are proved to be in bounds."""
    buffer = Allocated.find(at, where)
    n, shape = buffer.dimension(dim), buffer.alloc.shape
    if n + 1 == len(shape):
        raise limit(f"no dimension follows dimension {dim}", buffer.alloc.span)
    buffer.within([(a, a.index[n + 1]) for a in buffer.accesses], shape[n + 1])
    new = replace(buffer.alloc, shape=(*shape[:n], shape[n] * shape[n + 1], *shape[n + 2 :]))

    def dims(given: Dims) -> Dims:
        i, j = (point_of(buffer.alloc, d) for d in given[n : n + 2])
        return (*given[:n], Point(_joined(i, j, shape[n + 1])), *given[n + 2 :])

    buffer.becomes(new, dims)


def _joined(i: Index, j: Index, n: int) -> Index:
    match i, j:
        case Bin("//", whole, Int(a)), Bin("%", part, Int(b)) if (whole, a, b) == (part, n, n):
            return whole
        case _:
            return add(times(n, i), j)


def point_of(alloc: Alloc, dim: Point | Range) -> Index:
    """The index in a dimension of which instructions may not use a range."""
    if isinstance(dim, Range):
        raise limit(f"an instruction uses a range of that dimension of `{alloc.name}`", alloc.span)
    return dim.index
