"""The state of one cluster and what a step of some of its threads does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import numpy as np

from exogpu.diagnostics import InternalError
from exogpu.ir.arrays import Numbers
from exogpu.ir.collective import WARP
from exogpu.ir.instr import Group, Proxy, ProxyFence, WgmmaFence
from exogpu.ir.types import Smem
from exogpu.verify.simulator.barriers import Barriers, Chosen
from exogpu.verify.simulator.flight import Flight, pieces
from exogpu.verify.simulator.memory import Memory
from exogpu.verify.simulator.moves import Move
from exogpu.verify.simulator.outcome import Broken, Race, Violation
from exogpu.verify.simulator.trace import (
    AfterCopies,
    ArriveOn,
    AwaitOn,
    Fresh,
    InGroup,
    InOrder,
    Issue,
    Join,
    OnBarrier,
    Operation,
    Pass,
    Rendezvous,
    Trace,
    WaitGroup,
    entries,
)


@dataclass(slots=True, eq=False)
class Cluster:
    """Threads at their operations, barrier objects, operations in flight. `cta` threads make a CTA. `standing` has the
    threads that have come to an operation and not performed it; `hold` is how likely a store is held back. `grouped`
    are all operations that belong to commit groups, for the monitor."""

    trace: Trace
    memory: Memory
    cta: int
    barriers: Barriers
    random: Random
    hold: float
    standing: dict[int, Chosen] = field(default_factory=dict)
    at: list[int] = field(init=False)
    running: list[int] = field(init=False)
    flights: list[Flight] = field(default_factory=list)
    grouped: list[Flight] = field(default_factory=list)
    ended: bool = False

    def __post_init__(self) -> None:
        self.at = [0] * len(self.trace.of_thread)
        ctas = len(self.at) // self.cta
        self.running = [self.cta] * ctas
        for t, mine in enumerate(self.trace.of_thread):
            if mine:
                self.standing.setdefault(mine[0], []).append(t)
            else:
                self._ends(t)

    # -- threads -----------------------------------------------------------------------------------------------------

    def step(self, number: int, chosen: Chosen) -> bool:
        """Those of the chosen threads, who stand at an operation, that can perform it do; False if none can."""
        operation = self.trace.operations[number]
        able = self._able(operation, self.standing[number], chosen)
        if not able:
            return False
        self._perform(operation, able)
        self._leave(number, able)
        return True

    def next_of(self, thread: int) -> int | None:
        """The operation that a thread stands at; None at its end."""
        mine, at = self.trace.of_thread[thread], self.at[thread]
        return mine[at] if at < len(mine) else None

    def _able(self, operation: Operation, standing: Chosen, chosen: Chosen) -> Chosen:
        if operation.together:
            chosen = _whole_warps(standing, chosen)
        match operation.action:
            case Rendezvous(size, firsts):
                return self._complete(operation, size, firsts, standing, chosen)
            case AwaitOn() as wait:
                return self.barriers.able(operation, wait, chosen)
            case Pass() as wait:
                return self.barriers.complete(operation, wait, chosen)
            case WaitGroup(group, below, reads_only):
                limits = entries(operation, below, chosen)
                first = self._unfinished(group, reads_only)
                return [t for t, b in zip(chosen, limits, strict=True) if first.get(t, b) >= b]
            case _:
                return chosen

    def _unfinished(self, group: object, reads_only: bool) -> dict[int, int]:
        """For each thread that has unfinished operations in commit groups, the earliest of these groups."""
        first: dict[int, int] = {}
        for f in self.flights:
            completion = f.issue.completion
            if isinstance(completion, InGroup) and completion.group is group and not (reads_only and f.has_read):
                for t in range(f.thread, f.thread + f.issue.unit):
                    first[t] = min(first.get(t, f.number), f.number)
        return first

    @staticmethod
    def _complete(operation: Operation, size: int, firsts: Numbers, standing: Chosen, chosen: Chosen) -> Chosen:
        """The threads of every collective that stands there as a whole and has a chosen thread."""
        team = dict(zip(operation.threads.tolist(), firsts.tolist(), strict=True))
        wanted = {team[t] for t in chosen}
        groups: dict[int, Chosen] = {}
        for t in standing:
            if team[t] in wanted:
                groups.setdefault(team[t], []).append(t)
        return [t for members in groups.values() if len(members) == size for t in members]

    def _leave(self, number: int, threads: Chosen) -> None:
        gone = set(threads)
        rest = [t for t in self.standing[number] if t not in gone]
        if rest:
            self.standing[number] = rest
        else:
            del self.standing[number]
        for t in threads:
            self.at[t] += 1
            mine = self.trace.of_thread[t]
            if self.at[t] < len(mine):
                self.standing.setdefault(mine[self.at[t]], []).append(t)
            else:
                self._ends(t)

    def _ends(self, thread: int) -> None:
        self.memory.release(np.array([thread]))
        self.running[thread // self.cta] -= 1
        if self.running[thread // self.cta] == 0:
            self._exits(thread // self.cta)

    def _perform(self, operation: Operation, threads: Chosen) -> None:
        who = np.array(sorted(threads))
        match operation.action:
            case InOrder(moves):
                for m in moves:
                    which = _lanes(m, who, len(operation.threads) == len(who), len(self.at))
                    what = f"{operation.what} (line {operation.span.line})"
                    self.memory.execute(m, which, what, hold=self.random.random() < self.hold)
            case Issue() as issue:
                self._issue(operation, issue, who)
            case WgmmaFence():
                self.memory.register_fence(sorted({int(t) // WARP for t in who}))
            case Fresh(place):
                self.memory.forget(place, who)
            case _:
                self._synchronise(operation, who)

    def _synchronise(self, operation: Operation, who: Numbers) -> None:
        match operation.action:
            case Rendezvous(_, firsts):
                self.memory.release(who)
                self._meet(operation, firsts, who.tolist())
            case ArriveOn() as arrive:
                self._arrive(operation, arrive, who)
            case Join() as join:
                if not join.relaxed:
                    self.memory.release(who)
                self.barriers.join(operation, join, who.tolist())
            case Pass() as wait:
                self.barriers.passed(operation, wait, who.tolist())
            case AwaitOn() as wait:
                self.barriers.woken(operation, wait, who.tolist())
            case ProxyFence(everywhere):
                self.memory.release(who)
                self.memory.proxy_fence(everywhere=everywhere)
                if self.memory.monitor is not None:
                    self.memory.monitor.fence(self._rows(who.tolist()), everywhere=everywhere)
            case WaitGroup(group, below, reads_only):
                self._waited(operation, group, who.tolist(), below, reads_only=reads_only)

    def _rows(self, threads: Chosen) -> Chosen:
        """The threads' numbers over all clusters."""
        return [t + self.memory.base for t in threads]

    def _meet(self, operation: Operation, firsts: Numbers, threads: Chosen) -> None:
        """The threads of each collective know what all of it knows."""
        monitor = self.memory.monitor
        if monitor is None:
            return
        teams: dict[int, Chosen] = {}
        for t, first in zip(threads, entries(operation, firsts, threads), strict=True):
            teams.setdefault(first, []).append(t + self.memory.base)
        for team in teams.values():
            monitor.learn(team, monitor.publish(team))

    def _waited(
        self, operation: Operation, group: object, threads: Chosen, below: Numbers, *, reads_only: bool
    ) -> None:
        """Threads know that their operations of the groups that they have waited for are over, or have read."""
        monitor = self.memory.monitor
        if monitor is None:
            return
        for t, limit in zip(threads, entries(operation, below, threads), strict=True):
            for f in self.grouped:
                ends = f.issue.completion
                if isinstance(ends, InGroup) and ends.group is group and f.number < limit and t in f.threads:
                    told = monitor.read if reads_only else monitor.over
                    told[t + self.memory.base] |= 1 << f.account

    def _arrive(self, operation: Operation, arrive: ArriveOn, who: Numbers) -> None:
        threads = who.tolist()
        phases, ctas = (entries(operation, values, threads) for values in (arrive.phases, arrive.ctas))
        for t, phase, cta in zip(threads, phases, ctas, strict=True):
            self._alive(cta, operation)
            if not arrive.relaxed:
                self.memory.release(np.array([t]))
            self.barriers.arrive(arrive, t, phase, cta)

    # -- asynchronous operations -------------------------------------------------------------------------------------

    def _issue(self, operation: Operation, issue: Issue, who: Numbers) -> None:
        match issue.completion:
            case OnBarrier(phases=numbers) | InGroup(ordinals=numbers) | AfterCopies(phases=numbers):
                by_thread = numbers
            case _:
                raise InternalError("an asynchronous operation without a completion")
        for t in who[:: issue.unit].tolist():
            number = entries(operation, by_thread, [t])[0]
            flight = Flight(operation, issue, t, number, pieces(issue, t, self.random))
            self._alive(self._lands(flight), operation)
            for piece in flight.pieces:
                if piece.move.proxy(piece.move.place) is not Proxy.GENERIC:
                    self.memory.contents[piece.move.place.name].meet(piece.move.positions[piece.which], operation.what)
            self.memory.release(np.array([t]))
            self._start(flight)
            flight.behind = tuple(f for f in self.flights if flight.follows(f))
            if isinstance(issue.completion, AfterCopies):
                self._after_copies(flight, issue.completion)
            self.flights.append(flight)

    def _after_copies(self, flight: Flight, completion: AfterCopies) -> None:
        """The operation ends when the thread's copies have landed, and tells of them."""
        flight.behind = tuple(f for f in self.flights if _copies(f, flight.thread, completion.group))
        flight.tells = sum(1 << f.account for f in self.grouped if _copies(f, flight.thread, completion.group))
        if completion.holds:
            object_, turn = self.barriers.object_of(completion.barrier, self._lands(flight), flight.number)
            object_.hold(turn, f"thread {flight.thread}")

    def _start(self, flight: Flight) -> None:
        """The monitor looks at everything that an operation will access."""
        monitor = self.memory.monitor
        if monitor is None:
            return
        flight.account = monitor.number()
        known = monitor.of(self._rows(list(flight.threads)))
        if isinstance(flight.issue.completion, InGroup):
            self.grouped.append(flight)
        for piece in flight.pieces:
            issuer = flight.thread + self.memory.base
            self.memory.start(piece.move, piece.which, flight.account, known, issuer, flight.operation.what)

    def fly(self, flight: Flight) -> bool:
        """One effect of an operation is performed; False if it must wait for operations before it."""
        if not flight.advance(self.memory, self.random):
            return False
        if flight.done:
            self.flights.remove(flight)
            self._complete_on_barrier(flight)
        return True

    def _complete_on_barrier(self, flight: Flight) -> None:
        """What the end of an operation does to its barrier, if it has one."""
        ends, what = flight.issue.completion, flight.operation.what
        if isinstance(ends, InGroup):
            return
        object_, turn = self.barriers.object_of(ends.barrier, self._lands(flight), flight.number)
        if self.memory.monitor is not None:
            object_.tell(self.memory.monitor.effects(flight.tells or 1 << flight.account))
        if isinstance(ends, OnBarrier):
            object_.complete(turn, ends.bytes, what)
        else:
            object_.arrive(turn, 0, f"thread {flight.thread}")

    def _lands(self, flight: Flight) -> int:
        """The CTA in which an operation completes."""
        if isinstance(flight.issue.completion, OnBarrier | AfterCopies):
            return entries(flight.operation, flight.issue.completion.ctas, [flight.thread])[0]
        return flight.thread // self.cta

    # -- ends --------------------------------------------------------------------------------------------------------

    def _alive(self, cta: int, operation: Operation) -> None:
        """What an operation needs in a CTA must be there; raises Violation."""
        if not 0 <= cta < len(self.running):
            raise Violation(Broken(f"{operation.what} (line {operation.span.line}) means CTA {cta} of the cluster"))
        if self.running[cta] == 0:
            raise Violation(Race(f"{operation.what} (line {operation.span.line}) means a CTA that has ended"))

    def _exits(self, cta: int) -> None:
        """Every thread of a CTA has ended: what is in flight there must not need its memory; raises Violation."""
        for f in self.flights:
            if self._lands(f) != cta and f.thread // self.cta != cta:
                continue
            for p in f.pieces:
                touches = {"reads": p.values is None, "writes": not p.written and isinstance(p.move.place.memory, Smem)}
                for what, pending in touches.items():
                    if pending:
                        raise Violation(Race(f"{f.operation.what} still {what} when its CTA ends"))
        if len(self.running) > 1:
            threads = range(cta * self.cta, (cta + 1) * self.cta)
            self.memory.vanish(cta, len(self.running), threads)
            self.barriers.vanish(cta, threads)

    def end(self) -> None:
        """Every thread has ended; raises Violation if bytes are still expected."""
        self.ended = True
        for problem in self.barriers.unfinished():
            raise Violation(Broken(problem))

    def waits(self) -> Iterator[str]:
        """Who waits, at what."""
        for number, threads in sorted(self.standing.items()):
            operation = self.trace.operations[number]
            yield f"{len(threads)} threads from {min(threads)} at {operation.what} (line {operation.span.line})"


def _copies(flight: Flight, thread: int, group: Group) -> bool:
    ends = flight.issue.completion
    return isinstance(ends, InGroup) and ends.group is group and flight.thread == thread


def _lanes(move: Move, threads: Numbers, all_of_them: bool, count: int) -> Numbers | slice:
    """Which lanes of a movement these threads perform."""
    if all_of_them:
        return slice(None)
    chosen = np.zeros(count, np.bool_)
    chosen[threads] = True
    return np.flatnonzero(chosen[move.threads])


def _whole_warps(standing: Chosen, chosen: Chosen) -> Chosen:
    """Every thread of the warps that stand there as a whole and have a chosen thread."""
    warps: dict[int, Chosen] = {}
    for t in standing:
        warps.setdefault(t // WARP, []).append(t)
    wanted = {t // WARP for t in chosen}
    return [t for w in wanted for t in warps[w] if len(warps[w]) == WARP]
