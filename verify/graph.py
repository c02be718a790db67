"""Happens-before paths between two occurrences, by breadth-first search over an `Unrolling`."""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Group
from exogpu.verify.concrete import Key, Occurrence, Unrolling, cta_meant
from exogpu.verify.needs import FenceKind, Needs, Side, covers_cluster
from exogpu.verify.pipeline import of_one_shape, tile
from exogpu.verify.program import (
    ArriveAction,
    AwaitAction,
    Exec,
    InGroup,
    Program,
    TxOn,
    WaitAction,
)


def ends_after(phase: int, waited: int, ring: int) -> bool:
    """Phase `waited` ends only when phase `phase` has: they are the same, or later in one mbarrier, whose phases end in
    order. Another slot of the ring says nothing about it."""
    return waited >= phase and (waited - phase) % ring == 0


@dataclass(frozen=True, slots=True)
class PathNode:
    """An intermediate occurrence of a path and the thread that the path passes through."""

    index: int
    item: Occurrence
    thread: int


class Edge(enum.Enum):
    """Kinds of happens-before edges between intermediate events."""

    PROGRAM_ORDER = "program order"
    SIGNAL = "arrive to await"
    COMPLETION = "issue of an asynchronous operation to a wait for it"


_State = tuple[int, int, frozenset[Side]]
"""(occurrence, thread, the fences that have still to come)."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A thread's await of a phase."""

    index: int
    thread: int
    phase: int
    action: AwaitAction


