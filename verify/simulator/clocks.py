"""Who knows of whose accesses: vector clocks that find unordered accesses in any schedule.

A thread knows another's accesses up to a clock; knowledge travels by Arrive and Await, by Fence, and by nothing else.
An asynchronous operation relies on the part of it alone that came through a proxy fence (of shared memory, of all
memory). An operation's own effects are known to whom its completion mechanism tells: the threads that
wait for its phase or its group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.types import Gmem
from exogpu.verify.simulator.expr import Numbers, Truths
from exogpu.verify.simulator.layout import Place
from exogpu.verify.simulator.outcome import Race, Violation

PLAIN, SHARED, EVERYWHERE = range(3)
"""Rows of knowledge: of any path, of paths with a proxy fence for shared memory, with one for all memory."""

Clocks = NDArray[np.int32]


@dataclass(slots=True, eq=False)
class Knowledge:
    """What a thread, a phase, or an operation at its issue knows: clocks `[3, threads]`; operations of which all
    effects, or all reads, are over, as bit sets."""

    clocks: Clocks
    over: int = 0
    read: int = 0

    def join(self, other: Knowledge) -> None:
        """Also what the other knows."""
        np.maximum(self.clocks, other.clocks, out=self.clocks)
        self.over |= other.over
        self.read |= other.read


@dataclass(slots=True, eq=False)
class Shadow:
    """The accesses of one buffer: the last ordinary write of each element (thread and clock), the last ordinary read
    and the last atomic sum by each thread, and the elements that each asynchronous operation reads and writes;
    `summing` are the operations that add."""

    place: Place
    writer: NDArray[np.int32]
    written: Clocks
    reads: Clocks
    sums: Clocks | None = None
    flights: list[tuple[int, bool, Truths]] = field(default_factory=list)
    summing: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, place: Place, threads: int) -> Shadow:
        """No accesses yet."""
        total = place.total
        return cls(
            place,
            np.full(total, -1, np.int32),
            np.zeros(total, np.int32),
            np.zeros((total, threads), np.int32),
        )


@dataclass(slots=True, eq=False)
class Monitor:
    """The knowledge of all threads of a run, by their number over all clusters."""

    threads: int
    clocks: Clocks = field(init=False)
    over: list[int] = field(init=False)
    read: list[int] = field(init=False)
    issued: int = 0

    def __post_init__(self) -> None:
        self.clocks = np.zeros((3, self.threads, self.threads), np.int32)
        everyone = np.arange(self.threads)
        self.clocks[PLAIN, everyone, everyone] = 1
        self.over = [0] * self.threads
        self.read = [0] * self.threads

    # -- how knowledge travels ---------------------------------------------------------------------------------------

    def effects(self, number: int) -> Knowledge:
        """What the completion of an operation tells: its own effects, nothing of its issuer."""
        return Knowledge(np.zeros((3, self.threads), np.int32), over=1 << number)

    def of(self, threads: Iterable[int]) -> Knowledge:
        """What these threads know together."""
        rows = list(threads)
        found = Knowledge(self.clocks[:, rows].max(axis=1))
        for t in rows:
            found.over |= self.over[t]
            found.read |= self.read[t]
        return found

    def publish(self, threads: list[int], *, relaxed: bool = False) -> Knowledge:
        """What these threads know, without what they do from now on; `relaxed`, of asynchronous operations alone."""
        found = self.of(threads)
        if relaxed:
            found.clocks[:] = 0
        self.clocks[PLAIN, threads, threads] += 1
        return found

    def learn(self, threads: list[int], knowledge: Knowledge) -> None:
        """These threads know it from now on."""
        self.clocks[:, threads] = np.maximum(self.clocks[:, threads], knowledge.clocks[:, np.newaxis])
        for t in threads:
            self.over[t] |= knowledge.over
            self.read[t] |= knowledge.read

    def fence(self, threads: list[int], *, everywhere: bool) -> None:
        """A proxy fence of each of these threads."""
        for row in (SHARED, EVERYWHERE) if everywhere else (SHARED,):
            self.clocks[row, threads] = np.maximum(self.clocks[row, threads], self.clocks[PLAIN, threads])
        self.clocks[PLAIN, threads, threads] += 1

    # -- ordinary accesses -------------------------------------------------------------------------------------------

    def load(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        """Threads read an element each; raises Violation if a write is not known to them."""
        self._knows_writer(shadow, positions, threads, what)
        self._knows_sums(shadow, positions, self.clocks[PLAIN, threads], what)
        for number, writes, touched in shadow.flights:
            if writes and (hit := touched[positions]).any():
                self._knows_flight(shadow, number, threads[hit], what, writes=True)
        shadow.reads[positions, threads] = self.clocks[PLAIN, threads, threads]

    def store(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        """Threads write an element each; raises Violation if an access is not known to them."""
        self._knows_others(shadow, positions, threads, what)
        self._knows_sums(shadow, positions, self.clocks[PLAIN, threads], what)
        shadow.writer[positions] = threads
        if (shadow.writer[positions] != threads).any():
            raise _race(shadow, what, "the same statement in another thread")
        shadow.written[positions] = self.clocks[PLAIN, threads, threads]
        shadow.reads[positions] = 0
        if shadow.sums is not None:
            shadow.sums[positions] = 0

    def add(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        """Threads add to an element each, atomically; raises Violation if an access other than such a sum is not known
        to them."""
        self._knows_others(shadow, positions, threads, what)
        if shadow.sums is None:
            shadow.sums = np.zeros_like(shadow.reads)
        shadow.sums[positions, threads] = self.clocks[PLAIN, threads, threads]

    def _knows_others(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        self._knows_writer(shadow, positions, threads, what)
        if (shadow.reads[positions] > self.clocks[PLAIN, threads]).any():
            raise _race(shadow, what, "an earlier read")
        for number, writes, touched in shadow.flights:
            if (hit := touched[positions]).any():
                self._knows_flight(shadow, number, threads[hit], what, writes=writes)

    def _knows_sums(self, shadow: Shadow, positions: Numbers, known: Clocks, what: str) -> None:
        if shadow.sums is not None and (shadow.sums[positions] > known).any():
            raise _race(shadow, what, "an earlier atomic sum")

    def _knows_writer(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        writer = shadow.writer[positions]
        unknown = (writer >= 0) & (self.clocks[PLAIN, threads, writer] < shadow.written[positions])
        if unknown.any():
            raise _race(shadow, what, f"an earlier write of thread {writer[unknown][0]}")

    def _knows_flight(self, shadow: Shadow, number: int, threads: Numbers, what: str, *, writes: bool) -> None:
        for t in set(threads.tolist()):
            if not (self.over[t] if writes else self.over[t] | self.read[t]) >> number & 1:
                raise _race(shadow, what, "an asynchronous operation that may not be over")

    # -- asynchronous operations -------------------------------------------------------------------------------------

    def number(self) -> int:
        """A number for an operation."""
        self.issued += 1
        return self.issued - 1

    def touch(
        self,
        shadow: Shadow,
        number: int,
        positions: Numbers,
        start: Knowledge,
        what: str,
        *,
        writes: bool,
        commutes: bool = False,
    ) -> None:
        """Operation `number`, of which `start` is known at its issue, accesses elements; raises Violation if it may
        meet another access. With `commutes` it adds to them, in any order with others that do."""
        row = start.clocks[EVERYWHERE if isinstance(shadow.place.memory, Gmem) else SHARED]
        writer = shadow.writer[positions]
        if ((writer >= 0) & (row[writer] < shadow.written[positions])).any():
            raise _race(shadow, what, "an earlier ordinary write")
        if writes and (shadow.reads[positions] > row).any():
            raise _race(shadow, what, "an earlier ordinary read")
        self._knows_sums(shadow, positions, row, what)
        for other, wrote, touched in shadow.flights:
            if commutes and other in shadow.summing:
                continue
            known = (start.over if wrote else start.over | start.read) >> other & 1
            if (writes or wrote) and other != number and not known and touched[positions].any():
                raise _race(shadow, what, "another asynchronous operation")
        mask = np.zeros(shadow.place.total, np.bool_)
        mask[positions] = True
        shadow.flights.append((number, writes, mask))
        if commutes:
            shadow.summing.add(number)


def _race(shadow: Shadow, what: str, other: str) -> Violation:
    return Violation(Race(f"{what} and {other} of `{shadow.place.name}` are not ordered"))
