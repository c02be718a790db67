"""Orders of events that other schedules could change, met in one execution.

If there are none, and no accesses race, every execution at these sizes orders its events like this one: an arrival or a
copy cannot count in an earlier phase, since it comes after that phase's completion in every execution; a wait cannot
find its phase overtaken, since the next phase cannot complete before it has passed. (By induction along an execution:
the first event that met another phase than here would contradict what is known here to happen before it.)
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Late:
    """The strand's event, or the asynchronous operation that it issues, could come after everything that others do
    without it."""

    strand: int
    pos: int
    flight: bool = False


@dataclass(frozen=True, slots=True)
class Early:
    """The strand's event, or the end of the asynchronous operation that it issues, could come when nothing more has
    happened than so many events of each strand, and the ends of operations `over`: (strand, event) that issued them.
    `missing`: strands that have done more in the execution at hand."""

    strand: int
    pos: int
    seen: tuple[int, ...]
    over: frozenset[tuple[int, int]]
    missing: frozenset[int]
    flight: bool = False


Hint = Late | Early


@dataclass(slots=True, eq=False)
class Hints:
    """Those of one execution, each statement's once. `undecided`: something else depends on the schedule."""

    found: dict[tuple[object, ...], Hint] = field(default_factory=dict)
    undecided: bool = False

    def add(self, hint: Hint, place: tuple[object, ...]) -> None:
        """One of the statement `place`."""
        self.found.setdefault((type(hint), *place), hint)
