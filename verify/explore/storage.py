"""Where a skeleton's objects lie, and which cells a reference names. Sets of cells are integers, one bit a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from exogpu.ir.evaluate import evaluate
from exogpu.ir.skeleton.objects import Flags, Global, Mbarriers, Object, Ref, Registers, Shared
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.ir.stmt import Point
from exogpu.verify.explore.outcome import Excessive

MOST_CELLS = 1 << 16
"""Of one object; more take too long."""

EVERYWHERE = -1
"""The CTA of objects in global memory."""


class Space(NamedTuple):
    """Cells that accesses can have in common: those of a shared object that overlays none, in one CTA, or of an object
    in global memory."""

    root: str
    cta: int


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """An index outside its dimension."""

    name: str
    dim: int
    index: int
    extent: int


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """The objects at given sizes: their shapes, and for those with cells in a space the object whose space it is and
    the first cell."""

    objects: Mapping[str, Object]
    shapes: Mapping[str, tuple[int, ...]]
    roots: Mapping[str, tuple[str, int]]

    @classmethod
    def of(cls, skeleton: Skeleton, sizes: Mapping[str, int]) -> Storage:
        """Raises Excessive if an object is too large."""
        objects = {o.name: o for o in skeleton.objects}
        shapes = {name: _shape(o, sizes) for name, o in objects.items()}
        for name, shape in shapes.items():
            if prod(shape) > MOST_CELLS:
                raise Excessive(f"{name} has {prod(shape)} cells")
        roots: dict[str, tuple[str, int]] = {}
        for name, o in objects.items():
            inner = o.overlay if isinstance(o, Shared | Mbarriers) else None
            if inner is None:
                roots[name] = (name, 0)
            else:
                assert isinstance(o, Shared | Mbarriers)
                root, first = roots[inner]
                roots[name] = (root, first + o.offset)
        return cls(objects, shapes, roots)

    def size(self, name: str) -> int:
        """Number of cells of an object."""
        return prod(self.shapes[name])

    def space(self, name: str, cta: int) -> Space:
        """The space that an object's cells lie in, for the given CTA."""
        return Space(self.roots[name][0], EVERYWHERE if isinstance(self.objects[name], Global) else cta)

    def whole(self, name: str) -> int:
        """All cells of an object, as cells of its space."""
        return ((1 << self.size(name)) - 1) << self.roots[name][1]

    def cells(self, ref: Ref, env: Mapping[str, int]) -> int | OutOfBounds:
        """The cells that a reference names, as cells of the object itself."""
        mask, stride = 1, 1
        shape = self.shapes[ref.name]
        for n in reversed(range(len(shape))):
            if n >= len(ref.dims):
                lo, extent = 0, shape[n]
            elif isinstance(ref.dims[n], Point):
                lo, extent = evaluate(ref.dims[n].index, env), 1  # type: ignore[union-attr]
            else:
                lo, extent = evaluate(ref.dims[n].lo, env), ref.dims[n].extent  # type: ignore[union-attr]
            if lo < 0 or lo + extent > shape[n]:
                return OutOfBounds(ref.name, n, lo if lo < 0 else lo + extent - 1, shape[n])
            mask = _repeat(mask, extent, stride) << lo * stride
            stride *= shape[n]
        return mask

    def text(self, name: str, cells: int) -> str:
        """The first of some cells of an object, as the user writes it."""
        shape = self.shapes[name]
        cell = (cells & -cells).bit_length() - 1
        index: list[str] = []
        for extent in reversed(shape):
            index.insert(0, str(cell % extent))
            cell //= extent
        return f"{name}[{', '.join(index)}]" if index else name


def _shape(o: Object, sizes: Mapping[str, int]) -> tuple[int, ...]:
    match o:
        case Global(shape=shape):
            return tuple(max(0, evaluate(e, sizes)) for e in shape)
        case Shared() | Registers() | Mbarriers() | Flags():
            return o.shape


def _repeat(mask: int, times: int, stride: int) -> int:
    """A set of cells, `times` times at this distance."""
    if times <= 0:
        return 0
    if mask == (1 << stride) - 1:  # cells without gaps
        return (1 << stride * times) - 1
    found = 0
    for n in range(times):
        found |= mask << n * stride
    return found
