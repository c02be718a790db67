"""Vector clocks: which events of which strands, and which asynchronous operations, come before what follows.

Knowledge has several rows, one for each kind of path on which it came. A clock counts the events of every strand that
are known, for all its lanes. What a strand's own lanes did is known to each lane for itself alone (`Mind.own`) until
the strand publishes it and hears of it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import NamedTuple


class Clock(NamedTuple):
    """Events of each strand; asynchronous operations whose effects, and whose reads, are over, as bit sets."""

    seen: tuple[int, ...]
    over: int
    read: int


Knowledge = tuple[Clock, ...]

PLAIN = 0
"""The row of what synchronisation orders."""
TEMPORAL = 1
"""The row of what certainly happened earlier, whether or not its effects are visible."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The other rows, for the fences that occur. `shared`, `everywhere`: what came through a proxy fence in each CTA,
    for shared memory and for all memory; `inits`: through a fence of mbarrier initialisations; `strong`: through a
    memory fence of CTA and of wider scope."""

    shared: tuple[int, ...]
    everywhere: tuple[int, ...]
    inits: int | None
    strong: tuple[int, int] | None
    count: int

    @classmethod
    def of(cls, ctas: int, *, proxies: bool, everywhere: bool, inits: bool, memory: bool) -> Rows:
        """Rows for so many CTAs, and for the fences that occur."""
        numbers = count(2)
        return cls(
            tuple(next(numbers) for _ in range(ctas if proxies else 0)),
            tuple(next(numbers) for _ in range(ctas if everywhere else 0)),
            next(numbers) if inits else None,
            (next(numbers), next(numbers)) if memory else None,
            next(numbers),
        )


@cache
def nothing(strands: int) -> Clock:
    """No knowledge."""
    return Clock((0,) * strands, 0, 0)


def later(a: Clock, b: Clock) -> Clock:
    """What either knows."""
    if a is b:
        return a
    x, y = a.seen, b.seen
    seen = x if x is y else tuple([i if i > j else j for i, j in zip(x, y)])  # noqa: B905  (the innermost loop of all)
    return Clock(seen, a.over | b.over, a.read | b.read)


def common(a: Clock, b: Clock) -> Clock:
    """What both know."""
    return Clock(tuple(map(min, a.seen, b.seen)), a.over & b.over, a.read & b.read)


def join(a: Knowledge, b: Knowledge) -> Knowledge:
    """What either knows, row by row."""
    return a if a is b else tuple([later(x, y) for x, y in zip(a, b, strict=True)])


def covers(a: Clock, b: Clock) -> bool:
    """`a` knows all that `b` knows."""
    return b.over & ~a.over == 0 and all(x >= y for x, y in zip(a.seen, b.seen, strict=True))


class Own(NamedTuple):
    """A lane's own events and asynchronous operations, in one row."""

    pos: int
    over: int
    read: int


@dataclass(slots=True, eq=False)
class Mind:
    """What each lane of a strand knows: what is known of all lanes of other strands and of the strand itself
    (`shared`), and of its own lane (`own`). `strand` is -1 for a whole warp, which has no own lane."""

    strand: int
    shared: Knowledge
    own: list[Own]

    @classmethod
    def blank(cls, strand: int, strands: int, rows: int) -> Mind:
        """Nothing known."""
        return cls(strand, (nothing(strands),) * rows, [Own(0, 0, 0)] * rows)

    def advance(self, pos: int) -> None:
        """So many events are executed."""
        for row in (PLAIN, TEMPORAL):
            _, over, read = self.own[row]
            self.own[row] = Own(pos, over, read)

    def finish(self, over: int, read: int) -> None:
        """Asynchronous operations of the own lane are over, or have read."""
        for row in (PLAIN, TEMPORAL):
            pos, o, r = self.own[row]
            self.own[row] = Own(pos, o | over, r | read | over)

    def published(self) -> Knowledge:
        """What all lanes together know."""
        if self.strand < 0:
            return self.shared
        return tuple([_with(clock, self.strand, own) for clock, own in zip(self.shared, self.own, strict=True)])

    def published_row(self, row: int) -> Clock:
        """The same, in one row."""
        return _with(self.shared[row], self.strand, self.own[row])

    def learn(self, knowledge: Knowledge) -> None:
        """Also that."""
        self.shared = join(self.shared, knowledge)

    def learn_row(self, row: int, clock: Clock) -> None:
        """Also that, on one kind of path."""
        rows = list(self.shared)
        rows[row] = later(rows[row], clock)
        self.shared = tuple(rows)

    def fence(self, row: int, *, others: bool) -> None:
        """What is known now has come through the fence of this row; `others`: not the own lane's events alone."""
        own, before = self.own[PLAIN], self.own[row]
        self.own[row] = Own(own.pos, own.over | before.over, own.read | before.read)
        if others:
            self.learn_row(row, self.shared[PLAIN])


def _with(clock: Clock, strand: int, own: Own) -> Clock:
    pos, over, read = own
    seen = clock.seen
    if pos > seen[strand]:
        return Clock((*seen[:strand], pos, *seen[strand + 1 :]), clock.over | over, clock.read | read)
    return Clock(seen, clock.over | over, clock.read | read) if over or read else clock
