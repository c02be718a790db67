"""Who knows of whose accesses: vector clocks that find unordered accesses in any schedule.

A thread knows another's accesses up to a clock; knowledge travels by Arrive and Await, by Fence, and by nothing else.
An asynchronous operation relies on the part of it alone that came through a proxy fence (of shared memory, of all
memory). An operation's own effects are known to whom its completion mechanism tells: the threads that
wait for its phase or its group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.arrays import Numbers, Truths
from exogpu.ir.instr import Proxy
from exogpu.ir.types import Gmem
from exogpu.verify.simulator.layout import Place
from exogpu.verify.simulator.outcome import Race, Violation

PLAIN = 0
"""The row of knowledge that came on any path. Of each CTA of a cluster two more follow: what came through a proxy fence
in that CTA, and through one for all memory."""

Clocks = NDArray[np.int32]


@dataclass(slots=True, eq=False)
class Knowledge:
    """What a thread, a phase, or an operation at its issue knows: clocks `[rows, threads]`; operations of which all
    effects, or all reads, are over, as bit sets, and those of them with a proxy fence behind (`sealed`)."""

    clocks: Clocks
    over: int = 0
    read: int = 0
    sealed: int = 0

    def join(self, other: Knowledge) -> None:
        """Also what the other knows."""
        np.maximum(self.clocks, other.clocks, out=self.clocks)
        self.over |= other.over
        self.read |= other.read
        self.sealed |= other.sealed


@dataclass(frozen=True, slots=True)
class Touch:
    """How the operation of a number accesses a buffer; reductions of one proxy commute."""

    number: int
    writes: bool
    proxy: Proxy
    commutes: bool = False

    def conflicts(self, other: Touch) -> bool:
        """The two may not meet."""
        together = self.commutes and other.commutes and self.proxy is other.proxy
        return (self.writes or other.writes) and not together and self.number != other.number


@dataclass(slots=True, eq=False)
class Shadow:
    """The accesses of one buffer: the last ordinary write of each element (thread and clock), the last ordinary read
    and the last atomic sum by each thread, and the elements that each asynchronous operation touches."""

    place: Place
    writer: NDArray[np.int32]
    written: Clocks
    reads: Clocks
    sums: Clocks | None = None
    flights: list[tuple[Touch, Truths]] = field(default_factory=list)

    @classmethod
    def of(cls, place: Place, threads: int) -> Shadow:
        """No accesses yet, of a buffer or of the storage that it shares."""
        total = place.total if place.cells is None else place.cells.size
        return cls(
            place,
            np.full(total, -1, np.int32),
            np.zeros(total, np.int32),
            np.zeros((total, threads), np.int32),
        )


@dataclass(slots=True, eq=False)
class Monitor:
    """The knowledge of all threads of a run, by their number over all clusters: of `ctas` CTAs of `cta` threads."""

    threads: int
    cta: int
    ctas: int
    clocks: Clocks = field(init=False)
    over: list[int] = field(init=False)
    read: list[int] = field(init=False)
    sealed: list[int] = field(init=False)
    issued: int = 0

    def __post_init__(self) -> None:
        self.clocks = np.zeros((1 + 2 * self.ctas, self.threads, self.threads), np.int32)
        everyone = np.arange(self.threads)
        self.clocks[PLAIN, everyone, everyone] = 1
        self.over = [0] * self.threads
        self.read = [0] * self.threads
        self.sealed = [0] * self.threads

    # -- how knowledge travels ---------------------------------------------------------------------------------------

    def effects(self, numbers: int) -> Knowledge:
        """What the completion of operations tells: their own effects, nothing of their issuer."""
        return Knowledge(np.zeros((1 + 2 * self.ctas, self.threads), np.int32), over=numbers)

    def of(self, threads: Iterable[int]) -> Knowledge:
        """What these threads know together."""
        rows = list(threads)
        found = Knowledge(self.clocks[:, rows].max(axis=1))
        for t in rows:
            found.over |= self.over[t]
            found.read |= self.read[t]
            found.sealed |= self.sealed[t]
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
            self.sealed[t] |= knowledge.sealed

    def clock(self, thread: int) -> int:
        """When a thread does what it does now."""
        return int(self.clocks[PLAIN, thread, thread])

    def heard(self, threads: list[int]) -> Clocks:
        """Up to which clock of every thread some of these know what it did."""
        known: Clocks = self.clocks[PLAIN, threads].max(axis=0)
        return known

    def fence(self, threads: list[int], *, everywhere: bool) -> None:
        """A proxy fence of each of these threads."""
        for t in threads:
            rows = self._fenced(t)
            for row in rows if everywhere else rows[:1]:
                self.clocks[row, t] = np.maximum(self.clocks[row, t], self.clocks[PLAIN, t])
        self.clocks[PLAIN, threads, threads] += 1
        for t in threads:
            self.sealed[t] |= self.over[t] | self.read[t]

    def _fenced(self, thread: int) -> tuple[int, int]:
        """The rows of proxy fences in a thread's CTA: for its shared memory, for all memory."""
        first = 1 + 2 * (thread // self.cta % self.ctas)
        return first, first + 1

    # -- ordinary accesses -------------------------------------------------------------------------------------------

    def load(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        """Threads read an element each; raises Violation if a write is not known to them."""
        self._knows_writer(shadow, positions, threads, what)
        self._knows_sums(shadow, positions, threads, what)
        self._knows_flights(shadow, Touch(-1, False, Proxy.GENERIC), positions, threads, what)
        shadow.reads[positions, threads] = self.clocks[PLAIN, threads, threads]

    def store(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str, *, commutes: bool) -> None:
        """Threads write an element each, or add to it atomically; raises Violation if an access is not known to
        them."""
        self._knows_writer(shadow, positions, threads, what)
        if (shadow.reads[positions] > self.clocks[PLAIN, threads]).any():
            raise _race(shadow, what, "an earlier read")
        self._knows_flights(shadow, Touch(-1, True, Proxy.GENERIC, commutes), positions, threads, what)
        if commutes:
            if shadow.sums is None:
                shadow.sums = np.zeros_like(shadow.reads)
            shadow.sums[positions, threads] = self.clocks[PLAIN, threads, threads]
            return
        self._knows_sums(shadow, positions, threads, what)
        shadow.writer[positions] = threads
        if (shadow.writer[positions] != threads).any():
            raise _race(shadow, what, "the same statement in another thread")
        shadow.written[positions] = self.clocks[PLAIN, threads, threads]
        shadow.reads[positions] = 0

    def _knows_sums(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        if shadow.sums is not None and (shadow.sums[positions] > self.clocks[PLAIN, threads]).any():
            raise _race(shadow, what, "an earlier atomic sum")

    def _knows_writer(self, shadow: Shadow, positions: Numbers, threads: Numbers, what: str) -> None:
        writer = shadow.writer[positions]
        unknown = (writer >= 0) & (self.clocks[PLAIN, threads, writer] < shadow.written[positions])
        if unknown.any():
            raise _race(shadow, what, f"an earlier write of thread {writer[unknown][0]}")

    def _knows_flights(self, shadow: Shadow, mine: Touch, positions: Numbers, threads: Numbers, what: str) -> None:
        for touch, touched in shadow.flights:
            if mine.conflicts(touch) and (hit := touched[positions]).any():
                for t in set(threads[hit].tolist()):
                    if not (self.over[t] if touch.writes else self.over[t] | self.read[t]) >> touch.number & 1:
                        raise _race(shadow, what, "an asynchronous operation that may not be over")

    def end(self, shadow: Shadow, positions: Numbers, threads: list[int]) -> None:
        """Shared memory goes when the last of its CTA's threads has ended; raises Violation if an access of another CTA
        is not known to any of them."""
        known = self.heard(threads)
        known[threads] = np.iinfo(np.int32).max
        writer = shadow.writer[positions]
        if ((writer >= 0) & (known[writer] < shadow.written[positions])).any():
            raise _race(shadow, "the end of a CTA", "a write by another one")
        if (shadow.reads[positions] > known).any():
            raise _race(shadow, "the end of a CTA", "a read by another one")

    # -- asynchronous operations -------------------------------------------------------------------------------------

    def number(self) -> int:
        """A number for an operation."""
        self.issued += 1
        return self.issued - 1

    def touch(self, shadow: Shadow, mine: Touch, positions: Numbers, start: Knowledge, issuer: int, what: str) -> None:
        """An operation of a thread, of which `start` is known at its issue, accesses elements; raises Violation if it
        may meet another access."""
        for row, at in self._relied_on(shadow, mine, positions, issuer):
            known = start.clocks[row]
            writer = shadow.writer[at]
            if ((writer >= 0) & (known[writer] < shadow.written[at])).any():
                raise _race(shadow, what, "an earlier ordinary write")
            if shadow.sums is not None and (shadow.sums[at] > known).any():
                raise _race(shadow, what, "an earlier atomic sum")
            if mine.writes and (shadow.reads[at] > known).any():
                raise _race(shadow, what, "an earlier ordinary read")
        for touch, touched in shadow.flights:
            over = start.over if touch.writes else start.over | start.read
            if touch.proxy is Proxy.GENERIC and mine.proxy is not Proxy.GENERIC:
                over = start.sealed
            if mine.conflicts(touch) and not over >> touch.number & 1 and touched[positions].any():
                raise _race(shadow, what, "another asynchronous operation")
        mask = np.zeros(len(shadow.writer), np.bool_)
        mask[positions] = True
        shadow.flights.append((mine, mask))

    def _relied_on(self, shadow: Shadow, mine: Touch, positions: Numbers, issuer: int) -> Iterator[tuple[int, Numbers]]:
        """The rows that an operation relies on, and for which elements: a fence stands in the CTA of its issuer, and
        one for shared memory covers that CTA's own."""
        narrow, wide = self._fenced(issuer)
        if mine.proxy is Proxy.GENERIC:
            yield PLAIN, positions
        elif isinstance(shadow.place.memory, Gmem):
            yield wide, positions
        else:
            slot = shadow.place.elements if shadow.place.cells is None else len(shadow.writer)
            own = positions % slot // (slot // self.ctas) == issuer // self.cta % self.ctas
            yield narrow, positions[own]
            yield wide, positions[~own]


def _race(shadow: Shadow, what: str, other: str) -> Violation:
    return Violation(Race(f"{what} and {other} of `{shadow.place.name}` are not ordered"))
