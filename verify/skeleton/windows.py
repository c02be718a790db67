"""Windows of a skeleton's objects as accesses to the buffers of the parallel program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from exogpu.ir.collective import plus
from exogpu.ir.index import Bin, Cmp, Cond, Index, Int
from exogpu.ir.skeleton.objects import Global, Object, Ref, Registers, Shared
from exogpu.ir.stmt import Point, Range
from exogpu.ir.types import Gmem, Smem, WgmmaD
from exogpu.ir.walk import substitute_index
from exogpu.verify.program import Buffer
from exogpu.verify.skeleton.unsupported import NotModelled

Dims = tuple[tuple[Index, int], ...]

MOST_ROWS = 64
"""Most pieces that one window of overlaid storage may have."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The memory objects of a skeleton; `cluster` CTAs have shared memory each. Objects with common storage are one
    buffer of cells."""

    objects: Mapping[str, Object]
    cluster: int

    def buffers(self) -> dict[str, Buffer]:
        """The buffers that all windows are of."""
        out: dict[str, Buffer] = {}
        for item in self.objects.values():
            match item:
                case Shared() if self._flat(item):
                    root, _ = self._storage(item)
                    out[root] = self._shared(root, (self._cells(root),), item)
                case Shared(name, shape):
                    out[name] = self._shared(name, shape or (1,), item)
                case Global(name, shape):
                    out[name] = Buffer(name, Gmem(), shape or (Int(1),), 1, None, item.span, Int(0))
                case Registers(name, shape):
                    extents = tuple(Int(n) for n in shape or (1,))
                    out[name] = Buffer(name, WgmmaD(), extents, 4, None, item.span, Int(0))
                case _:
                    pass
        return out

    def _shared(self, name: str, shape: tuple[int, ...], item: Shared) -> Buffer:
        extents = tuple(Int(n) for n in ((self.cluster, *shape) if self.cluster > 1 else shape))
        return Buffer(name, Smem(), extents, 1, None, item.span, Int(0), per_cta=self.cluster > 1)

    def _flat(self, item: Shared) -> bool:
        """It has common storage with another object."""
        root, _ = self._storage(item)
        return any(isinstance(o, Shared) and o.overlay and self._storage(o)[0] == root for o in self.objects.values())

    def _storage(self, item: Shared) -> tuple[str, int]:
        """The object in whose cells it lies, and its first cell there."""
        offset = 0
        while item.overlay is not None:
            offset += item.offset
            below = self.objects[item.overlay]
            if not isinstance(below, Shared):
                raise NotModelled(
                    f"`{item.name}` has common storage with something that is not shared memory", item.span
                )
            item = below
        return item.name, offset

    def _cells(self, root: str) -> int:
        ends = []
        for item in self.objects.values():
            if isinstance(item, Shared) and self._storage(item)[0] == root:
                ends.append(self._storage(item)[1] + prod(item.shape))
        return max(ends)

    def inside(self, ref: Ref, read: Callable[[Index], Index], names: Mapping[str, Index]) -> Iterator[Cond]:
        """That a window of an object with common storage does not leave the object."""
        item = self.objects[ref.name]
        if isinstance(item, Shared) and self._flat(item):
            for dim, extent in zip(ref.dims, item.shape, strict=False):
                low = substitute_index(read(dim.lo if isinstance(dim, Range) else dim.index), names)
                yield Cmp(">=", low, Int(0))
                yield Cmp("<=", Bin("+", low, Int(_extent(dim))), Int(extent))

    def dims(self, ref: Ref, cta: Index) -> Iterator[tuple[str, Dims]]:
        """The buffer and the rectangles that a window is; `cta` is the CTA whose shared memory is meant."""
        item = self.objects[ref.name]
        dims = tuple((d.lo, d.extent) if isinstance(d, Range) else (d.index, 1) for d in ref.dims) or ((Int(0), 1),)
        if isinstance(item, Shared):
            ahead: Dims = ((cta, 1),) if self.cluster > 1 else ()
            if self._flat(item):
                root, offset = self._storage(item)
                yield from ((root, (*ahead, piece)) for piece in _pieces(item, ref, offset))
            else:
                yield ref.name, (*ahead, *dims)
        else:
            yield ref.name, dims


def _pieces(item: Shared, ref: Ref, offset: int) -> Iterator[tuple[Index, int]]:
    """A window as runs of cells: whole trailing dimensions are one run, ranges before them are taken apart."""
    shape, dims = item.shape or (1,), ref.dims or (Point(Int(0)),)
    strides = [prod(shape[d + 1 :]) for d in range(len(shape))]
    tail = len(dims)
    while tail > 0 and isinstance(dims[tail - 1], Range) and _extent(dims[tail - 1]) == shape[tail - 1]:
        tail -= 1
    run = prod(shape[tail:])
    if tail and isinstance(dims[tail - 1], Range):
        tail, run = tail - 1, run * _extent(dims[tail - 1])
    counts = [_extent(d) for d in dims[:tail]]
    if prod(counts) > MOST_ROWS:
        raise NotModelled(f"the window of `{ref.name}` has too many separate rows of cells", ref.span)
    for row in product(*(range(n) for n in counts)):
        start: Index = Int(offset)
        for d, dim in enumerate(dims):
            low = dim.lo if isinstance(dim, Range) else dim.index
            step = row[d] if d < tail else 0
            start = plus(start, Bin("*", Int(strides[d]), plus(low, Int(step))))
        yield start, run


def _extent(dim: Point | Range) -> int:
    return dim.extent if isinstance(dim, Range) else 1
