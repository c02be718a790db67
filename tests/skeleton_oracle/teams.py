"""What a random skeleton is put together in: roles, objects, and the choices behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from tests.skeleton_oracle.lines import Block, Line, lines

T = TypeVar("T")
WARP, WARPGROUP = 32, 128
BYTES = 64


@dataclass(slots=True, eq=False)
class Team:
    """A role: `threads` threads, in units of warps if `warps`; what it does so far."""

    name: str
    threads: int
    warps: bool = False
    ctas: str = ""
    body: list[Line] = field(default_factory=list)

    @property
    def line(self) -> Line:
        """The role with its body."""
        size = f"warps={self.threads // WARP}" if self.warps else f"threads={self.threads}"
        return Line(f'with role("{self.name}", {size}{self.ctas}):', tuple(self.body))

    @property
    def units(self) -> int:
        """Threads that an election leaves."""
        return self.threads // WARP if self.warps else 1

    @property
    def whole_warps(self) -> bool:
        """It can join named barriers."""
        return self.threads % WARP == 0

    def one(self, *body: Line) -> Block:
        """By one thread of the role."""
        if self.threads == 1:
            return body
        head = "with elect():" if self.units == 1 else "if tid == 0:"
        return (Line(head, body),)


@dataclass(slots=True, eq=False)
class Build:
    """A skeleton in the making."""

    random: Random
    cluster: int = 1
    objects: list[str] = field(default_factory=list)
    teams: list[Team] = field(default_factory=list)
    ids: int = 0
    common: int = 0
    even: bool = False
    """Rings are gone round completely."""
    names: int = 0
    kinds: set[str] = field(default_factory=set)
    """What the skeleton has of what few have."""

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def name(self, prefix: str) -> str:
        """A fresh name."""
        self.names += 1
        return f"{prefix}{self.names}"

    def declare(self, prefix: str, what: str) -> str:
        """A fresh object."""
        name = self.name(prefix)
        self.objects.append(f"{name} = {what}")
        return name

    def barrier_id(self) -> int:
        """A fresh named barrier."""
        self.ids += 1
        return self.ids

    def common_id(self) -> int:
        """The named barrier of all threads, always the same."""
        self.common = self.common or self.barrier_id()
        return self.common

    def team(self, prefix: str, sizes: Sequence[int]) -> Team:
        """A new role."""
        threads = self.pick(sizes)
        made = Team(self.name(prefix), threads, threads >= WARP and self.chance(0.4))
        self.teams.append(made)
        return made

    def block(self) -> Block:
        """The skeleton as lines."""
        head = [f"cluster({self.cluster})"] if self.cluster > 1 else []
        body = (*lines(*head, *self.objects), *(t.line for t in self.teams))
        return (Line("@skeleton"), Line("def random(n: size):", body))
