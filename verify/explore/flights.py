"""Asynchronous operations between issue and completion, and the groups that threads wait for."""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.verify.explore.events import Event
from exogpu.verify.explore.knowledge import Clock
from exogpu.verify.explore.mbarriers import Key


@dataclass(slots=True, eq=False)
class Flight:
    """An operation, by all lanes of strand `strand` (-1: by a warp together), executed by strand `actor` as its event
    `index`. `barrier`: where its completion counts, `bytes` or (for a copy's arrival) `arrivals`; None if only a group
    wait tells of it. `cta`: where it writes. `knew`: what had happened when it was issued."""

    number: int
    actor: int
    index: int
    event: Event
    cta: int
    knew: Clock
    barrier: Key | None = None
    bytes: int = 0
    arrivals: int = 0
    after: int = 0
    """Operations, as a bit set, after which it arrives."""
    landed: bool = False
    read: bool = False

    @property
    def bit(self) -> int:
        """As a set of operations."""
        return 1 << self.number


@dataclass(slots=True, eq=False)
class Groups:
    """Groups of one kind of a thread or warp: operations as bit sets, of those committed and of the open one."""

    committed: list[int] = field(default_factory=list)
    open: int = 0

    def commit(self) -> None:
        """Closes the open group."""
        self.committed.append(self.open)
        self.open = 0

    def waited(self, pending: int) -> int:
        """What is over when at most so many groups are pending; a negative number: everything."""
        done = 0
        for group in self.committed if pending <= 0 else self.committed[:-pending]:
            done |= group
        return done | self.open if pending < 0 else done
