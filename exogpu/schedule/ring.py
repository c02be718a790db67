"""Ring buffers: a few places that a buffer's elements, or a loop's buffers, take in turn."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from exogpu.ir.index import Bool, Cmp
from exogpu.ir.stmt import Point
from exogpu.ir.terms import divide, equal
from exogpu.ir.types import Smem
from exogpu.schedule.cursor import Where
from exogpu.schedule.dimensions import Allocated, point_of
from exogpu.schedule.effects import Does
from exogpu.schedule.errors import limit
from exogpu.schedule.order import Order
from exogpu.schedule.redirect import Dims
from exogpu.schedule.work import Work, operator


@operator
def ring_buffer(at: Work, where: Where, depth: int, dim: int | None = None) -> None:
    """`depth` places for the buffers that one allocation in shared memory makes one after the other; or, with `dim`,
    for the elements of a dimension: element i becomes `i % depth`.

    The first changes nothing sequentially, since every execution makes a buffer of its own: that no place is taken
    again too early is what `verify` proves. For the second, of two elements that share a place none may be written
    between a write of the other and a read that can see it.
    """
    buffer = Allocated.find(at, where)
    if depth < 1:
        raise limit(f"a ring has at least one place, not {depth}", buffer.alloc.span)
    memory = buffer.alloc.memory
    if dim is not None:
        _fold(buffer, buffer.dimension(dim), depth)
    elif isinstance(memory, Smem):
        buffer.becomes(replace(buffer.alloc, memory=replace(memory, ring=depth)))
    else:
        help = "expand it by a dimension with index `i % depth` and lift it out of the loop"
        raise limit(f"`{buffer.alloc.name}` is not in shared memory", buffer.alloc.span, help)


def _fold(buffer: Allocated, n: int, depth: int) -> None:
    at, alloc = buffer.at, buffer.alloc
    if depth > alloc.shape[n]:
        raise limit(f"the dimension has {alloc.shape[n]} elements only", alloc.span)
    order, known = Order(buffer.users), at.known(buffer.path)
    accesses = buffer.accesses
    writes = [a for a in accesses if a.does is not Does.READ]
    reads = [a.primed().primed() for a in accesses if a.does is not Does.WRITE]
    for write, other, read in product(writes, (w.primed() for w in writes), reads):
        in_order = (order.before(write, other), order.before(other, read))
        if Bool(False) in in_order:
            continue
        others = [m for m in range(len(alloc.shape)) if m != n]
        meet = (equal(x.index[m], read.index[m]) for x in (write, other) for m in others)
        lost = (
            equal(write.index[n], read.index[n]),
            Cmp("!=", other.index[n], read.index[n]),
            equal(divide(other.index[n], depth, "%"), divide(read.index[n], depth, "%")),
        )
        given = (*known, *write.given, *other.given, *read.given, *meet, *lost, *in_order)
        failure = f"what `{write}` writes would be overwritten before it is read"
        at.prove("no other element takes the place in between", given, Bool(False), failure, read.span)

    def dims(given: Dims) -> Dims:
        place = divide(point_of(alloc, given[n]), depth, "%")
        return (*given[:n], Point(place), *given[n + 1 :])

    buffer.becomes(replace(alloc, shape=(*alloc.shape[:n], depth, *alloc.shape[n + 1 :])), dims)
