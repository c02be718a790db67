"""Phases and groups of symbolic instances, as closed forms over their thread's own earlier executions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import TypeVar

from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Index
from exogpu.ir.instr import Commit
from exogpu.ir.walk import index_names
from exogpu.smt.index import to_poly
from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import Actor, NoClosedForm, count_before, mixed_guards, thread_guards
from exogpu.verify.program import (
    Applied,
    ArriveAction,
    AwaitAction,
    Counted,
    Event,
    Exec,
    ExpectAction,
    InGroup,
    LoopKind,
    Program,
    Stated,
    TxOn,
    WaitAction,
)

Who = TypeVar("Who")

Channel = tuple[int, int]
"""A thread, and the CTA whose barrier it signals or waits on."""


def executors(program: Program, event: Event) -> frozenset[int]:
    """Threads of the cluster that ever perform an event (for a barrier: take part)."""
    return program.once(executors, event, lambda: frozenset(thread for thread, _ in executions(event)))


def channels(program: Program, event: Event) -> frozenset[Channel]:
    """The threads that ever perform a signal or a wait, each with the CTAs whose barrier it means."""
    cta = barrier_cta(event)
    if cta is None:
        return own_channels(program, event)
    return program.once(channels, event, lambda: frozenset((t, evaluate(cta, env)) for t, env in executions(event)))


def own_channels(program: Program, event: Event) -> frozenset[Channel]:
    """The threads that ever perform an event, each with its own CTA."""
    mine = executors(program, event)
    return program.once(own_channels, event, lambda: frozenset((t, t // program.threads) for t in mine))


def barrier_cta(event: Event) -> Index | None:
    """The CTA whose barrier an arrive, an announcement, an await or a copy means; None for the thread's own."""
    match event.action, event.completion:
        case (ArriveAction(cta=cta) | ExpectAction(cta=cta) | AwaitAction(cta=cta), _) | (_, TxOn(cta=cta)):
            return cta
        case _:
            return None


def executions(event: Event) -> Iterator[tuple[int, dict[str, int]]]:
    """Threads that perform an event, with the values of its loops over threads and CTAs."""
    loops = [loop for loop in event.loops if loop.kind in (LoopKind.THREADS, LoopKind.CTAS)]
    ranges = [range(evaluate(loop.lo, {}), evaluate(loop.hi, {})) for loop in loops]
    names = {loop.var for loop in loops}
    if event.selection is None and not index_names(event.first) <= names:
        raise NoClosedForm("its threads depend on a sequential loop")
    guards = thread_guards(event)
    for values in product(*ranges):
        env = dict(zip((loop.var for loop in loops), values, strict=True))
        if not all(holds(g, env) for g in guards):
            continue
        for first in _firsts(event, env):
            for thread in range(first, first + (1 if event.exec is Exec.FIRST else event.size)):
                yield thread, env


def _firsts(event: Event, env: Mapping[str, int]) -> tuple[int, ...]:
    """The first thread; of every unit that takes a turn, since the place in a unit does not depend on which it is."""
    if event.selection is None:
        return (evaluate(event.first, env),)
    some = dict.fromkeys(index_names(event.first), 0) | dict(env)
    return event.selection.peers(evaluate(event.first, some))


def signals(program: Program, through: frozenset[Channel], statements: Iterable[Event]) -> frozenset[Channel]:
    """Those of the channels on which the statements, which use all of them, signal once each per phase: of units that
    take turns, unit 0 stands for all."""
    sets = {through & _of_one_unit(program, s) for s in statements}
    if len(sets) > 1:
        raise NoClosedForm("a role uses it as a whole, and its units take turns")
    return sets.pop() if sets else frozenset()


def _of_one_unit(program: Program, event: Event) -> frozenset[Channel]:
    turns = event.selection
    through = channels(program, event)
    return through if turns is None else frozenset((t, cta) for t, cta in through if t == turns.peers(t)[0])


