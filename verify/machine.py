"""The machine: runs an unrolled program thread by thread with physical mbarriers, groups and barriers.

It replays counterexamples: a deadlock is a state in which nothing can move, an early wake-up is an await that returns
while contributions to its logical phase are missing, a race is a run in which the later access happens before the
earlier one. Slots, parities, pending arrivals and transaction counts are the hardware's; logical phases are only
compared with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import product

from exogpu.verify.bundles import Bundles
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.endings import CutOff, Delay, Early, Ending, Finished, Moment, Reached, Stuck
from exogpu.verify.flights import Flight, Flights
from exogpu.verify.mbarrier import Mbarrier
from exogpu.verify.program import (
    ArriveAction,
    AwaitAction,
    Barrier,
    Exec,
    ExitAction,
    FenceAction,
    TxOn,
    WaitAction,
)

STEPS = 200_000
"""Most steps of one run; a correct program of a size that is worth replaying takes far fewer."""


@dataclass
class Machine:
    """One run. `log` holds the steps that changed barrier state, issued or completed asynchronous operations.

    A thread that cannot move sleeps until what it waits for has changed. `eager` threads go first whenever they can
    move, else the threads go in order. `limit`: most steps (None: any number).
    """

    unrolling: Unrolling
    delay: Delay | None = None
    eager: frozenset[int] = frozenset()
    limit: int | None = field(default_factory=lambda: STEPS)
    log: list[Moment] = field(default_factory=list)
    position: dict[int, int] = field(default_factory=dict)
    barriers: dict[tuple[str, int, int], Mbarrier] = field(default_factory=dict)
    joined: dict[int, set[int]] = field(default_factory=dict)
    arrived: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    landed: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    bound: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    units: Counter[tuple[str, int]] = field(default_factory=Counter)
    broken: Early | None = None

    def __post_init__(self) -> None:
        program = self.unrolling.program
        self.named = self._named_by_delay()
        self.bundles = Bundles(self.unrolling, self.named)
        self.flights = Flights(self.unrolling, self.bundles.sizes)
        self._steps = 0
        self._x_done = False
        self._awake = set(self.bundles.sizes)
        self._sleepers: dict[Hashable, list[int]] = {}
        for b in program.barriers.values():
            for cta, slot in product(range(program.cluster), range(b.ring)):
                self.barriers[b.name, cta, slot] = Mbarrier(b.count)
        arriving: set[tuple[str, int, int]] = set()
        for n, item in enumerate(self.unrolling.items):
            match item.event.action, item.event.completion:
                case ArriveAction(barrier), _:
                    cta, turns = self.unrolling.barrier_cta(n), item.event.selection
                    who = (thread if turns is None else turns.peers(thread)[0] for thread in item.threads)
                    arriving.update((barrier, cta, thread) for thread in who)
                case _, TxOn(barrier, size):
                    number = self.unrolling.number(n, item.first)
                    self.bound[barrier, self.unrolling.barrier_cta(n), number] += size
                case _:
                    pass
        self.units = Counter((barrier, cta) for barrier, cta, _ in arriving)

    def _named_by_delay(self) -> frozenset[int]:
        """The threads that the delay is about."""
        if self.delay is None:
            return frozenset()
        y = self.delay.y
        also = y.threads if y is not None and y.event.exec is not Exec.TOGETHER else ()
        return frozenset((*self.delay.x.threads, *also))

    # -- running -------------------------------------------------------------------------------------------------

    def run(self) -> Ending:
        """Runs until nothing moves, everything ended, or something went wrong."""
        threads = sorted(self.bundles.sizes, key=lambda t: t not in self.eager)
        while True:
            moved = False
            for t in threads:
                if t not in self._awake:
                    continue
                while not self._yields(t) and self._step(t, forced=False):
                    moved = True
                    if self.broken is not None:
                        return self.broken
                if self._reached(t):
                    return Reached()
            completed = not moved and self._complete_one()
            if self.broken is not None:
                return self.broken
            if self.limit is not None and self._steps > self.limit:
                return CutOff()
            if not moved and not completed and not self._force():
                return self._ending()

    def _yields(self, thread: int) -> bool:
        """An eager thread may be able to move, and this one is not."""
        return thread not in self.eager and not self._awake.isdisjoint(self.eager)

    def _force(self) -> bool:
        """Lets a thread that the delay holds go on: nothing else can."""
        for t in self.bundles.sizes:
            if self._step(t, forced=True):
                self._awake.add(t)
                return True
        return False

    def _sleep(self, thread: int, until: Hashable) -> None:
        self._awake.discard(thread)
        self._sleepers.setdefault(until, []).append(thread)

    def _wake(self, cause: Hashable) -> None:
        self._awake.update(self._sleepers.pop(cause, ()))

    def _ending(self) -> Ending:
        blocked = tuple(self._blocked())
        return Stuck(blocked) if blocked else Finished()

    def _reached(self, thread: int) -> bool:
        """The thread has come to y while x is outstanding."""
        if self.delay is None or self.delay.y is None:
            return False
        y = self.delay.y
        return thread in y.threads and self._next_key(thread) > y.key and self._outstanding()

    def _outstanding(self) -> bool:
        """x has not been performed (in order) or not completed (asynchronous)."""
        assert self.delay is not None
        x = self.delay.x
        if x.event.completion is None:
            return all(self._next_key(t) <= x.key or self._stands_before(t, x) for t in x.threads)
        return not self._x_done

    def _stands_before(self, thread: int, x: Occurrence) -> bool:
        """The thread has done nothing after x yet, so x itself can still be pending."""
        at = self.position.get(thread, 0)
        trace = self.unrolling.trace(thread)
        return at == 0 or self.unrolling.items[trace[at - 1]].key < x.key

    def _next_key(self, thread: int) -> tuple[int, ...]:
        trace = self.unrolling.trace(thread)
        at = self.position.get(thread, 0)
        return self.unrolling.items[trace[at]].key if at < len(trace) else (1 << 60,)

    def _is_x(self, flight: Flight) -> bool:
        if self.delay is None:
            return False
        item, x = self.unrolling.items[flight.index], self.delay.x
        own = item.threads if item.event.exec is Exec.WARPS else (flight.thread,)
        return item.key == x.key and item.event.id == x.event.id and x.first in own

    # -- one thread ----------------------------------------------------------------------------------------------

    def _step(self, thread: int, *, forced: bool) -> bool:
        trace = self.unrolling.trace(thread)
        at = self.position.get(thread, 0)
        if at >= len(trace):
            self._awake.discard(thread)
            return False
        if not forced and self._held(thread, trace[at]):
            return False
        if self._why_blocked(trace[at], thread) is not None:
            self._sleep(thread, self._awaited(trace[at], thread))
            return False
        self.position[thread] = at + 1
        self._steps += 1
        self._perform(trace[at], thread)
        return True

    def _held(self, thread: int, index: int) -> bool:
        """Delayed: the thread stands before x, or at y with nothing more to do."""
        if self.delay is None:
            return False
        item, x, y = self.unrolling.items[index], self.delay.x, self.delay.y
        before_x = x.event.completion is None and thread in x.threads and item.key >= x.key
        at_y = y is not None and thread in y.threads and item.key > y.key
        return before_x or at_y

    def _why_blocked(self, index: int, thread: int) -> str | None:
        item = self.unrolling.items[index]
        match item.event.action:
            case AwaitAction(barrier):
                phase = self.unrolling.number(index, thread)
                ring = self._barrier(barrier).ring
                if phase < -ring:
                    return None
                object_ = self.barriers[barrier, self.unrolling.barrier_cta(index), phase % ring]
                parity = (phase // ring) & 1
                if object_.completed & 1 != parity:
                    return None
                if self._barrier(barrier).named:
                    return f"waits for generation {phase} of {barrier}"
                return f"waits for phase {phase} of {barrier} (slot {phase % ring}, parity {parity})"
            case WaitAction(group, pending):
                done = self.unrolling.number(index, thread) - pending
                if self.flights.pend(thread, group, done):
                    return f"waits for {group.value} groups below {done}"
                return None
            case ArriveAction() if not self.bundles.joins(index, thread):
                return "waits for the rest of its warp"
            case FenceAction() | ExitAction():
                self.joined.setdefault(index, set()).add(thread)
                missing = item.width - sum(self.bundles.sizes[t] for t in self.joined[index])
                return f"waits in a barrier for {missing} of {item.width} threads" if missing else None
            case _:
                return None

    def _awaited(self, index: int, thread: int) -> Hashable:
        """What has to change before a blocked thread can move."""
        match self.unrolling.items[index].event.action:
            case AwaitAction(barrier):
                slot = self.unrolling.number(index, thread) % self._barrier(barrier).ring
                return (barrier, self.unrolling.barrier_cta(index), slot)
            case WaitAction(group):
                return (thread, group)
            case _:
                return index

    def _perform(self, index: int, thread: int) -> None:
        item = self.unrolling.items[index]
        match item.event.action, item.event.completion:
            case ArriveAction(after_copies=True), _:
                self.flights.issue(index, thread)
            case ArriveAction(barrier, tx), _:
                self._wake(index)
                self._arrive(index, thread, barrier, tx)
            case AwaitAction(barrier), _:
                self._woken(index, thread, barrier)
            case _, TxOn(barrier, holds=True):
                self._hold(index, thread, barrier, 1)
                self.flights.issue(index, thread)
            case action, None:
                if isinstance(action, FenceAction | ExitAction):
                    self._wake(index)
                if self._tells(index, thread):
                    self._note(index, thread, item.event.label)
            case _, _:
                if item.event.exec is not Exec.WARPS or thread == item.first:
                    self.flights.issue(index, thread)
                    self._note(index, thread, f"issues {item.event.label}")

    def _arrive(self, index: int, thread: int, barrier: str, tx: int) -> None:
        phase = self.unrolling.number(index, thread)
        ring, cta = self._barrier(barrier).ring, self.unrolling.barrier_cta(index)
        object_ = self.barriers.get((barrier, cta, phase % ring))
        if object_ is None:
            self.broken = Early(index, thread, f"the arrive on {barrier} goes to CTA {cta}, which does not exist")
            return
        unit, together = self._unit(barrier), self.bundles.arrivals(index, thread)
        if not together:
            return
        if object_.pending < together:
            self.broken = Early(index, thread, f"{unit} {phase} of {barrier} gets more arrivals than its count")
            return
        if object_.completed != phase // ring:
            lands = object_.completed * ring + phase % ring
            self.broken = Early(index, thread, f"the arrive for {unit} {phase} lands in {unit} {lands}")
            return
        object_.tx += tx
        object_.pending -= together
        self.arrived[barrier, cta, phase] += together
        ends = self._settle(barrier, cta, phase % ring)
        what = f"arrives on {self._named(barrier, cta)} for {unit} {phase}"
        self._note(index, thread, what, (barrier, cta, phase % ring), ends=ends)

    def _hold(self, index: int, thread: int, barrier: str, more: int) -> None:
        """A held phase has one arrival more pending until the thread's copies have landed."""
        phase = self.unrolling.number(index, thread)
        ring, cta = self._barrier(barrier).ring, self.unrolling.barrier_cta(index)
        object_ = self.barriers[barrier, cta, phase % ring]
        if object_.completed != phase // ring:
            self.broken = Early(index, thread, f"phase {phase} of {barrier} is not the one that is held")
        object_.pending += more
        self._settle(barrier, cta, phase % ring)

    def _settle(self, barrier: str, cta: int, slot: int) -> bool:
        """Whether a phase ended."""
        ends = self.barriers[barrier, cta, slot].settle()
        if ends:
            self._wake((barrier, cta, slot))
        return ends

    def _woken(self, index: int, thread: int, barrier: str) -> None:
        phase = self.unrolling.number(index, thread)
        if phase < 0:
            return
        cta = self.unrolling.barrier_cta(index)
        unit = self._unit(barrier)
        missing = self.units[barrier, cta] - self.arrived[barrier, cta, phase]
        bytes_left = self.bound[barrier, cta, phase] - self.landed[barrier, cta, phase]
        if missing or bytes_left:
            what = f"{missing} of {self.units[barrier, cta]} arrivals" if missing else f"{bytes_left} bytes"
            self.broken = Early(
                index, thread, f"the await of {unit} {phase} of {barrier} returns while {what} of it are missing"
            )
        ring = self._barrier(barrier).ring
        if self._tells(index, thread):
            self._note(index, thread, f"passes {unit} {phase} of {barrier}", (barrier, cta, phase % ring))

    # -- asynchronous completion ---------------------------------------------------------------------------------

    def _complete_one(self) -> bool:
        """Completes the oldest operation that is not delayed; the delayed one only if it is the last hope."""
        chosen = self.flights.oldest(lambda f: not self._is_x(f))
        if chosen is None and (self.delay is None or self.delay.y is None):
            chosen = self.flights.oldest(lambda f: True)
        if chosen is None:
            return False
        self._complete(chosen)
        return True

    def _complete(self, flight: Flight) -> None:
        self._steps += 1
        self._x_done |= self._is_x(flight)
        for thread, group in self.flights.land(flight):
            self._wake((thread, group))
        item = self.unrolling.items[flight.index]
        match item.event.action, item.event.completion:
            case ArriveAction(barrier, tx), _:
                self._arrive(flight.index, flight.thread, barrier, tx)
            case _, TxOn(barrier, holds=True):
                self._hold(flight.index, flight.thread, barrier, -1)
            case _, TxOn(barrier, size):
                phase = self.unrolling.number(flight.index, flight.thread)
                ring, cta = self._barrier(barrier).ring, self.unrolling.barrier_cta(flight.index)
                object_ = self.barriers[barrier, cta, phase % ring]
                if object_.completed != phase // ring:
                    lands = object_.completed * ring + phase % ring
                    reason = f"the bytes for phase {phase} of {barrier} land in phase {lands}"
                    self.broken = Early(flight.index, flight.thread, reason)
                object_.tx -= size
                self.landed[barrier, cta, phase] += size
                ends = self._settle(barrier, cta, phase % ring)
                self._note(flight.index, flight.thread, f"{size} bytes land", (barrier, cta, phase % ring), ends=ends)
            case _:
                self._note(flight.index, flight.thread, f"{item.event.label} completes")

    # -- reporting -----------------------------------------------------------------------------------------------

    def _barrier(self, name: str) -> Barrier:
        return self.unrolling.program.barriers[name]

    def _unit(self, barrier: str) -> str:
        return "generation" if self._barrier(barrier).named else "phase"

    def _named(self, barrier: str, cta: int) -> str:
        return barrier if self.unrolling.program.cluster == 1 else f"{barrier} of CTA {cta}"

    def _tells(self, index: int, thread: int) -> bool:
        """One thread of a statement speaks for all, and those that the delay is about for themselves."""
        item = self.unrolling.items[index]
        return thread == item.first or (thread in self.named and item.event.exec is not Exec.TOGETHER)

    def _note(
        self, index: int, thread: int, text: str, barrier: tuple[str, int, int] | None = None, *, ends: bool = False
    ) -> None:
        state: tuple[tuple[str, str], ...] = ()
        if barrier is not None:
            o, (name, cta, slot) = self.barriers[barrier], barrier
            tx = f", {o.tx} bytes" if o.tx else ""
            state = ((self._named(f"{name}[{slot}]", cta), f"phase {o.completed}, {o.pending} pending{tx}"),)
        self.log.append(Moment(index, thread, text, state, ends))

    def _blocked(self) -> Iterator[tuple[int, int, str]]:
        for t in self.bundles.sizes:
            trace = self.unrolling.trace(t)
            at = self.position.get(t, 0)
            if at < len(trace) and not isinstance(self.unrolling.items[trace[at]].event.action, ExitAction):
                why = self._why_blocked(trace[at], t)
                if why is not None:
                    yield t, trace[at], why
