"""mbarrier objects (PTX ISA, mbarrier): counting, and what their phases tell."""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.verify.explore.exchange import Told
from exogpu.verify.explore.knowledge import Clock, covers, later, nothing

Key = tuple[int, str, int]
"""CTA, name and cell of an mbarrier or flag."""

MOST_BYTES = (1 << 20) - 1


@dataclass(slots=True, eq=False)
class Mbarrier:
    """`count` arrivals complete a phase, of which `pending` and `tx` bytes are missing in the current one, number
    `completed`; what had happened at the last completion is `since`. `seen`: the last phase whose completion some wait
    has observed. `gathers`: what was told in the current phase; `told`: in those complete. `life`: how often it had
    been initialised before the last time.

    Of the current phase, as (strand, events executed): `passed`, waits that passed in it; `announced`, which added
    bytes or arrivals to what is pending. `arrived`: what had happened before its arrivals."""

    key: Key
    name: str
    since: Clock
    count: int = 0
    valid: bool = False
    pending: int = 0
    tx: int = 0
    completed: int = 0
    seen: int = -1
    by: tuple[int, int] | None = None
    gathers: Told = field(default_factory=Told)
    told: Told = field(default_factory=Told)
    life: int = -1
    passed: list[tuple[int, int]] = field(default_factory=list)
    announced: list[tuple[int, int]] = field(default_factory=list)
    arrived: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.arrived = self.since

    def start(self, count: int, by: tuple[int, int] | None) -> None:
        """Initialised, by (strand, events executed) or before the roles start."""
        self.valid, self.count, self.by = True, count, by
        self.life += 1
        self.pending, self.tx, self.completed, self.seen = count, 0, 0, -1
        self.gathers, self.told = Told(), Told()
        self.since = nothing(len(self.since.seen))
        self.passed, self.announced = [], []
        self.arrived = self.since

    def lets_pass(self, parity: int) -> bool:
        """A wait for this parity returns."""
        return self.completed % 2 != parity

    def follows(self, temporal: Clock) -> bool:
        """The last completion certainly happened before what knows this."""
        return covers(temporal, self.since)

    def settle(self) -> list[tuple[int, int]] | None:
        """Completes the phase if nothing is missing: what of it could come later, or None. That are waits for the phase
        before, and announcements that no arrival comes after."""
        if self.pending or self.tx:
            return None
        temporal = self.gathers.temporal
        assert temporal is not None
        overtaken = [(s, pos) for s, pos in self.passed if temporal.seen[s] < pos]
        overtaken += [(s, pos) for s, pos in self.announced if self.arrived.seen[s] < pos]
        self.completed += 1
        self.pending = self.count
        self.told.include(self.gathers)
        self.since = temporal
        self.gathers, self.passed, self.announced = Told(), [], []
        self.arrived = nothing(len(temporal.seen))
        return overtaken

    def arrive(self, temporal: Clock) -> None:
        """An arrival that comes after all this."""
        self.arrived = later(self.arrived, temporal)

    def passes(self, strand: int, pos: int) -> int:
        """A wait returns: the phase that it has observed, -1 if none was complete."""
        self.seen = self.completed - 1
        self.passed.append((strand, pos))
        return self.completed - 1