class Search:
    """Paths out of one occurrence, using the program's axioms or those given."""

    def __init__(
        self,
        unrolling: Unrolling,
        source: Occurrence,
        needs: Needs,
        *,
        everybody: bool,
        axioms: frozenset[str] | None = None,
    ) -> None:
        self.u = unrolling
        self.source = source
        self.needs = needs
        self.target = source
        self.axioms = unrolling.program.axioms if axioms is None else axioms
        threads = unrolling.program.everybody if everybody else unrolling.representatives
        self.threads = frozenset(threads) | frozenset(source.threads)
        self.waits: dict[tuple[str, int], dict[int, dict[int, list[_Waiting]]]] = {}
        self.told: set[tuple[str, int, int, int, bool, frozenset[Side]]] = set()
        self.left: set[tuple[int, int, frozenset[Side]]] = set()
        self.ended: set[tuple[int, frozenset[Side]]] = set()

    def path_to(self, target: Occurrence) -> list[PathNode] | None:
        """The intermediate nodes of a shortest path to `target` (empty: ordered directly), or None."""
        required = self.needs.sides(self.axioms)
        self.target = target
        if not self.threads.issuperset(self._joining(target)):
            self.threads |= self._joining(target)
            self.waits.clear()
        if self._direct(target):
            return []
        if not self._required(target) <= self.axioms:
            return None
        parents: dict[_State, _State | None] = {}
        queue: deque[_State] = deque()
        self.told.clear()
        self.left.clear()
        self.ended.clear()
        for n, t in self._start():
            self._push(queue, parents, (n, t, required - self._fenced(n, t)), None)
        while queue:
            state = queue.popleft()
            n, t, missing = state
            if not missing and self._reaches(n, t, target):
                return self._unwind(state, parents)
            for m, s in self._successors(n, t, missing):
                self._push(queue, parents, (m, s, missing - self._fenced(m, s)), state)
        return None

    def is_path(self, nodes: list[PathNode], target: Occurrence) -> bool:
        """The nodes, in this order, make a path from the source to `target`."""
        self.target = target
        if not self.needs.sides(self.axioms) <= frozenset().union(*(self._fenced(n.index, n.thread) for n in nodes)):
            return False
        if not self._starts(nodes[0]) or not self._reaches(nodes[-1].index, nodes[-1].thread, target):
            return False
        return all(self.edge(a, b) is not None for a, b in pairwise(nodes))

    def edge(self, a: PathNode, b: PathNode) -> Edge | None:
        """How `a` is ordered directly before `b`, if it is."""
        into = set(b.item.threads) if b.item.event.exec is Exec.TOGETHER else {b.thread}
        if a.item.key < b.item.key and into.intersection(self._leaving(a.item, a.thread)):
            return Edge.PROGRAM_ORDER
        sends, waits = a.item.event.action, b.item.event.action
        if (
            isinstance(sends, ArriveAction)
            and isinstance(waits, AwaitAction)
            and sends.barrier == waits.barrier
            and self.needs.through(sends, self.axioms)
        ):
            phase = self.u.number(a.index, a.thread)
            same = self.u.barrier_cta(a.index) == self.u.barrier_cta(b.index)
            same = same and self.needs.heard(waits, sends, self.axioms, abroad=self._apart(a.thread, b.thread))
            ring = self.u.program.barriers[sends.barrier].ring
            if same and phase >= 0 and ends_after(phase, self.u.number(b.index, b.thread), ring):
                return Edge.SIGNAL
        if any(n == b.index and t == b.thread for n, t in self._ends_elsewhere(a.index)):
            return Edge.COMPLETION
        return None

    def _apart(self, a: int, b: int) -> bool:
        """The threads are of different CTAs."""
        return a // self.u.program.threads != b // self.u.program.threads

    def _starts(self, node: PathNode) -> bool:
        event = self.source.event
        into = set(node.item.threads) if node.item.event.exec is Exec.TOGETHER else {node.thread}
        follows = self.source.key < node.item.key and bool(into.intersection(self.source.threads))
        follows = follows and not self.needs.woken
        if event.completion is None and (follows or not isinstance(event.action, ArriveAction)):
            return follows
        return any(n == node.index and t == node.thread for n, t in self._start())

    # -- edges ---------------------------------------------------------------------------------------------------

    def _push(
        self, queue: deque[_State], parents: dict[_State, _State | None], state: _State, parent: _State | None
    ) -> None:
        if state not in parents:
            parents[state] = parent
            queue.append(state)

    def _fenced(self, n: int, thread: int) -> frozenset[Side]:
        """Where the occurrence is a fence that a path needs. A wgmma fence orders its own thread's registers. A proxy
        fence has to stand in the CTA of the asynchronous access, and one for shared memory covers that of its own CTA
        (PTX ISA, fence.proxy.async)."""
        kind, action = self.needs.fence, self.u.items[n].event.action
        if kind is None or not kind.made_by(action):
            return frozenset()
        if kind is FenceKind.REGISTER:
            return frozenset((Side.TARGET,)) if thread in self.target.threads else frozenset()
        cta, home = thread // self.u.program.threads, self.needs.home
        if home is not None and not covers_cluster(action) and cta != evaluate(home, self.target.env):
            return frozenset()
        here = {Side.TARGET} if cta == self.target.first // self.u.program.threads else set[Side]()
        return frozenset(here | ({Side.SOURCE} if thread in self.source.threads else set()))

    def _required(self, target: Occurrence) -> frozenset[str]:
        """Axioms that every path to `target` relies on."""
        ctas = {o.first // self.u.program.threads for o in (self.source, target)}
        return self.needs.axioms | {"L4"} if self.needs.both_async and len(ctas) > 1 else self.needs.axioms

    def _direct(self, target: Occurrence) -> bool:
        """Ordered without an intermediate event: program order of one thread, or the wgmma pipeline."""
        x, y = self.source, target
        if x.key >= y.key or not set(x.threads) & self._joining(y):
            return False
        if of_one_shape(x.event, y.event) and not self.needs.apart:
            tiles = (tuple(evaluate(lo, o.env) for lo in tile(o.event)) for o in (x, y))
            return len(set(tiles)) == 1
        return x.event.completion is None and self.needs.fence is None and not self.needs.woken

    def _start(self) -> Iterator[tuple[int, int]]:
        match self.source.event.completion:
            case None:
                for t in self.source.threads if not self.needs.woken else ():
                    yield from self._next(t, self.source.key)
                yield from self._wakes()
            case InGroup(group):
                yield from self._group_waits(group, self.source, self.u.number_at(self.source))
                for t in self.source.threads if group is Group.COPY else ():
                    yield from self._landed(t)
                if "F1" in self.axioms and self.needs.between_wgmmas(self.source.event):
                    for t in self.source.threads:
                        yield from self._register_fences(t)
            case TxOn() as completion:
                yield from self._completes(completion, self.source, self.u.number_at(self.source))

    def _register_fences(self, thread: int) -> Iterator[tuple[int, int]]:
        """Fences that a thread executes after the source."""
        for n in self.u.trace(thread):
            item = self.u.items[n]
            if item.key > self.source.key and FenceKind.REGISTER.made_by(item.event.action):
                yield n, thread

    def _wakes(self) -> Iterator[tuple[int, int]]:
        """Awaits that return only after the source, if that is an arrive."""
        if isinstance(self.source.event.action, ArriveAction):
            phase = self.u.number_at(self.source)
            yield from self._woken(self.source, self.source.first, cta_meant(self.u.program, self.source), phase)

    def _woken(self, item: Occurrence, thread: int, cta: int, phase: int) -> Iterator[tuple[int, int]]:
        """Awaits that an arrive of a thread hands on to."""
        signal = item.event.action
        if not isinstance(signal, ArriveAction) or not self.needs.through(signal, self.axioms):
            return
        for waits in self._ended(signal.barrier, cta, phase):
            # what a thread does after its first such await follows in program order
            for w in waits:
                if self.needs.heard(w.action, signal, self.axioms, abroad=self._apart(thread, w.thread)):
                    yield w.index, w.thread
                    break

    def _group_waits(self, group: Group, member: Occurrence, number: int) -> Iterator[tuple[int, int]]:
        """Waits that return only when a member of a commit group is done: by its own threads, with L12 by any of its
        warpgroup."""
        threads: Iterable[int] = member.threads
        if group is Group.WGMMA and "L12" in self.axioms:
            threads = sorted(self.threads.intersection(warpgroup(self.u.program, member)) | set(member.threads))
        for t in threads:
            for n in self.u.trace(t):
                action = self.u.items[n].event.action
                if not isinstance(action, WaitAction) or action.group is not group:
                    continue
                enough = self.needs.reads_only or not action.reads_only
                later = self.u.items[n].key > member.key
                if later and enough and number + 1 + action.pending <= self.u.number(n, t):
                    yield n, t

    def _ends_elsewhere(self, n: int) -> Iterator[tuple[int, int]]:
        """In time, an asynchronous operation is issued before other threads see it done: a copy in another CTA (L11; at
        home the arrive that announces a kernel's copy orders as much, without an axiom), a wgmma in its warpgroup
        (L12)."""
        item = self.u.items[n]
        match item.event.completion:
            case TxOn() as copy if self.needs.temporal and "L11" in self.axioms:
                away = cta_meant(self.u.program, item) != item.first // self.u.program.threads
                if away or not self.u.program.sequential:
                    yield from self._completes(copy, item, self.u.number(n, item.first))
            case InGroup(Group.WGMMA) if self.needs.temporal and "L12" in self.axioms:
                yield from self._group_waits(Group.WGMMA, item, self.u.number(n, item.first))
            case _:
                return

    def _landed(self, thread: int) -> Iterator[tuple[int, int]]:
        """Awaits of a phase that completes only when the source, a copy of `thread`, has landed."""
        cta = thread // self.u.program.threads
        for n in self.u.trace(thread):
            item = self.u.items[n]
            action, hold = item.event.action, item.event.completion
            if item.key <= self.source.key:
                continue
            if isinstance(hold, TxOn) and hold.holds:
                yield from self._completes(hold, item, self.u.number(n, thread))
            if isinstance(action, ArriveAction) and action.after_copies and self.u.barrier_cta(n) == cta:
                phase = self.u.number(n, thread)
                yield from ((ws[0].index, ws[0].thread) for ws in self._ended(action.barrier, cta, phase) if ws)

    def _completes(self, completion: TxOn, copy: Occurrence, phase: int) -> Iterator[tuple[int, int]]:
        """Awaits that return only when the copy is done: of its phase, or a later one of the same mbarrier."""
        for waits in self._ended(completion.barrier, cta_meant(self.u.program, copy), phase):
            yield from ((w.index, w.thread) for w in waits[:1])

    def _ended(self, barrier: str, cta: int, phase: int) -> Iterator[list[_Waiting]]:
        """Per thread, awaits on a CTA's barrier that return only after a phase, and tell of it: for it, or a later one
        of the same mbarrier."""
        ring = self.u.program.barriers[barrier].ring
        if (barrier, cta) not in self.waits:
            slots: dict[int, dict[int, list[_Waiting]]] = {}
            for n in self.u.waits.get((barrier, cta), ()):
                action = self.u.items[n].event.action
                for t in self.threads.intersection(self.u.items[n].threads):
                    if isinstance(action, AwaitAction):
                        waited = self.u.number(n, t)
                        slots.setdefault(waited % ring, {}).setdefault(t, []).append(_Waiting(n, t, waited, action))
            self.waits[barrier, cta] = slots
        for waits in self.waits[barrier, cta].get(phase % ring, {}).values():
            if waits[-1].phase >= phase:
                yield [w for w in waits if ends_after(phase, w.phase, ring) and self.needs.acquired(w.action)]

    def _next(self, thread: int, key: Key) -> Iterator[tuple[int, int]]:
        at = bisect_right(self.u.keys(thread), key)
        trace = self.u.trace(thread)
        if at < len(trace):
            yield from self._enter(trace[at], thread)

    def _enter(self, n: int, thread: int) -> Iterator[tuple[int, int]]:
        """A barrier is one node, named by its first thread; everything else is a node of its own thread."""
        item = self.u.items[n]
        yield n, item.first if item.event.exec is Exec.TOGETHER else thread

    def _successors(self, n: int, thread: int, missing: frozenset[Side]) -> Iterator[tuple[int, int]]:
        item = self.u.items[n]
        if self._first_to_leave(item, n, thread, missing):
            for t in self._leaving(item, thread):
                yield from self._next(t, item.key)
        if isinstance(item.event.action, ArriveAction) and self._first_to_tell(item.event.action, n, thread, missing):
            yield from self._woken(item, thread, self.u.barrier_cta(n), self.u.number(n, thread))
        if (n, missing) not in self.ended:  # the same for every thread that executes it
            self.ended.add((n, missing))
            yield from self._ends_elsewhere(n)

    def _first_to_leave(self, item: Occurrence, n: int, thread: int, missing: frozenset[Side]) -> bool:
        """No lane of its warp has left the event with all others yet."""
        key = (n, thread // WARP, missing)
        known = self.needs.temporal and item.event.aligned and key in self.left
        self.left.add(key)
        return not known

    def _first_to_tell(self, signal: ArriveAction, n: int, thread: int, missing: frozenset[Side]) -> bool:
        """No arrive for this phase has handed on as much yet: the others only lead where the first does."""
        if not self.needs.through(signal, self.axioms):
            return False
        phase = (signal.barrier, self.u.barrier_cta(n), self.u.number(n, thread))
        told = (*phase, thread // self.u.program.threads, signal.local, missing)
        fresh = told not in self.told
        self.told.add(told)
        return fresh

    def _leaving(self, item: Occurrence, thread: int) -> Iterator[int]:
        if item.event.exec is Exec.TOGETHER:
            # the source's own threads first: such paths need fewer nodes
            shared = self.threads.intersection(item.threads)
            yield from sorted(shared, key=lambda t: (t not in self.source.threads, t))
        elif self.needs.temporal and item.event.aligned:
            warp = thread // WARP * WARP
            yield from self.threads.intersection(range(warp, warp + WARP), item.threads)
        else:
            yield thread

    def _reaches(self, n: int, thread: int, target: Occurrence) -> bool:
        item = self.u.items[n]
        if item.key >= target.key:
            return False
        return not self._joining(target).isdisjoint(self._leaving(item, thread))

    def _joining(self, target: Occurrence) -> frozenset[int]:
        """The threads that have to come before the target happens: in time, those of its whole warp if it is aligned
        (PTX ISA, bar: an arrival is that of a warp), or those of its lanes that execute it."""
        if not self.needs.temporal or not target.event.aligned:
            return frozenset(target.threads)
        first, size = target.first // WARP * WARP, target.event.size
        if size < WARP:
            first = evaluate(target.event.first, target.env)
        return frozenset(range(first, max(first + min(size, WARP), target.first + target.width)))

    # -- result --------------------------------------------------------------------------------------------------

    def _unwind(self, state: _State, parents: dict[_State, _State | None]) -> list[PathNode]:
        nodes: list[PathNode] = []
        at: _State | None = state
        while at is not None:
            nodes.append(PathNode(at[0], self.u.items[at[0]], at[1]))
            at = parents[at]
        return nodes[::-1]


def warpgroup(program: Program, item: Occurrence) -> range:
    """The threads of the warpgroup, counted from the start of the CTA, that an occurrence belongs to."""
    cta = item.first // program.threads * program.threads
    first = cta + (item.first - cta) // WARPGROUP * WARPGROUP
    return range(first, first + WARPGROUP)


def shorten(search: Search, path: list[PathNode], target: Occurrence) -> list[PathNode]:
    """A subsequence of `path` that is still a path: later nodes are dropped first."""
    kept = list(path)
    for node in reversed(path):
        trial = [n for n in kept if n is not node]
        if trial and search.is_path(trial, target):
            kept = trial
    return kept
