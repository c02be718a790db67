"""The parallel program: a flat list of events with their place in the program, their executors and their effects.

Kernels and sync skeletons lower to this, and everything behind it is written against this alone.

An event's `path` is its place: one step per enclosing loop, outermost first, then the event itself. A step's `position`
is the preorder number inside the enclosing loop body, so two instances compare lexicographically by (position,
iteration, position, ...). Thread loops are part of the path: in the sequential order they are loops, in the parallel
program their iteration says which threads execute.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from exogpu.ir.index import Bool, Cond, Index, Int
from exogpu.ir.instr import Effect, Group, Mode, Proxy
from exogpu.ir.pools import Storage
from exogpu.ir.types import Memory
from exogpu.smt.functions import applied
from exogpu.source import Span
from exogpu.verify.axioms import ASSUMED
from exogpu.verify.memo import Memo
from exogpu.verify.selection import Selection

T = TypeVar("T")


class LoopKind(enum.Enum):
    """`TASK`: the cluster's walk over its tasks; `SEQ`: every executing thread in order; `THREADS`: across units;
    `CTAS`: one effect for each of several CTAs, in order, by the same threads."""

    TASK = "task"
    SEQ = "seq"
    THREADS = "threads"
    CTAS = "ctas"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the parallel program; `unit` is the size of a THREADS iteration's collective and `base` the first
    thread of the collective that it divides."""

    var: str
    lo: Index
    hi: Index
    kind: LoopKind
    unit: int = 0
    base: Index | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One level of a path; the first `guards` guards of the event are tested outside it."""

    position: int
    loop: Loop | None
    guards: int = 0


@dataclass(frozen=True, slots=True)
class Aligned:
    """`index`, the first index in dimension `dim` of an access to `buffer`, is a multiple of `multiple`."""

    buffer: str
    dim: int
    index: Index
    multiple: int


@dataclass(frozen=True, slots=True)
class Computed:
    """An index expression that is evaluated, under the conditions that guard its evaluation."""

    index: Index
    under: tuple[Cond, ...] = ()


class Exec(enum.Enum):
    """Which threads of its collective perform an event: each for itself, only the first, all together as one
    event (a barrier), or each warp as one (warp-collective asynchronous operations)."""

    EACH = "each"
    FIRST = "first"
    TOGETHER = "together"
    WARPS = "warps"


@dataclass(frozen=True, slots=True)
class Access:
    """A rectangular access `lo..lo+extent` per dimension. `warp_dim` is divided over the warps of the unit.
    `clipped`: dimensions in which elements outside the buffer are skipped. `guards` are extra conditions."""

    buffer: str
    dims: tuple[tuple[Index, int], ...]
    mode: Mode
    proxy: Proxy
    span: Span
    warp_dim: int | None = None
    clipped: tuple[int, ...] = ()
    guards: tuple[Cond, ...] = ()


@dataclass(frozen=True, slots=True)
class FenceAction:
    """A barrier among the threads of the collective."""


@dataclass(frozen=True, slots=True)
class MeetAction:
    """The lanes of a warp meet: in time, nothing is published."""


@dataclass(frozen=True, slots=True)
class PublishAction:
    """Initialisations of mbarriers by the thread are published by its later arrives, relaxed ones included (PTX ISA,
    fence.mbarrier_init)."""


@dataclass(frozen=True, slots=True)
class ArriveAction:
    """Arrival on the barrier of a CTA (None: the arriving thread's), with expected transaction bytes; a `relaxed` one
    publishes nothing, nor does any without its `axiom`, and a `local` one only to threads of its own CTA.
    `after_copies`: performed when the thread's cp.async have landed, and publishing those alone. `waits`: its threads
    then await the same phase."""

    barrier: str
    tx: int
    cta: Index | None = None
    relaxed: bool = False
    after_copies: bool = False
    waits: bool = False
    axiom: str = ""
    local: bool = False


@dataclass(frozen=True, slots=True)
class ExpectAction:
    """More transaction bytes in the current phase of the barrier of a CTA (None: the thread's), without an arrival."""

    barrier: str
    tx: int
    cta: Index | None = None


@dataclass(frozen=True, slots=True)
class AwaitAction:
    """Wait for phase (number of earlier awaits of this thread) - lag of its CTA's barrier, or of the CTA `cta`;
    `joined`: for that of its latest arrive. `relaxed`: acquires nothing; `local`: only what threads of its own CTA
    release."""

    barrier: str
    lag: int
    joined: bool = False
    cta: Index | None = None
    relaxed: bool = False
    local: bool = False


@dataclass(frozen=True, slots=True)
class WaitAction:
    """Commit-group wait, at most `pending` groups left; `ALL` waits for what is not committed, too."""

    group: Group
    pending: int
    reads_only: bool


@dataclass(frozen=True, slots=True)
class LifeAction:
    """The beginning or the end of an mbarrier."""


@dataclass(frozen=True, slots=True)
class ExitAction:
    """The end of a CTA."""


Action = (
    FenceAction
    | MeetAction
    | PublishAction
    | ArriveAction
    | ExpectAction
    | AwaitAction
    | WaitAction
    | LifeAction
    | ExitAction
    | Effect
)

ALL = -1
"""`pending` of a wait that covers the open group."""


@dataclass(frozen=True, slots=True)
class TxOn:
    """Completes with `bytes` on the barrier of a CTA (None: the issuer's), on the phase with the number of the issuer's
    next arrive on its own CTA's barrier. `holds`: has no bytes, but keeps the phase open until the issuer's cp.async
    have landed."""

    barrier: str
    bytes: int
    cta: Index | None = None
    holds: bool = False


@dataclass(frozen=True, slots=True)
class InGroup:
    """Completes with the issuer's next commit of this kind."""

    group: Group


@dataclass(frozen=True, slots=True)
class Counted:
    """The phase of a signal or a wait is the number of earlier executions of the events `of` by its thread on the same
    CTA's barrier, divided by `rate`, less `lag`."""

    of: tuple[int, ...]
    rate: int = 1
    lag: int = 0


@dataclass(frozen=True, slots=True)
class Stated:
    """The phase of a signal or a wait is the value of an index expression."""

    index: Index


@dataclass(frozen=True, slots=True)
class Counter:
    """A variable of a thread: `start`, and `by` more for each earlier execution of an event, modulo `modulus`; of the
    events' first `within` loops only the current iteration counts. With a `divisor`, it is one more each time that the
    steps, from `ahead` on, have come to a multiple of that."""

    start: int
    steps: tuple[tuple[int, int], ...]
    modulus: int | None = None
    within: int = 0
    divisor: int = 1
    ahead: int = 0


ALWAYS = Bool(True)


@dataclass(frozen=True, slots=True)
class Applied:
    """A variable that stands for an unknown number in 0 .. below - 1 (without `below`, any), which depends on `args`
    alone; `holds` is known of it, over the variable itself, those of the arguments, and sizes."""

    name: str
    args: tuple[Index, ...]
    below: int | None
    holds: Cond = ALWAYS

    def at(self, values: tuple[int, ...]) -> str:
        """The name under which concrete sizes hold the number for these arguments; 0 if they do not."""
        return applied(self.name, values)


Derived = Counter | Applied


@dataclass(frozen=True, slots=True)
class Event:
    """One statement's events. `completion` is None for in-order events. `pipeline` names the instruction shape for
    which two operations on one tile run in order (wgmma). `selection` says which unit of its role executes
    (None: all of the role); `chooses` is the choice of one, by all of them. `numbering` says of which phase a signal or
    wait is; without, it follows from the thread's earlier arrives and awaits."""

    id: int
    label: str
    role: str
    span: Span
    path: tuple[Step, ...]
    guards: tuple[Cond, ...]
    first: Index
    size: int
    exec: Exec
    accesses: tuple[Access, ...] = ()
    action: Action | None = None
    completion: TxOn | InGroup | None = None
    aligned: bool = False
    pipeline: str | None = None
    computed: tuple[Computed, ...] = ()
    alignments: tuple[Aligned, ...] = ()
    selection: Selection | None = None
    chooses: Selection | None = None
    numbering: Counted | Stated | None = None

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Enclosing loops, outermost first."""
        return tuple(s.loop for s in self.path if s.loop is not None)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A memory object. `alloc` is the id of the allocation event (None for arguments), `first` the first thread of the
    collective that allocates it. `per_cta`: the first dimension numbers the CTAs of the cluster, each of which holds
    its part. `storage`: where it lies in a pool of shared memory. With a `selection`, each unit of the role has slots
    of its own."""

    name: str
    memory: Memory
    shape: tuple[Index, ...]
    element_bytes: int
    alloc: int | None
    span: Span
    first: Index
    per_cta: bool = False
    storage: Storage | None = None
    selection: Selection | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier: in every CTA `ring` mbarriers; each phase waits for `count` arrivals. A `named` one is a single named
    barrier in every CTA, whose phases are its generations (`whole`: all threads join it that have not ended); a `split`
    one is the cluster's, kept with CTA 0. A `flag` is an integer in global memory, likewise, which rises by phases."""

    name: str
    ring: int
    count: int
    span: Span
    named: bool = False
    split: bool = False
    flag: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class TaskVar:
    """A task coordinate and its range."""

    name: str
    lo: Index
    hi: Index


@dataclass(frozen=True, slots=True)
class Program:
    """The parallel program of one cluster of `cluster` CTAs with `threads` threads each; `tasks` are the coordinates of
    its current task, `axioms` those of the memory model that orderings may use. Thread t of CTA c has the number
    c * threads + t. Unless it is `sequential`, places order only what one thread executes. `derived` variables have
    values that follow from others."""

    name: str
    span: Span
    sizes: tuple[str, ...]
    requires: tuple[Cond, ...]
    threads: int
    cluster: int
    persistent: bool
    tasks: tuple[TaskVar, ...]
    buffers: dict[str, Buffer]
    barriers: dict[str, Barrier]
    events: tuple[Event, ...]
    axioms: frozenset[str] = field(default=ASSUMED, repr=False)
    sequential: bool = True
    derived: dict[str, Derived] = field(default_factory=dict)
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def everybody(self) -> range:
        """All threads of the cluster."""
        return range(self.threads * self.cluster)

    def over_ctas(self, loop: Loop) -> bool:
        """The loop divides the cluster: its iterations are the CTAs."""
        return loop.kind is LoopKind.THREADS and loop.unit == self.threads and loop.base in (None, Int(0))

    def is_coordinate(self, name: str) -> bool:
        """A variable is a coordinate of the task."""
        return any(t.name == name for t in self.tasks)

    @property
    def of_any_walk(self) -> Program:
        """For instances that are not of one walk: coordinates say nothing about places in it."""
        derived = {name: d for name, d in self.derived.items() if not self.is_coordinate(name)}
        if len(derived) == len(self.derived):
            return self
        return self.memo.once(Program, lambda: replace(self, derived=derived))

    def once(self, what: Hashable, event: Event, make: Callable[[], T]) -> T:
        """What `make` works out about an event: once, unless the event is only a variation of one of the program's."""
        return self.memo.once((what, event.id), make) if event is self.events[event.id] else make()


TASK = "$task"
TASKS = "$tasks"
"""The cluster-local ordinal of a task, and the number of tasks that the cluster walks."""
