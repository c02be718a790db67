"""The operations of a skeleton, one for each PTX instruction that takes part in synchronisation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from exogpu.ir.index import Cond, Index
from exogpu.ir.instr import Group, Mode
from exogpu.ir.skeleton.objects import Ref
from exogpu.source import NOWHERE, Span

Scope = Literal["cta", "cluster", "gpu", "sys"]


ALL = -1
"""`Wait.pending` of a cp.async wait that covers what is not committed, too."""


@dataclass(frozen=True, slots=True)
class Access:
    """An ordinary access, performed at once; REDUCE is an atomic update (red, atom)."""

    ref: Ref
    mode: Mode
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TmaLoad:
    """Bulk copy into shared memory: writes `dst`, then completes `tx` bytes on `barrier` (PTX cp.async.bulk, also of
    tensors). `multicast`: into the same place of each of these CTAs, with `tx` bytes on each one's barrier. It reads
    the global memory `src`, if that matters."""

    dst: Ref
    barrier: Ref
    tx: Index
    multicast: tuple[Index, ...] | None = None
    src: Ref | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class StAsync:
    """Asynchronous store into a peer's shared memory, completing `tx` bytes on that CTA's `barrier` (PTX st.async)."""

    dst: Ref
    barrier: Ref
    tx: Index
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TmaStore:
    """Bulk copy out of shared memory, in the thread's bulk group; `reduces`: adds to `dst` instead of writing it."""

    src: Ref
    dst: Ref | None = None
    reduces: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CpAsync:
    """Non-bulk asynchronous copy by every executing thread, in its cp.async group."""

    dst: Ref
    src: Ref | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Wgmma:
    """wgmma.mma_async by a warpgroup: `acc` += the product of `operands` (shared memory or registers). Operations of
    one `shape` on one accumulator run in order."""

    acc: Ref
    operands: tuple[Ref, ...]
    shape: str = ""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Commit:
    """Closes the current group."""

    group: Group
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits until at most `pending` groups are left (`ALL`: nothing at all); `reads_only`: until their sources are
    read."""

    group: Group
    pending: int
    reads_only: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Init:
    """mbarrier.init with an arrival count."""

    barrier: Ref
    count: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Inval:
    """mbarrier.inval."""

    barrier: Ref
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Arrive:
    """mbarrier.arrive with `count` arrivals, and `tx` expected bytes first."""

    barrier: Ref
    tx: Index | None = None
    count: int = 1
    relaxed: bool = False
    scope: Scope = "cta"
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Expect:
    """mbarrier.expect_tx: more bytes pending, no arrival."""

    barrier: Ref
    tx: Index
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CopyArrive:
    """cp.async.mbarrier.arrive: an arrival once the thread's earlier cp.async have landed; without `noinc` it is first
    added to those pending."""

    barrier: Ref
    noinc: bool = True
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Await:
    """mbarrier.try_wait.parity until it succeeds: waits while the phase's parity is `parity` mod 2."""

    barrier: Ref
    parity: Index
    relaxed: bool = False
    scope: Scope = "cta"
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BarSync:
    """bar.sync or, without `waits`, bar.arrive on the named barrier `id` for `count` threads (None: all of the CTA)."""

    id: Index
    count: int | None
    waits: bool = True
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class WarpSync:
    """__syncwarp by all lanes of each warp."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ClusterArrive:
    """barrier.cluster.arrive; a `relaxed` one publishes nothing."""

    relaxed: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ClusterWait:
    """barrier.cluster.wait, with acquire semantics."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ProxyFence:
    """fence.proxy.async, of shared memory or `everywhere`."""

    everywhere: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class WgmmaFence:
    """wgmma.fence."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class InitFence:
    """fence.mbarrier_init.release.cluster."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class MemoryFence:
    """fence.acq_rel at a scope (__threadfence is `gpu`)."""

    scope: Scope
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Signal:
    """A strong store of `value` to a flag or, with `adds`, an atomic addition; relaxed or release at `scope`."""

    flag: Ref
    value: Index
    adds: bool
    relaxed: bool
    scope: Scope
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Spin:
    """Waits, with acquire loads at `scope`, until the flag is at least `value`."""

    flag: Ref
    value: Index
    relaxed: bool
    scope: Scope
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SetMaxnreg:
    """setmaxnreg.inc or .dec to `registers` per thread."""

    registers: int
    increases: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Exit:
    """The executing threads end."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that holds whenever it is executed: an index that is the intended one, say."""

    cond: Cond
    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A feature without a model here."""

    feature: str
    span: Span = field(default=NOWHERE, compare=False)


Operation = (
    Access
    | TmaLoad
    | StAsync
    | TmaStore
    | CpAsync
    | Wgmma
    | Commit
    | Wait
    | Init
    | Inval
    | Arrive
    | Expect
    | CopyArrive
    | Await
    | BarSync
    | WarpSync
    | ClusterArrive
    | ClusterWait
    | ProxyFence
    | WgmmaFence
    | InitFence
    | MemoryFence
    | Signal
    | Spin
    | SetMaxnreg
    | Exit
    | Check
    | Unsupported
)
