"""The random choices behind a kernel, and the text that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from tests.oracle.text import Text

T = TypeVar("T")
WARP = 32


@dataclass(frozen=True, slots=True)
class Team:
    """Who executes a fragment: `threads` from `first` of a block, a role or (`role` is None) all of it."""

    role: str | None
    first: int
    threads: int
    block: int

    @property
    def head(self) -> str | None:
        """The statement that selects the team."""
        return None if self.role is None else f"with role({self.role}):"

    def index(self, lane: str) -> str:
        """The index in the block of a thread of the team."""
        return lane if self.first == 0 else f"{self.first} + {lane}"


@dataclass(slots=True)
class Choices:
    """Draws from `random`; the first option is the simplest: hypothesis shrinks towards it. `noise`: how
    likely a piece of synchronisation is forgotten."""

    random: Random
    text: Text
    noise: float

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() > 1 - probability

    def sync(self, *lines: str) -> None:
        """Synchronisation that may be forgotten."""
        if not self.chance(self.noise):
            self.text.add(*lines)

    def place(self, lane: str, threads: int) -> str:
        """The element of a row that a thread reads: its own or another's."""
        own = lane if threads == WARP else f"{lane} % {WARP}"
        last = f"{WARP - 1} - {lane}" if threads == WARP else f"({threads - 1} - {lane}) % {WARP}"
        return self.pick((own, last, f"({lane} + 1) % {WARP}", f"({lane} + {WARP // 2}) % {WARP}", "0"))

    def trips(self) -> str | None:
        """The number of iterations of a loop, or None for no loop."""
        return self.pick((None, "K", "K", "K", "2 * K", "ceildiv(K, 2)", "K + 1", "2", "min(K, 2)"))

    def loop(self, trips: str | None) -> tuple[str | None, str]:
        """Head of the loop and its variable (0 without one)."""
        if trips is None:
            return None, "0"
        var = self.text.name("k")
        return f"for {var} in seq(0, {trips}):", var

    def guard(self) -> str | None:
        """A condition around a fragment, or None."""
        return self.pick(("if T > 1:", "if t % 2 == 0:", "if K > 0:")) if self.chance(0.1) else None

    def source(self, k: str) -> tuple[str, str]:
        """A tensor with a row for every task and iteration, and this one's row."""
        x = self.text.tensor("X", f"T + 2 * K + 2, {WARP}")
        return x, "t" if k == "0" else f"t + {k}"
