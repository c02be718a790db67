"""Every thread's operations in program order, numbered as the language numbers them; the same for all schedules.

An operation is one execution of a statement by all threads that execute it together with equal loop iterations; a
thread's trace is the list of the operations that it takes part in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exogpu.ir.arrays import Numbers
from exogpu.ir.instr import Group, ProxyFence, WgmmaFence
from exogpu.source import Span
from exogpu.verify.simulator.layout import Place
from exogpu.verify.simulator.moves import Move

CLUSTER = "cluster"
"""The barrier of the cluster, which its threads join and pass in two steps."""


@dataclass(frozen=True, slots=True, eq=False)
class InOrder:
    """Data movement by the executing threads themselves."""

    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OnBarrier:
    """Bytes complete on a phase of the barrier of a CTA: `phases` and `ctas` by thread of the operation."""

    barrier: str
    bytes: int
    phases: Numbers
    ctas: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class InGroup:
    """Completes with a commit group: `ordinals` by thread of the operation."""

    group: Group
    ordinals: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class AfterCopies:
    """An arrival for `phases` of the barriers of `ctas`, once the thread's copies of a group kind have landed; one that
    `holds` is not counted for the phase, but keeps it open from its issue on."""

    group: Group
    barrier: str
    phases: Numbers
    ctas: Numbers
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class Issue:
    """An asynchronous operation: one flight for each `unit` threads. `chain` names operations that run in order if
    they write the same registers."""

    moves: tuple[Move, ...]
    completion: OnBarrier | InGroup | AfterCopies
    unit: int
    chain: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Rendezvous:
    """A barrier of collectives of `size` threads; `firsts` is the first thread of each thread's collective."""

    size: int
    firsts: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class ArriveOn:
    """Arrivals for `phases` of the barriers of `ctas`, after announcing `tx` bytes; `relaxed` ones release nothing."""

    barrier: str
    tx: int
    phases: Numbers
    ctas: Numbers
    relaxed: bool


@dataclass(frozen=True, slots=True, eq=False)
class AwaitOn:
    """Waits for `phases` of the barrier of the thread's own CTA; nothing to wait for where that is negative."""

    barrier: str
    phases: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Threads join a generation of the named barrier of their CTA, or of the cluster's; `relaxed` they release
    nothing."""

    barrier: str
    generations: Numbers
    relaxed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """Threads wait until the generation that they have joined is complete."""

    barrier: str
    generations: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class WaitGroup:
    """Waits until the groups with ordinals below `below` are done, or their reads."""

    group: Group
    below: Numbers
    reads_only: bool


@dataclass(frozen=True, slots=True, eq=False)
class Fresh:
    """An allocation of registers: their contents are gone."""

    place: Place


Action = InOrder | Issue | Rendezvous | ArriveOn | AwaitOn | Join | Pass | WaitGroup | Fresh | ProxyFence | WgmmaFence


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """`threads` (ascending) perform `action`; with `together`, whole warps at once."""

    what: str
    span: Span
    threads: Numbers
    action: Action
    together: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """All operations of a cluster, and for each thread the numbers of its own."""

    operations: tuple[Operation, ...]
    of_thread: tuple[tuple[int, ...], ...]


def entries(operation: Operation, values: Numbers, threads: list[int]) -> list[int]:
    """The entries of a per-thread array of an operation."""
    found: list[int] = values[np.searchsorted(operation.threads, threads)].tolist()
    return found
