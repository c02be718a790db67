"""The parallel program: a flat list of events with their place in the program, their executors and their effects.

Both ways in (kernels, sync skeletons) lower to this, and everything behind it is written against this alone.

An event's `path` is its place: one step per enclosing loop, outermost first, then the event itself. A step's
`position` is the preorder number inside the enclosing loop body, so two instances compare lexicographically by
(position, iteration, position, ...). Thread loops are part of the path: in the sequential order they are loops, in
the parallel program their iteration says which threads execute.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from exogpu.ir.index import Cond, Index
from exogpu.ir.instr import Effect, Group, Mode, Proxy
from exogpu.ir.types import Memory
from exogpu.source import Span


class LoopKind(enum.Enum):
    """`TASK`: the CTA's walk over its tasks; `SEQ`: every executing thread in order; `THREADS`: across units."""

    TASK = "task"
    SEQ = "seq"
    THREADS = "threads"


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
class ArriveAction:
    """Arrival on a barrier, with expected transaction bytes."""

    barrier: str
    tx: int


@dataclass(frozen=True, slots=True)
class AwaitAction:
    """Wait for phase (number of earlier awaits of this thread) - lag."""

    barrier: str
    lag: int


@dataclass(frozen=True, slots=True)
class WaitAction:
    """Commit-group wait, at most `pending` groups left."""

    group: Group
    pending: int
    reads_only: bool


@dataclass(frozen=True, slots=True)
class ExitAction:
    """The end of the CTA."""


Action = FenceAction | ArriveAction | AwaitAction | WaitAction | ExitAction | Effect


@dataclass(frozen=True, slots=True)
class TxOn:
    """Completes on the phase of the issuer's next arrive on `barrier`, with `bytes`."""

    barrier: str
    bytes: int


@dataclass(frozen=True, slots=True)
class InGroup:
    """Completes with the issuer's next commit of this kind."""

    group: Group


@dataclass(frozen=True, slots=True)
class Selection:
    """The unit `index` of a role of `count` units, `size` threads each, the first at thread `base`, executes.

    The units take turns at one program: each of their threads counts the executions of allocations, arrives and
    awaits by all of them.
    """

    index: Index
    count: int
    size: int
    base: int

    @property
    def threads(self) -> range:
        """All threads of the role."""
        return range(self.base, self.base + self.count * self.size)

    def peers(self, thread: int) -> tuple[int, ...]:
        """The threads at the place of `thread` in every unit, that of unit 0 first."""
        place = self.base + (thread - self.base) % self.size
        return tuple(place + self.size * unit for unit in range(self.count))


@dataclass(frozen=True, slots=True)
class Event:
    """One statement's events. `completion` is None for in-order events. `pipeline` names the instruction shape for
    which two operations on one accumulator run in order (wgmma). `selection` says which unit of its role executes
    (None: all of the role); `chooses` is the choice of one, by all of them."""

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

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Enclosing loops, outermost first."""
        return tuple(s.loop for s in self.path if s.loop is not None)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A memory object. `alloc` is the id of the allocation event (None for arguments), `first` the first thread of the
    collective that allocates it; with a `selection`, each unit of the role has slots of its own."""

    name: str
    memory: Memory
    shape: tuple[Index, ...]
    element_bytes: int
    alloc: int | None
    span: Span
    first: Index
    selection: Selection | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier: `ring` mbarriers, each phase waits for `count` arrivals."""

    name: str
    ring: int
    count: int
    span: Span


@dataclass(frozen=True, slots=True)
class TaskVar:
    """A task coordinate and its range."""

    name: str
    lo: Index
    hi: Index


@dataclass(frozen=True, slots=True)
class Program:
    """The parallel program of one CTA; `tasks` are the coordinates of its current task."""

    name: str
    span: Span
    sizes: tuple[str, ...]
    requires: tuple[Cond, ...]
    threads: int
    persistent: bool
    tasks: tuple[TaskVar, ...]
    buffers: dict[str, Buffer]
    barriers: dict[str, Barrier]
    events: tuple[Event, ...]


TASK = "$task"
TASKS = "$tasks"
"""The CTA-local ordinal of a task, and the number of tasks that the CTA walks."""
