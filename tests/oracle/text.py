"""A kernel's text in the making: declarations on the way, statements with their indentation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

STEP = "    "
LARGEST = 30
"""Bound on the sizes: no proof needs it, but candidates for a counterexample are unrolled at their sizes."""


@dataclass(slots=True)
class Text:
    """Arguments, barriers, and the statements inside, and after, the task loop."""

    arguments: list[str] = field(default_factory=list)
    barriers: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    depth: int = 0
    names: int = 0

    def name(self, stem: str) -> str:
        """A name that nothing has yet."""
        self.names += 1
        return f"{stem}{self.names}"

    def barrier(self, stem: str, ring: int, count: int) -> str:
        """A new barrier."""
        name = self.name(stem)
        self.barriers.append(f"{name} = mbarrier(ring={ring}, count={count})")
        return name

    def tensor(self, stem: str, shape: str, dtype: str = "f32") -> str:
        """A new tensor argument."""
        name = self.name(stem)
        self.arguments.append(f"{name}: {dtype}[{shape}] @ GMEM")
        return name

    def add(self, *lines: str) -> None:
        """Statements at the current place in the task loop."""
        self.inside += [STEP * self.depth + line for line in lines]

    @contextmanager
    def block(self, head: str | None) -> Iterator[None]:
        """A compound statement around what is added; None for none."""
        if head is None:
            yield
            return
        self.add(head)
        self.depth += 1
        before = len(self.inside)
        yield
        if len(self.inside) == before:
            del self.inside[-1]
        self.depth -= 1

    def finish(self, *nested: str | None) -> None:
        """Statements after the task loop, each inside the one before it."""
        lines = [line for line in nested if line is not None]
        self.after += [STEP * depth + line for depth, line in enumerate(lines)]

    def kernel(self, block: str) -> str:
        """The whole file."""
        head = ["from exogpu.lang import *", "", "", "@proc"]
        arguments = ", ".join(["T: size", "K: size", *self.arguments])
        body = [
            "require(T >= 1)",
            f"require(T <= {LARGEST})",
            f"require(K <= {LARGEST})",
            f"block({block})",
            *self.barriers,
            "for t in tasks(0, T):",
        ]
        inside = [STEP + line for line in self.inside or ["Fence()"]]
        lines = [*head, f"def kernel({arguments}):", *(STEP + line for line in (*body, *inside, *self.after))]
        return "\n".join(lines) + "\n"
