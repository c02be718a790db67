"""What a skeleton's roles share, and how statements name parts of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from exogpu.ir.index import Index
from exogpu.ir.stmt import Point, Range
from exogpu.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Shared:
    """Shared memory of every CTA, in cells. `overlay` names another object whose cells it uses from `offset` on."""

    name: str
    shape: tuple[int, ...]
    overlay: str | None = None
    offset: int = 0
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Global:
    """Global memory, in cells; a `result` must be written everywhere by the end."""

    name: str
    shape: tuple[Index, ...]
    result: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Registers:
    """Registers of every thread (of every warpgroup that names them): an accumulator or an operand of wgmma."""

    name: str
    shape: tuple[int, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Mbarriers:
    """An array of mbarriers in every CTA. With `count` they are initialised before the roles start, visibly to all;
    without, statements do it. They occupy cells `offset`.. of the shared object `overlay`, if there is one."""

    name: str
    shape: tuple[int, ...]
    count: int | None
    overlay: str | None = None
    offset: int = 0
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def cells(self) -> range:
        """Its cells in the object that it lies in."""
        return range(self.offset, self.offset + prod(self.shape))

    def in_common(self, other: Mbarriers) -> range:
        """Cells that two arrays have in common."""
        here = max(self.offset, other.offset)
        same = (self.overlay or self.name) == (other.overlay or other.name)
        return range(here, min(self.cells.stop, other.cells.stop) if same else here)


@dataclass(frozen=True, slots=True)
class Flags:
    """An array of integers in global memory, 0 at first, that roles publish with and spin on."""

    name: str
    shape: tuple[int, ...]
    span: Span = field(default=NOWHERE, compare=False)


Object = Shared | Global | Registers | Mbarriers | Flags


@dataclass(frozen=True, slots=True)
class Ref:
    """A window of an object: a point or a range in each dimension (`Point`, `Range`), in the CTA `cta` (None: the
    executing thread's)."""

    name: str
    dims: tuple[Point | Range, ...]
    cta: Index | None = None
    span: Span = field(default=NOWHERE, compare=False)
