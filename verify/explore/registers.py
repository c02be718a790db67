"""Registers that wgmma uses, of one warp (PTX ISA, wgmma.fence and wgmma.wait_group)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(slots=True, eq=False)
class Registers:
    """`clean`: cells that no ordinary access has touched since the last wgmma.fence, by object; `shapes`: of the last
    wgmma on an accumulator since then; `busy`: cells in flight, with the operation."""

    fenced: bool = False
    touched: dict[str, int] = field(default_factory=dict)
    shapes: dict[tuple[str, int], str] = field(default_factory=dict)
    busy: list[tuple[str, int, int, str | None]] = field(default_factory=list)
    """Object, cells, operation, and its shape if they are an accumulator."""

    def fence(self) -> None:
        """wgmma.fence."""
        self.fenced = True
        self.touched.clear()
        self.shapes.clear()

    def over(self, bits: int) -> None:
        """Operations are over."""
        self.busy = [b for b in self.busy if not 1 << b[2] & bits]

    def touch(self, name: str, cells: int) -> int | None:
        """An ordinary access; the operation in flight that it meets, if there is one."""
        self.touched[name] = self.touched.get(name, 0) | cells
        return self._meets(name, cells)

    def unfenced(self, name: str, cells: int) -> bool:
        """An ordinary access has come after the last fence."""
        return not self.fenced or bool(self.touched.get(name, 0) & cells)

    def accumulate(
        self, name: str, cells: int, shape: str, flight: int, *, fences: bool
    ) -> Literal["fence"] | int | None:
        """A wgmma takes an accumulator: what is wrong, a missing fence or an operation in flight that it meets.
        `fences`: a fence is enough after a wgmma of another shape (F1)."""
        before = [(n, c, s) for (n, c), s in self.shapes.items()]
        before += [] if fences else [(n, c, s) for n, c, _, s in self.busy if s is not None]
        other = any(n == name and c & cells and (s, c) != (shape, cells) for n, c, s in before)
        found = self._meets(name, cells, accumulators=False)
        self.shapes[name, cells] = shape
        self.busy.append((name, cells, flight, shape))
        return "fence" if other or self.unfenced(name, cells) else found

    def read(self, name: str, cells: int, flight: int) -> Literal["fence"] | int | None:
        """A wgmma takes an operand."""
        found = next((b[2] for b in self.busy if b[0] == name and b[1] & cells and b[3] is not None), None)
        self.busy.append((name, cells, flight, None))
        return "fence" if self.unfenced(name, cells) else found

    def _meets(self, name: str, cells: int, *, accumulators: bool = True) -> int | None:
        return next((b[2] for b in self.busy if b[0] == name and b[1] & cells and (accumulators or b[3] is None)), None)
