"""Statements.

    stmt ::= buffer[...] = value | buffer[...] += value
           | name: type[shape] @ memory                       an allocation
           | for v in mode(lo, hi): stmts                      seq, unroll, tasks, threads
           | if cond: stmts else: stmts
           | with role(name): stmts | with role(name[unit]): stmts
           | instruction(operands)
           | Fence() | Arrive(barrier[ctas], tx) | Await(barrier, lag)

Erasing modes, roles, Fence/Arrive/Await and the synchronisation instructions leaves the sequential meaning.
Every name is unique inside a procedure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from exogpu.ir.index import Cond, Index
from exogpu.ir.types import Memory, Scalar
from exogpu.ir.value import ScalarFn, Value
from exogpu.source import NOWHERE, Span

if TYPE_CHECKING:
    from exogpu.ir.instr import Instr


@dataclass(frozen=True, slots=True)
class Assign:
    """`buffer[index] = rhs` or `+= rhs`, executed by one thread."""

    buffer: str
    index: tuple[Index, ...]
    op: Literal["=", "+="]
    rhs: Value
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Alloc:
    """A fresh buffer each time it is executed; dead at the end of the enclosing block."""

    name: str
    dtype: Scalar
    shape: tuple[int, ...]
    memory: Memory
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Seq:
    """In order, by every executing thread."""


@dataclass(frozen=True, slots=True)
class Unroll:
    """In order and unrolled; bounds are literals."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """Across the CTAs (clusters) of the grid; nested task loops form one cuboid of tasks."""


@dataclass(frozen=True, slots=True)
class Threads:
    """Iteration v runs on threads [v*unit, (v+1)*unit) of the enclosing collective; bounds are literals."""

    unit: int


Mode = Seq | Unroll | Tasks | Threads


@dataclass(frozen=True, slots=True)
class For:
    """A loop over `lo <= var < hi`."""

    var: str
    lo: Index
    hi: Index
    mode: Mode
    body: Block
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """A conditional on sizes and loop variables."""

    cond: Cond
    then: Block
    orelse: Block
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Role:
    """Only the threads of the named role execute the body; with `index`, only its unit (`RoleDecl.unit`) of that
    number. Which unit it is may depend on the ordinal of the task; the sequential meaning does not.

    The units of a role take turns at one program: executions of an allocation, arrive or await under an index are
    counted for all units together. Commit groups belong to a thread, which counts its own.
    """

    name: str
    body: Block
    span: Span = field(default=NOWHERE, compare=False)
    index: Index | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One index of a window."""

    index: Index


@dataclass(frozen=True, slots=True)
class Range:
    """`lo : lo + extent` in a window; the extent is a literal."""

    lo: Index
    extent: int


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangular part of a buffer; its rank is the number of `Range` dimensions."""

    buffer: str
    dims: tuple[Point | Range, ...]
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the ranged dimensions, in elements."""
        return tuple(d.extent for d in self.dims if isinstance(d, Range))


@dataclass(frozen=True, slots=True)
class BarrierRef:
    """A barrier named as the completion mechanism of an asynchronous instruction."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class IndexArg:
    """An integer or condition operand of an instruction."""

    value: Index | Cond


Operand = Window | BarrierRef | IndexArg | ScalarFn


@dataclass(frozen=True, slots=True)
class InstrCall:
    """An instruction executed by the enclosing collective. `operands` pairs each parameter name with its
    argument, in declaration order; optional parameters left out by the user are absent."""

    instr: Instr
    operands: tuple[tuple[str, Operand], ...]
    span: Span = field(default=NOWHERE, compare=False)

    def operand(self, name: str) -> Operand | None:
        """The argument given for a parameter, or None."""
        return next((arg for param, arg in self.operands if param == name), None)

    def window(self, name: str) -> Window:
        """The window given for a parameter; KeyError if it is not one."""
        arg = self.operand(name)
        if not isinstance(arg, Window):
            raise KeyError(name)
        return arg


@dataclass(frozen=True, slots=True)
class Fence:
    """Barrier of the enclosing collective: what each of its threads did before is ordered before what any
    does after (bar.warp.sync, named barrier, bar.sync 0 or cluster barrier by the collective's size)."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Arrive:
    """The first thread of the enclosing collective arrives on a barrier (release): its k-th arrive contributes to
    phase k. `tx` adds expected bytes to that phase first (arrive.expect_tx). Each CTA of a cluster has its own
    sequence of phases: `ctas` names those whose barrier is meant (None: the own CTA). A `relaxed` arrive counts
    but publishes no ordinary access; it saves the fence that a release across CTAs costs."""

    barrier: str
    tx: Index | None
    ctas: Point | Range | None = None
    relaxed: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Await:
    """Every thread of the enclosing collective waits on its own CTA's barrier (acquire): its k-th await waits for
    phase k - lag, and for nothing if that is negative."""

    barrier: str
    lag: int
    span: Span = field(default=NOWHERE, compare=False)


Stmt = Assign | Alloc | For | If | Role | InstrCall | Fence | Arrive | Await
Block = tuple[Stmt, ...]