def alike(program: Program, event: Event) -> Mapping[int, tuple[int, ...]]:
    """For each thread that performs an event, what its mixed guards and unknown numbers see of it: threads with equal
    values execute it equally often."""
    unknown = (program.derived.get(n) for g in event.guards for n in index_names(g))
    arguments = (index_names(a) for meaning in unknown if isinstance(meaning, Applied) for a in meaning.args)
    names = sorted(frozenset[str]().union(*(index_names(g) for g in mixed_guards(event)), *arguments))
    if not names:
        return dict.fromkeys(executors(program, event), ())
    return {thread: tuple(env[n] for n in names if n in env) for thread, env in executions(event)}


def executed_by(program: Program, threads: frozenset[int], statements: Iterable[Event]) -> list[Event]:
    """The statements that every one of `threads` performs; raises if only some of them perform one."""
    return _shared_by(threads, ((s, executors(program, s)) for s in statements))


def signalled_by(program: Program, through: frozenset[Channel], statements: Iterable[Event]) -> list[Event]:
    """The signals or waits that use every one of the channels; raises if only some of them are used."""
    return _shared_by(through, ((s, channels(program, s)) for s in statements))


def _shared_by(wanted: frozenset[Who], statements: Iterable[tuple[Event, frozenset[Who]]]) -> list[Event]:
    out: list[Event] = []
    for s, who in statements:
        if wanted <= who:
            out.append(s)
        elif wanted & who:
            raise NoClosedForm(f"{s.label} at line {s.span.line} is executed by only some of these threads")
    return out


def arrives(program: Program, barrier: str) -> list[Event]:
    """Arrive statements of a barrier that some thread can execute."""
    found = [e for e in program.events if isinstance(e.action, ArriveAction) and e.action.barrier == barrier]
    return [e for e in found if executors(program, e)]


def awaits(program: Program, barrier: str) -> list[Event]:
    """Await statements of a barrier that some thread can execute."""
    found = [e for e in program.events if isinstance(e.action, AwaitAction) and e.action.barrier == barrier]
    return [e for e in found if executors(program, e)]


def copies(program: Program, barrier: str) -> list[Event]:
    """Asynchronous copies that complete on a barrier, and that some thread can issue."""
    found = [e for e in program.events if isinstance(e.completion, TxOn) and e.completion.barrier == barrier]
    return [e for e in found if executors(program, e)]


def place_in_unit(model: Model, x: Instance) -> Poly:
    """The instance's thread, as if unit 0 of those that take turns executed it."""
    turns = x.event.selection
    return x.threads.first if turns is None else x.threads.first - to_poly(model.ctx, turns.index, x.env) * turns.size


def same_place(x: Occurrence, y: Occurrence) -> bool:
    """Both are of one thread, or of threads at one place of their units."""
    turns = y.event.selection
    return x.first == y.first if turns is None else turns.peers(x.first) == turns.peers(y.first)


