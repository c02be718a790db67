"""Sync skeletons: the synchronisation of a kernel that lives elsewhere.

A skeleton is a set of roles that run side by side; there is no sequential order between them. Index expressions are
over sizes, loop variables, role-local counters (`Let`, `Step`), `tid` (the thread inside its role), `rank` (the CTA
inside its cluster) and the variables that `Skeleton.unknowns` gives a meaning.

    stmt ::= for v in range(lo, hi): stmts | if cond: stmts else: stmts | with elect(): stmts
           | counter = index | counter += n | operation
"""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.ir.index import Cond, Index
from exogpu.ir.skeleton.operations import Operation
from exogpu.ir.skeleton.root import Skeleton as Skeleton
from exogpu.source import NOWHERE, Span

TID = "tid"
"""The executing thread's number inside its role."""
RANK = "rank"
"""The executing thread's CTA inside its cluster."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number in 0 .. below - 1 of which nothing is known but that it depends on `args` alone: the same everywhere.
    A predicate is one with `below` 2, tested against 0."""

    name: str
    args: tuple[Index, ...]
    below: int

    def at(self, values: tuple[int, ...]) -> str:
        """The name under which a concrete environment holds the number for these arguments."""
        return f"{self.name}({','.join(map(str, values))})"


@dataclass(frozen=True, slots=True)
class RoleDecl:
    """`threads` threads from thread `first` of a CTA, in the CTAs `ctas`, which execute in units of `unit` threads: one
    thread of each unit is elected."""

    name: str
    first: int
    threads: int
    unit: int
    ctas: tuple[int, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Let:
    """Gives a role-local counter a value."""

    name: str
    value: Index
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """Adds `by` to a role-local counter; with a `modulus`, modulo that (`ph ^= 1` adds 1 modulo 2)."""

    name: str
    by: int
    modulus: int | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """`var` from `lo` to `hi` - 1, by every executing thread; reports call it `written`, the name that it has in the
    text, where loops of several roles may have the same."""

    var: str
    lo: Index
    hi: Index
    body: Block
    span: Span = field(default=NOWHERE, compare=False)
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`then` by the threads for which the condition holds, `orelse` by the others."""

    cond: Cond
    then: Block
    orelse: Block
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Elect:
    """One lane of each executing unit: the first or, with `any`, one that the hardware chooses, always the same."""

    body: Block
    any: bool = False
    span: Span = field(default=NOWHERE, compare=False)


Stmt = Operation | Let | Step | For | If | Elect
Block = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Require:
    """A precondition on sizes."""

    cond: Cond
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Body:
    """What the threads of a role execute."""

    role: RoleDecl
    stmts: Block
