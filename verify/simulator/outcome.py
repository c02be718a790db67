"""What a simulated run ends with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agrees:
    """Every schedule ended with the sequential results."""

    schedules: int


@dataclass(frozen=True, slots=True)
class WrongValue:
    """An element of a result differs from the sequential program's."""

    buffer: str
    index: tuple[int, ...]
    got: float
    want: float


@dataclass(frozen=True, slots=True)
class Stuck:
    """Nothing can move; who waits, and for what."""

    waits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """A barrier does not follow its logical phases: an arrive, bytes or a wait meet another phase than theirs."""

    reason: str


@dataclass(frozen=True, slots=True)
class Race:
    """An access that the memory model leaves unordered, seen although this run's values may be right."""

    reason: str


@dataclass(frozen=True, slots=True)
class Undefined:
    """The sequential program itself has no result at these sizes (an access out of bounds, a precondition)."""

    reason: str


Outcome = Agrees | WrongValue | Stuck | Broken | Race | Undefined


class Violation(Exception):
    """Ends a run with an outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome
