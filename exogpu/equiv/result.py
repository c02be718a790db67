"""The outcome of a comparison."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from exogpu.equiv.trial import Difference
from exogpu.source import Span


class Verdict(enum.Enum):
    """PROVED: for all sizes that both allow. REFUTED: with sizes and values. VACUOUS: no sizes are allowed by both."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNKNOWN = "UNKNOWN"
    VACUOUS = "VACUOUS"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What is known of two procedures.

    `tensors` are those that one of them writes; `reassociated` those that are equal up to the order of sums, zeros in
    them included. `assumed` are the preconditions of either. `reason` says why nothing is known, and `span` where.
    """

    a: str
    b: str
    verdict: Verdict
    tensors: tuple[str, ...] = ()
    reassociated: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    reason: str = ""
    span: Span | None = None
    difference: Difference | None = None
    seconds: float = 0.0

    @property
    def proved(self) -> bool:
        """Both compute the same, for all sizes that both allow."""
        return self.verdict is Verdict.PROVED
