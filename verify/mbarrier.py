"""The state of one hardware barrier."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Mbarrier:
    """A physical barrier object (PTX ISA, mbarrier): completed phases, pending arrivals, transaction count."""

    count: int
    completed: int = 0
    pending: int = 0
    tx: int = 0

    def __post_init__(self) -> None:
        self.pending = self.count

    def settle(self) -> bool:
        """Completes the phase if nothing is pending; whether it did."""
        over = self.pending == 0 and self.tx == 0
        if over:
            self.completed += 1
            self.pending = self.count
        return over
