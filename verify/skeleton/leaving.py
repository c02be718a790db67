"""Threads that end: a barrier of the whole CTA does not wait for them any more (PTX ISA, bar)."""

from __future__ import annotations

from collections.abc import Iterable

from exogpu.ir.collective import WARP
from exogpu.smt.poly import ZERO, Poly
from exogpu.verify.instance import Instance
from exogpu.verify.ordinal import thread_guards
from exogpu.verify.phases import Phases, arrives, executed_by, executors
from exogpu.verify.program import AwaitAction, Barrier, Event, ExitAction, LoopKind, Program
from exogpu.verify.skeleton.flows import Flow


def ends(program: Program, barrier: Barrier) -> list[Event]:
    """Ends of threads that a barrier may do without."""
    return [e for e in program.events if isinstance(e.action, ExitAction) and barrier.whole]


def strangers(program: Program, barrier: Barrier) -> frozenset[int]:
    """Threads that end in any case, and never join it."""
    certain = (e for e in ends(program, barrier) if thread_guards(e) == [*e.guards] and _once(e))
    ended = frozenset[int]().union(*(executors(program, e) for e in certain))
    return ended.difference(*(executors(program, e) for e in arrives(program, barrier.name)))


def warps(program: Program, barrier: Barrier, flows: Iterable[Flow]) -> frozenset[tuple[int, int]]:
    """Warps, by CTA and number, that join a named barrier, which counts an arrival of a warp as one of all its lanes
    (PTX ISA, bar); with those that have ended."""
    joined = {thread for flow in flows for thread, _ in flow.channels}
    places = (divmod(thread, program.threads) for thread in joined | strangers(program, barrier))
    return frozenset((cta, thread // WARP) for cta, thread in places)


def _once(event: Event) -> bool:
    return all(loop.kind is LoopKind.THREADS for loop in event.loops)


def ends_of(program: Program, barrier: Barrier, flow: Flow) -> tuple[Event, ...]:
    """Ends that all threads of a flow may come to."""
    threads = {thread for thread, _ in flow.channels}
    return tuple(e for e in ends(program, barrier) if threads <= executors(program, e))


def joined_before(phases: Phases, end: Instance, wait: Instance) -> Poly:
    """How many generations of the barrier of a wait a thread has joined at its end."""
    program, action = phases.program, wait.event.action
    assert isinstance(action, AwaitAction)
    joins = executed_by(program, executors(program, end.event), arrives(program, action.barrier))
    return sum((phases.count(end, s) for s in joins), ZERO)
