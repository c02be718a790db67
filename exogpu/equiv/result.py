"""The outcome of a comparison."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from exogpu.diagnostics import Label
from exogpu.source import Span


class Verdict(enum.Enum):
    """PROVED: for all sizes that both allow. REFUTED: with sizes and values. VACUOUS: no sizes are allowed by both."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNKNOWN = "UNKNOWN"
    VACUOUS = "VACUOUS"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two procedures: its name, and where it is written."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Difference:
    """Sizes and inputs at which an element differs: the first one, with both values. Inputs are integers from
    `-magnitude` to `magnitude`, drawn from the seed (`exogpu.equiv.trial.integers`). `wide`: the values are those of a
    computation in f64, since that in the procedures' own types is not exact."""

    sizes: tuple[tuple[str, int], ...]
    magnitude: int
    seed: int
    tensor: str
    index: tuple[int, ...]
    a: float
    b: float
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What is known of two procedures.

    `tensors` are those that one of them writes; `reassociated` those that are equal up to the order of sums, zeros in
    them included. `assumed` are the preconditions of either. `reason` says why nothing is known, and `span` where, with
    places in the other procedure as `labels`.
    """

    a: Side
    b: Side
    verdict: Verdict
    tensors: tuple[str, ...] = ()
    reassociated: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    reason: str = ""
    span: Span | None = None
    labels: tuple[Label, ...] = ()
    difference: Difference | None = None
    seconds: float = 0.0
    cached: bool = False

    @property
    def proved(self) -> bool:
        """Both compute the same, for all sizes that both allow."""
        return self.verdict is Verdict.PROVED
