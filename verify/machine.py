"""The machine: runs an unrolled program thread by thread with physical mbarriers, groups and barriers.

It replays counterexamples: a deadlock is a state in which nothing can move, an early wake-up is an await that returns
while contributions to its logical phase are missing, a race is a run in which the later access happens before the
earlier one. Slots, parities, pending arrivals and transaction counts are the hardware's; logical phases are only
compared with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from exogpu.ir.instr import Group
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.mbarrier import Mbarriers, Phase, fresh
from exogpu.verify.program import (
    ArriveAction,
    AwaitAction,
    Exec,
    ExitAction,
    FenceAction,
    InGroup,
    TxOn,
    WaitAction,
)


@dataclass(slots=True)
class _Flight:
    """An asynchronous operation that has been issued."""

    index: int
    thread: int
    done: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """One performed step: an occurrence, the thread that performed it, and barrier state after it."""

    index: int
    thread: int
    note: str
    state: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Stuck:
    """Nothing can move; each blocked thread with the occurrence that it cannot pass and the reason."""

    blocked: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Early:
    """A thread passed an await although its logical phase is not complete, or a phase got too many arrivals."""

    index: int
    thread: int
    reason: str


@dataclass(frozen=True, slots=True)
class Reached:
    """The run performed `y` while `x` was still outstanding."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Every thread ended."""


Ending = Stuck | Early | Reached | Finished


@dataclass(frozen=True, slots=True)
class Delay:
    """Scheduling request: keep `x` outstanding for as long as anything else can move, and stop when `y` is reached.

    Without `y`, only the delay applies.
    """

    x: Occurrence
    y: Occurrence | None = None


