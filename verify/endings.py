"""What is asked of a run of the machine, what it notes, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.verify.concrete import Occurrence


@dataclass(frozen=True, slots=True)
class Moment:
    """One performed step: an occurrence, the thread that performed it, barrier state after it, and whether it ended a
    phase."""

    index: int
    thread: int
    note: str
    state: tuple[tuple[str, str], ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Stuck:
    """Nothing can move; each blocked thread with the occurrence that it cannot pass and the reason."""

    blocked: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Early:
    """A thread passed an await although its logical phase is not complete, or a phase got too many arrivals."""

    index: int
    thread: int
    reason: str


@dataclass(frozen=True, slots=True)
class Reached:
    """The run performed `y` while `x` was still outstanding."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Every thread ended."""


@dataclass(frozen=True, slots=True)
class CutOff:
    """The run took more steps than it may."""


Ending = Stuck | Early | Reached | Finished | CutOff


@dataclass(frozen=True, slots=True)
class Delay:
    """Scheduling request: keep `x` outstanding for as long as anything else can move, and stop when `y` is reached.

    Without `y`, only the delay applies.
    """

    x: Occurrence
    y: Occurrence | None = None
