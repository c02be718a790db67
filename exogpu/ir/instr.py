"""What an instruction declares: signature, contract, meaning, timeline, footprint and emission.

An instruction is one `Instr` value in one file of `exogpu/isa`; nothing else in the package knows it by name.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from exogpu.ir.types import Memory, Scalar

if TYPE_CHECKING:
    from exogpu.ir.emission import Emission
    from exogpu.ir.index import Index
    from exogpu.ir.stmt import InstrCall, Stmt


class Mode(enum.Enum):
    """How a footprint touches memory. Two `REDUCE`s of one location by one proxy commute and are no conflict."""

    READ = "read"
    WRITE = "write"
    REDUCE = "reduce"


class Proxy(enum.Enum):
    """Through which proxy (PTX memory model, 8.6). `REGISTER` marks wgmma's asynchronous register accesses,
    which need wgmma.fence instead of a proxy fence."""

    GENERIC = "generic"
    ASYNC = "async"
    REGISTER = "register"


@dataclass(frozen=True, slots=True)
class Footprint:
    """One access: all elements of the window `operand`. With `warp_dim` d, ranged dimension d of the window is
    divided evenly over the warps of the executing unit (wgmma and fragment accesses)."""

    operand: str
    mode: Mode
    proxy: Proxy
    warp_dim: int | None = None


class Group(enum.Enum):
    """Commit-group counters: wgmma groups are per warp, bulk and cp.async groups per thread."""

    WGMMA = "wgmma"
    BULK = "bulk"
    COPY = "cp.async"


@dataclass(frozen=True, slots=True)
class InOrder:
    """Finished when the next instruction of the thread starts."""


@dataclass(frozen=True, slots=True)
class CompleteTx:
    """Asynchronous; completes on the barrier operand with the bytes of the window `data`."""

    barrier: str
    data: str


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Asynchronous; completes with its commit group."""

    group: Group


@dataclass(frozen=True, slots=True)
class HoldsPhase:
    """Keeps the phase of the thread's next Arrive on the barrier operand open until all cp.async that the thread has
    issued have landed (PTX cp.async.mbarrier.arrive): no arrival of its own, since it first adds one to those pending.
    """

    barrier: str


Completion = InOrder | CompleteTx | GroupMember | HoldsPhase


@dataclass(frozen=True, slots=True)
class Commit:
    """Closes the current commit group."""

    group: Group


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """Waits until at most `operand` youngest groups are pending, or without `operand` for every operation, committed or
    not; `reads_only`: only source reads are done."""

    group: Group
    operand: str | None
    reads_only: bool = False


@dataclass(frozen=True, slots=True)
class ProxyFence:
    """Orders the executing thread's generic accesses with the async proxy (PTX fence.proxy.async): of shared memory
    only, or of every state space."""

    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class WgmmaFence:
    """Orders register accesses with later wgmma (PTX wgmma.fence)."""


@dataclass(frozen=True, slots=True)
class CopyArrive:
    """The thread's arrive on `barrier`, performed when all cp.async that it has issued have landed (PTX
    cp.async.mbarrier.arrive.noinc): it counts as an Arrive, and publishes those copies only."""

    barrier: str


@dataclass(frozen=True, slots=True)
class NamedArrive:
    """Every thread joins the next generation of the named barrier `barrier` (PTX bar.arrive); with `waits` it waits
    until the generation is complete (PTX bar.sync)."""

    barrier: str
    waits: bool = False


@dataclass(frozen=True, slots=True)
class ClusterArrive:
    """Every thread joins the cluster's next generation (PTX barrier.cluster.arrive); a relaxed arrive publishes
    nothing."""

    relaxed: bool = False


@dataclass(frozen=True, slots=True)
class ClusterWait:
    """Waits until the generation that the thread has joined is complete (PTX barrier.cluster.wait)."""


Effect = ClusterArrive | ClusterWait | Commit | WaitGroup | ProxyFence | WgmmaFence | CopyArrive | NamedArrive


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: a window of given rank (0: any) in one of `memories` with one of `dtypes` (empty: any), an mbarrier,
    a named barrier, a literal integer, a condition, or a per-element function."""

    name: str
    kind: Literal["window", "barrier", "named", "int", "cond", "fn"]
    rank: int = 0
    memories: tuple[type[Memory], ...] = ()
    dtypes: tuple[Scalar, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class BufferInfo:
    """What an instruction may know of a buffer: element type, memory, and shape (literal unless global)."""

    dtype: Scalar
    memory: Memory
    shape: tuple[Index, ...]


Buffers = Mapping[str, BufferInfo]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The window's first index in dimension `dim` (negative: from the last) is a multiple of `multiple` elements.
    In the last dimension of a global tensor, its base address and row pitch must be multiples of as many bytes,
    too, which the runtime checks."""

    operand: str
    dim: int
    multiple: int


def _nothing(call: InstrCall, buffers: Buffers) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True)
class Instr:
    """An instruction.

    `unit`: threads of the collective that executes it (0: any).
    `aligned`: `.sync.aligned`, all threads of each warp execute it together. `zero_fill`: windows whose
    out-of-bounds elements read as 0 or are not written, in the ranged dimensions, and with `fills_points` in all.
    `contract` returns the violated static rules, as sentences. `meaning` is the sequential body.
    `pipelined` gives wgmma's shape: two wgmma of one shape that write equal windows of registers run in order
    (PTX wgmma.fence, exemption). `spread` names a window in shared memory whose
    first range is over CTAs: the instruction is one operation for each of them, completing on that CTA's barrier.
    `weaker` is an instruction of the same parameters that waits for less, or orders less.
    """

    name: str
    params: tuple[Param, ...]
    unit: int
    footprints: tuple[Footprint, ...] = ()
    completion: Completion = field(default_factory=InOrder)
    effect: Effect | None = None
    aligned: bool = False
    zero_fill: tuple[str, ...] = ()
    fills_points: bool = False
    alignments: Callable[[InstrCall, Buffers], tuple[Alignment, ...]] = field(default=_nothing, repr=False)
    contract: Callable[[InstrCall, Buffers], tuple[str, ...]] = field(default=_nothing, repr=False)
    meaning: Callable[[InstrCall, Buffers], tuple[Stmt, ...]] = field(default=_nothing, repr=False)
    emission: Callable[[InstrCall, Buffers], tuple[Emission, ...]] = field(default=_nothing, repr=False)
    pipelined: Callable[[InstrCall], str] | None = field(default=None, repr=False)
    spread: str | None = None
    weaker: Instr | None = None
    source: str = ""