class Phases:
    """Numbers of symbolic instances in one program."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.program: Program = model.program

    def _count(self, x: Instance, kind: str, statements: Callable[[], list[Event]], *, alone: bool = False) -> Poly:
        """Earlier executions of the statements that x's threads perform; `kind` says which."""
        total = ZERO
        for s in self.program.memo.once((Phases, kind, x.event.id), statements):
            total = total + self.count(x, s, alone=alone)
        return total

    def count(self, x: Instance, statement: Event, *, alone: bool = False) -> Poly:
        """Executions of a statement before x, by x's thread."""
        who = Actor(x.threads.first, self._unit(x, statement), alone)
        return count_before(self.model, statement, x, who)

    def phase(self, x: Instance) -> Poly:
        """The phase that an arrive or a copy contributes to, or that an await waits for."""
        program, event = self.program, x.event
        if event.numbering is not None:
            return self._numbered(x, event.numbering)
        match event.action, event.completion:
            case ArriveAction(barrier), _:
                return self._count(
                    x, "arrive", lambda: signalled_by(program, channels(program, event), arrives(program, barrier))
                )
            case AwaitAction(barrier, joined=True), _:
                joins = self._count(
                    x, "joined", lambda: signalled_by(program, channels(program, event), arrives(program, barrier))
                )
                return joins - 1
            case AwaitAction(barrier, lag), _:
                waits = self._count(
                    x, "await", lambda: signalled_by(program, channels(program, event), awaits(program, barrier))
                )
                return waits - lag
            case _, TxOn(barrier, holds=holds):
                if holds and not signalled_by(program, own_channels(program, event), arrives(program, barrier)):
                    raise NoClosedForm(
                        f"{event.label} at line {event.span.line} is followed by no arrive of its thread"
                    )
                return self.next_arrive(x, barrier)
            case _:
                raise TypeError(f"{event.label} has no phase")

    def _numbered(self, x: Instance, numbering: Counted | Stated) -> Poly:
        match numbering:
            case Stated(index):
                return to_poly(self.model.ctx, index, x.env)
            case Counted(of, rate, lag):
                total = sum((self.count(x, self.program.events[e]) for e in of), ZERO)
                return self.model.ctx.floordiv(total, rate) - lag

    def cta(self, x: Instance) -> Poly:
        """The CTA whose barrier an arrive, await or copy means."""
        cta = barrier_cta(x.event)
        if cta is not None:
            return to_poly(self.model.ctx, cta, x.env)
        return self.own_cta(x)

    def own_cta(self, x: Instance) -> Poly:
        """The CTA of the instance's threads."""
        return self.model.ctx.floordiv(x.threads.first, self.program.threads) if self.program.cluster > 1 else ZERO

    def same_cta(self, x: Instance, y: Instance) -> Formula:
        """Both mean the barrier of one CTA."""
        return self.model.ctx.eq(self.cta(x), self.cta(y))

    def ends_after(self, x: Instance, y: Instance, barrier: str) -> Formula:
        """The phase of y ends only when that of x has: it is the same, or a later one in the same slot of the ring."""
        ctx, distance = self.model.ctx, self.phase(y) - self.phase(x)
        ring = self.program.barriers[barrier].ring
        return ctx.api.conj((ctx.ge(distance, 0), ctx.eq(ctx.mod(distance, ring), 0)))

    def one_each(self, arrive: Event, barrier: str) -> tuple[ArriveAction, ...]:
        """The arrives with which its thread contributes to every phase; none if others take turns with it, or phases
        are not numbered by what a thread has done."""

        def find() -> tuple[ArriveAction, ...]:
            mine = signalled_by(self.program, channels(self.program, arrive), arrives(self.program, barrier))
            if any(e.selection is not None or e.numbering is not None for e in mine):
                return ()
            return tuple(e.action for e in mine if isinstance(e.action, ArriveAction))

        return self.program.memo.once((Phases, "each", arrive.id), find)

    def group(self, x: Instance, by: Event | None = None) -> Poly:
        """Commits that the instance's thread has done before it: the group of an operation. With `by`, that thread is
        known to be one of those that execute `by`."""
        match x.event.action, x.event.completion:
            case WaitAction(group), _:
                pass
            case _, InGroup(group):
                pass
            case _:
                raise TypeError(f"{x.event.label} has no group")
        program = self.program
        commits = [e for e in program.events if isinstance(e.action, Commit) and e.action.group is group]
        who = x.event if by is None else by
        by_all = partial(executed_by, program, executors(program, who), commits)
        return self._count(x, f"commit {group} of {who.id}", by_all, alone=True)

    def next_arrive(self, x: Instance, barrier: str) -> Poly:
        """The phase that the next arrive of x's thread on its CTA's barrier is for."""
        program = self.program
        through = own_channels(program, x.event)
        return self._count(x, f"next {barrier}", lambda: signalled_by(program, through, arrives(program, barrier)))

    def _unit(self, x: Instance, statement: Event) -> Poly:
        """The unit of x's thread among those that take turns at `statement`; 0 if there are none."""
        turns, mine, ctx = statement.selection, x.event.selection, self.model.ctx
        if turns is None:
            return ZERO
        if mine is not None:
            return to_poly(ctx, mine.index, x.env)
        return ctx.floordiv(ctx.mod(x.threads.first, turns.cta) - turns.base, turns.size)

    def slot(self, x: Instance, buffer: str) -> Poly:
        """Which execution of the buffer's allocation the instance works in."""
        alloc = self.program.buffers[buffer].alloc
        if alloc is None:
            raise TypeError(f"{buffer} is not allocated")
        return count_before(self.model, self.program.events[alloc], x) - 1
