"""Phases and groups of symbolic instances, as closed forms over their thread's own earlier executions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Cond
from exogpu.ir.instr import Commit
from exogpu.ir.walk import index_names
from exogpu.smt.poly import ZERO, Poly
from exogpu.verify.index import to_poly
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import NoClosedForm, count_before, count_until
from exogpu.verify.program import (
    ArriveAction,
    AwaitAction,
    Event,
    Exec,
    InGroup,
    LoopKind,
    Program,
    TxOn,
    WaitAction,
)


def executors(event: Event) -> frozenset[int]:
    """Threads of the CTA that ever perform an event (for a barrier: take part)."""
    loops = [loop for loop in event.loops if loop.kind is LoopKind.THREADS]
    ranges = [range(evaluate(loop.lo, {}), evaluate(loop.hi, {})) for loop in loops]
    names = {loop.var for loop in loops}
    if event.selection is None and not index_names(event.first) <= names:
        raise NoClosedForm("its threads depend on a sequential loop")
    guards = thread_guards(event)
    threads: set[int] = set()
    for values in product(*ranges):
        env = dict(zip((loop.var for loop in loops), values, strict=True))
        if not all(holds(g, env) for g in guards):
            continue
        for first in _firsts(event, env):
            threads.update(range(first, first + (1 if event.exec is Exec.FIRST else event.size)))
    return frozenset(threads)


def _firsts(event: Event, env: Mapping[str, int]) -> tuple[int, ...]:
    """The first thread; of every unit that takes a turn, since the place in a unit does not depend on which it is."""
    if event.selection is None:
        return (evaluate(event.first, env),)
    some = dict.fromkeys(index_names(event.first), 0) | dict(env)
    return event.selection.peers(evaluate(event.first, some))


def arrivals(event: Event) -> int:
    """Threads that perform one execution of an event."""
    return len(executors(event)) // (1 if event.selection is None else event.selection.count)


def thread_guards(event: Event) -> list[Cond]:
    """The guards that choose threads; one that mixes thread loops with anything else has no closed form."""
    names = {loop.var for loop in event.loops if loop.kind is LoopKind.THREADS}
    out: list[Cond] = []
    for guard in event.guards:
        tested = index_names(guard)
        if tested & names:
            if not tested <= names:
                raise NoClosedForm(f"a guard of {event.label} at line {event.span.line} mixes threads and sizes")
            out.append(guard)
    return out


def executed_by(threads: frozenset[int], statements: Iterable[Event]) -> list[Event]:
    """The statements that every one of `threads` performs; raises if only some of them perform one."""
    out: list[Event] = []
    for s in statements:
        who = executors(s)
        if threads <= who:
            out.append(s)
        elif threads & who:
            raise NoClosedForm(f"{s.label} at line {s.span.line} is executed by only some of these threads")
    return out


def arrives(program: Program, barrier: str) -> list[Event]:
    """Arrive statements of a barrier that some thread can execute."""
    return [
        e for e in program.events if isinstance(e.action, ArriveAction) and e.action.barrier == barrier and executors(e)
    ]


def awaits(program: Program, barrier: str) -> list[Event]:
    """Await statements of a barrier that some thread can execute."""
    return [
        e for e in program.events if isinstance(e.action, AwaitAction) and e.action.barrier == barrier and executors(e)
    ]


def copies(program: Program, barrier: str) -> list[Event]:
    """Asynchronous copies that complete on a barrier, and that some thread can issue."""
    return [
        e for e in program.events if isinstance(e.completion, TxOn) and e.completion.barrier == barrier and executors(e)
    ]


class Phases:
    """Numbers of symbolic instances in one program."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.program: Program = model.program
        self._mine: dict[tuple[str, int], list[Event]] = {}

    def _same_thread(self, kind: str, event: Event, statements: Iterable[Event]) -> list[Event]:
        key = (kind, event.id)
        if key not in self._mine:
            self._mine[key] = executed_by(executors(event), statements)
        return self._mine[key]

    def phase(self, x: Instance) -> Poly:
        """The phase that an arrive or a copy contributes to, or that an await waits for."""
        match x.event.action, x.event.completion:
            case ArriveAction(barrier), _:
                return count_until(self.model, self._same_thread("arrive", x.event, arrives(self.program, barrier)), x)
            case AwaitAction(barrier, lag), _:
                waits = self._same_thread("await", x.event, awaits(self.program, barrier))
                return count_until(self.model, waits, x) - lag
            case _, TxOn(barrier):
                return count_until(self.model, self._same_thread("arrive", x.event, arrives(self.program, barrier)), x)
            case _:
                raise TypeError(f"{x.event.label} has no phase")

    def group(self, x: Instance) -> Poly:
        """Commits that the instance's thread has done before it: the group of an operation."""
        match x.event.action, x.event.completion:
            case WaitAction(group), _:
                pass
            case _, InGroup(group):
                pass
            case _:
                raise TypeError(f"{x.event.label} has no group")
        commits = [e for e in self.program.events if isinstance(e.action, Commit) and e.action.group is group]
        mine = self._same_thread(f"commit {group}", x.event, commits)
        total = ZERO
        for s in mine:
            total = total + count_before(self.model, s, x, self._unit(x, s))
        return total

    def _unit(self, x: Instance, statement: Event) -> Poly | None:
        """The unit, among those that take turns at `statement`, of the thread that performs x."""
        s = statement.selection
        if s is None or x.event.selection is None:
            return None if s is None else self.model.ctx.floordiv(x.threads.first - s.base, s.size)
        return to_poly(self.model.ctx, x.event.selection.index, x.env)

    def slot(self, x: Instance, buffer: str) -> Poly:
        """Which execution of the buffer's allocation the instance works in."""
        alloc = self.program.buffers[buffer].alloc
        if alloc is None:
            raise TypeError(f"{buffer} is not allocated")
        return count_before(self.model, self.program.events[alloc], x) - 1