@dataclass(slots=True)
class Machine:
    """One run. `log` holds the steps that changed barrier state, issued or completed asynchronous operations."""

    unrolling: Unrolling
    delay: Delay | None = None
    log: list[Moment] = field(default_factory=list)
    position: dict[int, int] = field(default_factory=dict)
    flights: list[_Flight] = field(default_factory=list)
    waiting: dict[int, set[int]] = field(default_factory=dict)
    bundles: dict[int, int] = field(default_factory=dict)
    broken: Early | None = None
    barriers: Mbarriers = field(init=False)

    def __post_init__(self) -> None:
        self.barriers = fresh(self.unrolling)
        self._bundle()

    def _bundle(self) -> None:
        """Threads with one and the same trace move together; the ones that the delay names stay apart."""
        named = set() if self.delay is None else set(self.delay.x.threads)
        if self.delay is not None and self.delay.y is not None and self.delay.y.event.exec is not Exec.TOGETHER:
            named |= set(self.delay.y.threads)
        first: dict[tuple[int, tuple[int, ...]], int] = {}
        for t in self.unrolling.program.everybody:
            key = (t if t in named else -1, tuple(self.unrolling.trace(t)))
            leader = first.setdefault(key, t)
            self.bundles[leader] = self.bundles.get(leader, 0) + 1

    # -- running -------------------------------------------------------------------------------------------------

    def run(self) -> Ending:
        """Runs until nothing moves, everything ended, or something went wrong."""
        threads = tuple(self.bundles)
        while True:
            moved = False
            for t in threads:
                while self._step(t, forced=False):
                    moved = True
                    if self.broken is not None:
                        return self.broken
                if self._reached(t):
                    return Reached()
            completed = not moved and self._complete_one()
            if self.broken is not None:
                return self.broken
            if not moved and not completed:
                if any(self._step(t, forced=True) for t in threads):
                    continue
                return self._ending()

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
        return not any(f.done and self._is_x(f.index) for f in self.flights)

    def _stands_before(self, thread: int, x: Occurrence) -> bool:
        """The thread has done nothing after x yet, so x itself can still be pending."""
        at = self.position.get(thread, 0)
        trace = self.unrolling.trace(thread)
        return at == 0 or self.unrolling.items[trace[at - 1]].key < x.key

    def _next_key(self, thread: int) -> tuple[int, ...]:
        trace = self.unrolling.trace(thread)
        at = self.position.get(thread, 0)
        return self.unrolling.items[trace[at]].key if at < len(trace) else (1 << 60,)

    def _is_x(self, index: int) -> bool:
        item = self.unrolling.items[index]
        x = self.delay.x if self.delay is not None else None
        return x is not None and item.key == x.key and item.event.id == x.event.id and item.first == x.first

    # -- one thread ----------------------------------------------------------------------------------------------

    def _step(self, thread: int, *, forced: bool) -> bool:
        trace = self.unrolling.trace(thread)
        at = self.position.get(thread, 0)
        if at >= len(trace) or (not forced and self._held(thread, trace[at])):
            return False
        if self._why_blocked(trace[at], thread) is not None:
            return False
        self.position[thread] = at + 1
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
                return self.barriers.incomplete(self._phase(index, thread, barrier))
            case WaitAction(group, pending):
                done = self.unrolling.number(index, thread) - pending
                if any(self._pends(f, thread, group, done) for f in self.flights):
                    return f"waits for {group.value} groups below {done}"
                return None
            case FenceAction() | ExitAction():
                self.waiting.setdefault(index, set()).add(thread)
                missing = item.width - sum(self.bundles[t] for t in self.waiting[index])
                return f"waits in a barrier for {missing} of {item.width} threads" if missing else None
            case _:
                return None

    def _pends(self, flight: _Flight, thread: int, group: object, done: int) -> bool:
        item = self.unrolling.items[flight.index]
        completion = item.event.completion
        if flight.done or not isinstance(completion, InGroup) or completion.group is not group:
            return False
        return thread in item.threads and self.unrolling.number(flight.index, thread) < done

    def _perform(self, index: int, thread: int) -> None:
        item = self.unrolling.items[index]
        match item.event.action, item.event.completion:
            case ArriveAction(after_copies=True), _:
                self.flights.append(_Flight(index, thread))
            case ArriveAction(barrier, tx), _:
                self._arrive(index, thread, barrier, tx)
            case AwaitAction(barrier), _:
                phase = self._phase(index, thread, barrier)
                self._check(index, thread, self.barriers.missing(phase))
                if thread == item.first and phase[2] >= 0:
                    self._note(index, thread, f"passes phase {phase[2]} of {barrier}", phase)
            case _, TxOn(barrier, holds=True):
                self._check(index, thread, self.barriers.hold(self._phase(index, thread, barrier), 1))
                self.flights.append(_Flight(index, thread))
            case _, None:
                if thread == item.first:
                    self._note(index, thread, item.event.label)
            case _, _:
                if item.event.exec is not Exec.WARPS or thread == item.first:
                    self.flights.append(_Flight(index, thread))
                    self._note(index, thread, f"issues {item.event.label}")

    def _arrive(self, index: int, thread: int, barrier: str, tx: int) -> None:
        phase = self._phase(index, thread, barrier)
        wrong = self.barriers.arrive(phase, self.bundles[thread], tx)
        self._check(index, thread, wrong)
        if wrong is None:
            _, cta, number = phase
            self._note(index, thread, f"arrives on {self._named(barrier, cta)} for phase {number}", phase)

    # -- asynchronous completion ---------------------------------------------------------------------------------

    def _complete_one(self) -> bool:
        """Completes the oldest operation that is not delayed; the delayed one only if it is the last hope."""
        open_ = [f for f in self.flights if not f.done and self._may_complete(f)]
        free = [f for f in open_ if not self._is_x(f.index)]
        keeps = self.delay is not None and self.delay.y is not None
        chosen = free if keeps else free or open_
        if not chosen:
            return False
        self._complete(chosen[0])
        return True

    def _may_complete(self, flight: _Flight) -> bool:
        """An arrive or a hold behind copies waits for those that its thread has issued before."""
        event = self.unrolling.items[flight.index].event
        holds = isinstance(event.completion, TxOn) and event.completion.holds
        if not holds and not isinstance(event.action, ArriveAction):
            return True
        mine = (f for f in self.flights if f.thread == flight.thread and f.index < flight.index and not f.done)
        return not any(self.unrolling.items[f.index].event.completion == InGroup(Group.COPY) for f in mine)

    def _complete(self, flight: _Flight) -> None:
        flight.done = True
        item = self.unrolling.items[flight.index]
        match item.event.action, item.event.completion:
            case ArriveAction(barrier, tx), _:
                self._arrive(flight.index, flight.thread, barrier, tx)
            case _, TxOn(barrier, holds=True):
                phase = self._phase(flight.index, flight.thread, barrier)
                self._check(flight.index, flight.thread, self.barriers.hold(phase, -1))
            case _, TxOn(barrier, size):
                phase = self._phase(flight.index, flight.thread, barrier)
                self._check(flight.index, flight.thread, self.barriers.land(phase, size))
                self._note(flight.index, flight.thread, f"{size} bytes land", phase)
            case _:
                self._note(flight.index, flight.thread, f"{item.event.label} completes")

    # -- reporting -----------------------------------------------------------------------------------------------

    def _phase(self, index: int, thread: int, barrier: str) -> Phase:
        """The phase that an arrive, await or copy by a thread is for."""
        return barrier, self.unrolling.barrier_cta(index), self.unrolling.number(index, thread)

    def _check(self, index: int, thread: int, wrong: str | None) -> None:
        if wrong is not None:
            self.broken = Early(index, thread, wrong)

    def _named(self, barrier: str, cta: int) -> str:
        return barrier if self.unrolling.program.cluster == 1 else f"{barrier} of CTA {cta}"

    def _note(self, index: int, thread: int, text: str, phase: Phase | None = None) -> None:
        state: tuple[tuple[str, str], ...] = ()
        if phase is not None:
            o, (name, cta, number) = self.barriers.at(phase), phase
            tx = f", {o.tx} bytes" if o.tx else ""
            slot = number % self.barriers.declared[name].ring
            state = ((self._named(f"{name}[{slot}]", cta), f"phase {o.completed}, {o.pending} pending{tx}"),)
        self.log.append(Moment(index, thread, text, state))

    def _blocked(self) -> Iterator[tuple[int, int, str]]:
        for t in self.bundles:
            trace = self.unrolling.trace(t)
            at = self.position.get(t, 0)
            if at < len(trace) and not isinstance(self.unrolling.items[trace[at]].event.action, ExitAction):
                why = self._why_blocked(trace[at], t)
                if why is not None:
                    yield t, trace[at], why
