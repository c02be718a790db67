"""Units of a role that take turns."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.index import Index


@dataclass(frozen=True, slots=True)
class Selection:
    """Of a role of `count` units, `size` threads each from thread `base` of a CTA of `cta` threads, the unit `index`
    executes.

    The units take turns at one program: each of their threads counts the executions of allocations, arrives and
    awaits by all of them.
    """

    index: Index
    count: int
    size: int
    base: int
    cta: int

    def includes(self, thread: int) -> bool:
        """Whether a thread belongs to the role."""
        return self.base <= thread % self.cta < self.base + self.count * self.size

    def peers(self, thread: int) -> tuple[int, ...]:
        """The threads at the place of `thread` in every unit of its CTA, that of unit 0 first."""
        first = thread // self.cta * self.cta + self.base
        place = first + (thread - first) % self.size
        return tuple(place + self.size * unit for unit in range(self.count))
