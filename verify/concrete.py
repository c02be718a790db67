"""The explicit engine: a program unrolled at concrete sizes, with phases and groups counted by walking each thread.

Independent of the SMT encoding: it enumerates instances, walks every thread's trace in program order to number its
arrives, awaits, commits and copies, and compares places as tuples. `verify.graph` searches happens-before paths in it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Commit, Group
from exogpu.verify.derived import concrete, used
from exogpu.verify.instance import LANE, WARP_OF_UNIT
from exogpu.verify.nest import Nest, TooLarge, nest
from exogpu.verify.program import (
    ArriveAction,
    AwaitAction,
    Counted,
    Event,
    Exec,
    ExpectAction,
    InGroup,
    Program,
    Stated,
    TxOn,
    WaitAction,
)
from exogpu.verify.walk import all_tasks, named

Env = Mapping[str, int]
Key = tuple[int, ...]

LIMIT = 40_000
"""Most instances that one unrolling may have."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A concrete instance: event, variable values, place in the sequential order, first thread and their number."""

    event: Event
    env: Env
    key: Key
    first: int
    width: int

    @property
    def threads(self) -> range:
        """The threads that perform it."""
        return range(self.first, self.first + self.width)


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one thread's walk assigns to an occurrence: phase of an arrive, await or copy; group of an operation;
    commits done before a wait."""

    value: int


def order_key(event: Event, env: Env) -> Key:
    """The place of an instance in the sequential order; compares as a tuple."""
    key: list[int] = []
    for step in event.path:
        key.append(step.position)
        if step.loop is not None:
            key.append(env[step.loop.var])
    return tuple(key)


def cta_meant(program: Program, item: Occurrence) -> int:
    """The CTA whose barrier an arrive, an announcement, an await or a copy means."""
    match item.event.action, item.event.completion:
        case (ArriveAction(cta=cta) | ExpectAction(cta=cta) | AwaitAction(cta=cta), _) | (_, TxOn(cta=cta)) if (
            cta is not None
        ):
            return evaluate(cta, item.env)
        case _:
            return item.first // program.threads


def occurrences(
    program: Program, event: Event, sizes: Env, tasks: Mapping[int, Env], ctas: frozenset[int] | None = None
) -> Iterator[Occurrence]:
    """Every instance of an event, the threads of one instance together; at least those by threads of `ctas`, if given.
    `tasks` gives the coordinates of each task of the CTA by ordinal (`all_tasks`)."""

    walk = _nest(program, event)
    for env in walk.environments(sizes, tasks, ctas):
        first = walk.first(env)
        key = walk.key(env)
        match event.exec:
            case Exec.FIRST:
                yield Occurrence(event, env, key, first, 1)
            case Exec.WARPS:
                for warp in range(event.size // WARP):
                    yield Occurrence(event, {**env, WARP_OF_UNIT: warp}, key, first + WARP * warp, WARP)
            case Exec.EACH:
                yield from _by_cta(program, Occurrence(event, env, key, first, event.size))
            case Exec.TOGETHER:
                yield Occurrence(event, env, key, first, event.size)


def _by_cta(program: Program, whole: Occurrence) -> Iterator[Occurrence]:
    """The parts of a collective's instance in each CTA, which has barriers of its own."""
    start, end = whole.first, whole.first + whole.width
    while start < end:
        stop = min(end, (start // program.threads + 1) * program.threads)
        yield Occurrence(whole.event, whole.env, whole.key, start, stop - start)
        start = stop


def _nest(program: Program, event: Event) -> Nest:
    names = [name for name in used(program, event) if not program.is_coordinate(name)]
    derived = [(name, partial(concrete, program, name, event)) for name in names]
    return program.once(nest, event, lambda: nest(program, event, tuple(derived)))


def locate(event: Event, env: Env) -> Occurrence:
    """The occurrence of one instance whose variables (lane included) are known."""
    first, width = evaluate(event.first, env), 1
    match event.exec:
        case Exec.EACH:
            first += env.get(LANE, 0)
        case Exec.WARPS:
            first, width = first + WARP * env[WARP_OF_UNIT], WARP
            if LANE in env:
                first, width = first + env[LANE], 1
        case Exec.TOGETHER:
            width = event.size
        case Exec.FIRST:
            pass
    return Occurrence(event, env, order_key(event, env), first, width)


def whole(item: Occurrence) -> Occurrence:
    """A warp-collective operation, if the occurrence is a lane of one."""
    if item.event.exec is not Exec.WARPS or LANE not in item.env:
        return item
    return locate(item.event, {name: value for name, value in item.env.items() if name != LANE})


@dataclass(frozen=True, slots=True)
class Part:
    """The part of an unrolling that paths between two instances are looked for in: what threads of `ctas` do. Of the
    operations of commit groups it has only `ends` (ids of events): no path goes through another."""

    ends: frozenset[int]
    ctas: frozenset[int]

    def includes(self, event: Event) -> bool:
        """Whether it has any instance of an event."""
        return event.id in self.ends or not isinstance(event.completion, InGroup)


class Unrolling:
    """Synchronisation and asynchronous events of a cluster at concrete sizes, or a `part` of them.

    `tasks` gives coordinates of some of its tasks by ordinal.
    """

    def __init__(self, program: Program, sizes: Env, tasks: Mapping[int, Env], part: Part | None = None) -> None:
        tasks = all_tasks(program, sizes, tasks)
        sizes = {**sizes, **named(program, tasks)}
        self.program = program
        self.sizes = sizes
        self.ctas = frozenset(range(program.cluster)) if part is None else part.ctas
        self.items: list[Occurrence] = []
        for event in program.events:
            if event.action is None and event.completion is None:
                continue
            if part is not None and not part.includes(event):
                continue
            for item in occurrences(program, event, sizes, tasks, self.ctas):
                self.items.append(item)
                if len(self.items) > LIMIT:
                    raise TooLarge(f"more than {LIMIT} events")
        self.items.sort(key=lambda o: o.key)
        self._traces: dict[int, list[int]] = {}
        self._performed: dict[tuple[int, int], list[int]] = {}
        for n, o in enumerate(self.items):
            self._performed.setdefault((o.first, o.first + o.width), []).append(n)
        self._numbers: dict[tuple[int, int], int] = {}
        self._trace_keys: dict[int, list[Key]] = {}
        self._keys: dict[int, list[Key]] = {}
        self.tasks = tasks

    def trace(self, thread: int) -> list[int]:
        """Indices into `items` of what a thread performs, in program order; numbers them on the first call."""
        thread = self._alike(thread)
        if thread not in self._traces:
            mine = sorted(chain.from_iterable(ns for (lo, hi), ns in self._performed.items() if lo <= thread < hi))
            self._traces[thread] = mine
            self._number(thread, mine)
        return self._traces[thread]

    def keys(self, thread: int) -> list[Key]:
        """The places of what a thread performs, in program order."""
        first = self._alike(thread)
        if first not in self._trace_keys:
            self._trace_keys[first] = [self.items[n].key for n in self.trace(first)]
        return self._trace_keys[first]

    def _alike(self, thread: int) -> int:
        """The first of the threads around this one that perform the same, and so give it the same numbers."""
        return self._bounds[bisect_right(self._bounds, thread) - 1]

    @cached_property
    def _bounds(self) -> list[int]:
        """Where threads begin that perform something else than those before, or are of another CTA. Where units take
        turns, they are divided in one way, since each counts what the others perform."""
        starts = range(0, len(self.program.everybody), self.program.threads)
        bounds = {*starts, *chain.from_iterable(self._performed)}
        for turns in {self.items[n].event.selection for n in self._chosen}:
            if turns is not None:
                bounds |= {start + turns.base + part for start in starts for part in (0, turns.count * turns.size)}
                bounds |= {peer for bound in bounds if turns.includes(bound) for peer in turns.peers(bound)}
        return sorted(bounds)

    def _with_turns(self, thread: int, trace: list[int]) -> list[int]:
        """The trace with what the thread's peers perform when it is their turn."""
        turns: list[int] = []
        for n in self._chosen:
            item = self.items[n]
            selection = item.event.selection
            if selection is not None and selection.includes(thread):
                turns += [n] if any(t in item.threads for t in selection.peers(thread)) else []
        return sorted({*trace, *turns}) if turns else trace

    @cached_property
    def _chosen(self) -> list[int]:
        """What one unit of a role performs for all of them."""
        return [n for n, o in enumerate(self.items) if o.event.selection is not None]

    def _number(self, thread: int, trace: list[int]) -> None:
        arrives: dict[tuple[str, int], int] = {}
        awaits: dict[str, int] = {}
        commits: dict[Group, int] = {}
        own = thread // self.program.threads
        mine = set(trace)
        done: dict[tuple[int, int], int] = {}
        for n in self._with_turns(thread, trace):
            event = self.items[n].event
            if n not in mine and not isinstance(event.action, ArriveAction | AwaitAction):
                continue
            if event.numbering is not None:
                self._numbers[n, thread] = self._numbered(n, event.numbering, done)
                done[event.id, self.barrier_cta(n)] = done.get((event.id, self.barrier_cta(n)), 0) + 1
                continue
            match event.action:
                case ArriveAction(barrier):
                    through = (barrier, self.barrier_cta(n))
                    self._numbers[n, thread] = arrives.get(through, 0)
                    arrives[through] = arrives.get(through, 0) + 1
                case AwaitAction(barrier, joined=True):
                    self._numbers[n, thread] = arrives.get((barrier, self.barrier_cta(n)), 0) - 1
                case AwaitAction(barrier, lag):
                    self._numbers[n, thread] = awaits.get(barrier, 0) - lag
                    awaits[barrier] = awaits.get(barrier, 0) + 1
                case Commit(group):
                    self._numbers[n, thread] = commits.get(group, 0)
                    commits[group] = commits.get(group, 0) + 1
                case WaitAction(group):
                    self._numbers[n, thread] = commits.get(group, 0)
                case _:
                    match event.completion:
                        case TxOn(barrier):
                            self._numbers[n, thread] = arrives.get((barrier, own), 0)
                        case InGroup(group):
                            self._numbers[n, thread] = commits.get(group, 0)
                        case None:
                            pass

    def _numbered(self, index: int, numbering: Counted | Stated, done: Mapping[tuple[int, int], int]) -> int:
        match numbering:
            case Stated(phase):
                return evaluate(phase, self.items[index].env)
            case Counted(of, rate, lag):
                return sum(done.get((e, self.barrier_cta(index)), 0) for e in of) // rate - lag

    def barrier_cta(self, index: int) -> int:
        """The CTA whose barrier an occurrence signals or waits on."""
        return cta_meant(self.program, self.items[index])

    def number(self, index: int, thread: int) -> int:
        """The phase, group or commit count that the walk of `thread` gave to occurrence `index`."""
        self.trace(thread)
        return self._numbers[index, self._alike(thread)]

    def number_at(self, item: Occurrence) -> int:
        """As `number`, for an occurrence found by its place."""
        thread = item.first
        for n in self.trace(thread):
            if self.items[n].key == item.key and self.items[n].event.id == item.event.id:
                return self._numbers[n, self._alike(thread)]
        raise KeyError(f"{item.event.label} is not executed there")

    def after(self, thread: int, key: Key) -> int | None:
        """The next occurrence of a thread strictly after a place."""
        trace = self.trace(thread)
        at = bisect_right(self.keys(thread), key)
        return trace[at] if at < len(trace) else None

    def executions(self, event_id: int, until: Occurrence) -> int:
        """How often an event was executed before an occurrence."""
        if event_id not in self._keys:
            found = occurrences(self.program, self.program.events[event_id], self.sizes, self.tasks)
            self._keys[event_id] = sorted({o.key for o in found})
        return bisect_right(self._keys[event_id], until.key)

    @cached_property
    def representatives(self) -> frozenset[int]:
        """The first thread of every warp and of every unit: enough to find paths, not to exclude them."""
        found = {*self.program.everybody[::WARP], *(first for first, _ in self._performed)}
        return frozenset(thread for thread in found if thread // self.program.threads in self.ctas)

    @cached_property
    def waits(self) -> Mapping[tuple[str, int], list[int]]:
        """Indices of the awaits on each barrier of each CTA."""
        out: dict[tuple[str, int], list[int]] = {}
        for n, o in enumerate(self.items):
            if isinstance(o.event.action, AwaitAction):
                out.setdefault((o.event.action.barrier, cta_meant(self.program, o)), []).append(n)
        return out
