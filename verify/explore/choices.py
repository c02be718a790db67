"""What an execution leaves open besides its schedule: unknown numbers, and the lane that an election chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from exogpu.ir.skeleton.tree import Elect, Skeleton
from exogpu.ir.skeleton.walk import every_statement
from exogpu.verify.explore.program import Program, program_of

LANES = ((0,), (31,), (5,), (0, 31), (31, 0))
"""Those that `elect(any=True)` is tried with, one after the other for the warps of the cluster."""
SAMPLES = 12
"""Assignments of unknown numbers that are tried if there are more, for every unit of effort."""


@dataclass(slots=True, eq=False)
class Numbers:
    """Unknown numbers in the order in which they are met: first those of `fixed`, then what `rule` says of the place
    and the bound."""

    fixed: tuple[int, ...]
    random: Random | None = None
    pattern: tuple[int, ...] = (0,)
    met: dict[str, tuple[int, int]] = field(default_factory=dict)

    def choose(self, key: str, below: int) -> int:
        """The number for a name with its arguments."""
        if key not in self.met:
            n = len(self.met)
            if n < len(self.fixed):
                value = self.fixed[n]
            elif self.random is not None:
                value = self.random.randrange(below)
            else:
                value = self.pattern[n % len(self.pattern)]
            self.met[key] = (min(value, below - 1), below)
        return self.met[key][0]

    def next(self) -> tuple[int, ...] | None:
        """The assignment after this one, in lexicographic order; None after the last."""
        values = list(self.met.values())
        while values:
            value, below = values.pop()
            if value + 1 < below:
                return (*(v for v, _ in values), value + 1)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A program with the numbers that it met. `complete`: together with those before it, all that can be met."""

    program: Program
    numbers: tuple[tuple[str, int], ...]
    complete: bool


def choices(skeleton: Skeleton, sizes: Mapping[str, int], effort: int) -> Iterator[Choice]:
    """Programs for what is left open: all of them if they are few; raises Excessive."""
    free = any(isinstance(s, Elect) and s.any for s in every_statement(skeleton))
    for lanes in LANES if free else LANES[:1]:
        yield from _numbers(skeleton, sizes, lanes, SAMPLES * effort, complete=not free)


def _numbers(
    skeleton: Skeleton, sizes: Mapping[str, int], lanes: tuple[int, ...], most: int, *, complete: bool
) -> Iterator[Choice]:
    following: tuple[int, ...] | None = ()
    walked: list[Choice] = []
    while following is not None and len(walked) <= most:
        numbers = Numbers(following)
        walked.append(_choice(skeleton, sizes, lanes, numbers, complete=complete))
        following = numbers.next()
    if following is None:
        yield from walked
        return
    yield walked[0]
    for pattern in ((1 << 30,), (1, 0), (0, 1), (1, 1, 0), (0, 0, 1)):
        yield _choice(skeleton, sizes, lanes, Numbers((), pattern=pattern), complete=False)
    for seed in range(most):
        yield _choice(skeleton, sizes, lanes, Numbers((), Random(seed)), complete=False)


def _choice(
    skeleton: Skeleton, sizes: Mapping[str, int], lanes: tuple[int, ...], numbers: Numbers, *, complete: bool
) -> Choice:
    program = program_of(skeleton, sizes, numbers.choose, lanes)
    return Choice(program, tuple((key, value) for key, (value, _) in numbers.met.items()), complete)
