"""Procedures: arguments, launch configuration, barriers and the body."""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.ir.index import Cond, Index
from exogpu.ir.stmt import Stmt
from exogpu.ir.types import Scalar
from exogpu.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class SizeArg:
    """A non-negative 32-bit size, at most `MAX_SIZE`."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


MAX_COUNT = 2**20 - 1
"""Largest arrival count and transaction count of an mbarrier (PTX ISA, mbarrier)."""
MAX_CLUSTER = 8
"""Most CTAs of a portable cluster (CUDA programming guide, thread block clusters)."""
MAX_SIZE = 2**30
"""Largest value of a size argument; the runtime checks it, the overflow proofs use it."""


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A data scalar passed by value."""

    name: str
    dtype: Scalar
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TensorArg:
    """A global tensor; its shape is over size arguments. Row-major, last dimension contiguous."""

    name: str
    dtype: Scalar
    shape: tuple[Index, ...]
    span: Span = field(default=NOWHERE, compare=False)


Arg = SizeArg | ScalarArg | TensorArg


@dataclass(frozen=True, slots=True)
class RoleDecl:
    """Consecutive threads of the CTA. `regs` asks for setmaxnreg (registers per thread) at role entry; `by_warps`:
    declared in warps, although its threads are whole warpgroups."""

    name: str
    first: int
    threads: int
    regs: int | None = None
    span: Span = field(default=NOWHERE, compare=False)
    by_warps: bool = False

    @property
    def unit(self) -> int:
        """Threads of one unit: a warpgroup, or a warp if the role is declared in warps."""
        return 32 if self.by_warps or self.threads % 128 else 128


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch configuration: the CTA's threads, its roles in thread order (none for `block(n)`), whether a
    CTA walks its tasks in a persistent loop, the raster group, and the CTAs that form a cluster.

    The CTAs of a cluster run one task together; thread numbers run through all of them, CTA after CTA. `clustered`:
    the kernel is written for clusters, also of one CTA, so a buffer in shared memory or registers that the cluster
    allocates has the CTA as its first dimension.

    `raster` g > 1 groups g consecutive values of the first task loop and walks them fastest inside the group
    (last loop next); 1 is row-major order. Any value visits every task exactly once.
    """

    threads: int
    roles: tuple[RoleDecl, ...] = ()
    persistent: bool = False
    raster: int = 1
    cluster: int = 1
    clustered: bool = False
    span: Span = field(default=NOWHERE, compare=False)


UNSCHEDULED = Launch(1)
"""Of an algorithm, which says what is computed and not by whom."""


@dataclass(frozen=True, slots=True)
class BarrierDecl:
    """A sequence of phases 0, 1, 2, ... kept in `ring` mbarriers: phase p uses mbarrier p mod ring, with
    parity (p div ring) mod 2. `count` is the number of arrivals that each phase waits for. Every CTA has its own."""

    name: str
    ring: int
    count: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NamedBarrier:
    """A named barrier of the CTA: a sequence of generations, each of which `count` threads join, whole warps. The k-th
    arrive or sync of a thread on it is for generation k."""

    name: str
    count: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Require:
    """A precondition on sizes; the runtime checks it before every launch."""

    cond: Cond
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Proc:
    """A kernel. The body is synchronisation, then one nest of task loops, then synchronisation; data is
    touched only inside the task loops."""

    name: str
    args: tuple[Arg, ...]
    requires: tuple[Require, ...]
    block: Launch
    barriers: tuple[BarrierDecl, ...]
    body: tuple[Stmt, ...]
    span: Span = field(default=NOWHERE, compare=False)
    named: tuple[NamedBarrier, ...] = ()
