"""What statements do to memory: which elements they read, write and add to, and when.

An access is one element for each execution: its indices are over the variables around the statement and over the
variables of the loops inside it, which `given` bounds, together with the conditions under which it happens.
Instructions count through their meaning; synchronisation does nothing sequentially.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exogpu.ir.index import Cond, Index, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.stmt import Alloc, Arrive, Assign, Await, Fence, For, If, InstrCall, Role, Stmt
from exogpu.ir.walk import reads, substitute_cond, substitute_index
from exogpu.schedule.paths import Block
from exogpu.schedule.terms import negated, within
from exogpu.source import Span

Buffers = Mapping[str, BufferInfo]


class Does(enum.Enum):
    """How an access touches its element; additions to one element commute up to reassociation."""

    READ = "reads"
    WRITE = "writes"
    ADD = "adds to"


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a statement, for every execution of it. `inner`: the variables of loops inside the statement that
    the effects were asked of, outermost first, under names that occur nowhere else."""

    buffer: str
    index: tuple[Index, ...]
    does: Does
    inner: tuple[str, ...]
    given: tuple[Cond, ...]
    span: Span

    def at(self, env: Mapping[str, Index]) -> Access:
        """The access with variables replaced; `inner` ones keep their names unless `env` has them."""
        index = tuple(substitute_index(i, env) for i in self.index)
        given = tuple(substitute_cond(c, env) for c in self.given)
        inner = tuple(v.name if isinstance(v := env.get(n, Var(n)), Var) else n for n in self.inner)
        return Access(self.buffer, index, self.does, inner, given, self.span)

    def primed(self, *others: str) -> Access:
        """Another execution: inner variables, and the `others`, get a prime."""
        return self.at({name: Var(f"{name}'") for name in (*self.inner, *others)})


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where the walk is: what the names of loop variables mean, and what is known."""

    names: Mapping[str, Index]
    inner: tuple[str, ...]
    given: tuple[Cond, ...]

    def loop(self, stmt: For) -> _Scope:
        name, n = stmt.var, 0
        while name in self.inner:
            name, n = f"{stmt.var}.{n}", n + 1
        lo, hi = (substitute_index(b, self.names) for b in (stmt.lo, stmt.hi))
        names = {**self.names, stmt.var: Var(name)}
        return _Scope(names, (*self.inner, name), (*self.given, within(name, lo, hi)))

    def under(self, cond: Cond) -> _Scope:
        return _Scope(self.names, self.inner, (*self.given, substitute_cond(cond, self.names)))


def effects(block: Block, buffers: Buffers) -> tuple[Access, ...]:
    """The accesses of a block to memory that exists before and after it, in order. `buffers` are all that the
    procedure knows (`exogpu.ir.interp.plan.buffers_of`)."""
    return tuple(_block(block, buffers, _Scope({}, (), ())))


def _block(block: Block, buffers: Buffers, scope: _Scope) -> Iterator[Access]:
    private = {s.name for s in block if isinstance(s, Alloc)}
    for stmt in block:
        yield from (a for a in _statement(stmt, buffers, scope) if a.buffer not in private)


def _statement(stmt: Stmt, buffers: Buffers, scope: _Scope) -> Iterator[Access]:
    match stmt:
        case Assign():
            yield from _assign(stmt, scope)
        case For():
            yield from _block(stmt.body, buffers, scope.loop(stmt))
        case If(cond, then, orelse):
            yield from _block(then, buffers, scope.under(cond))
            yield from _block(orelse, buffers, scope.under(negated(cond)))
        case Role(body=body):
            yield from _block(body, buffers, scope)
        case InstrCall(instr=instr):
            yield from _block(instr.meaning(stmt, buffers), buffers, scope)
        case Alloc() | Fence() | Arrive() | Await():
            return


def _assign(stmt: Assign, scope: _Scope) -> Iterator[Access]:
    for read, under in reads(stmt.rhs):
        if read.index:
            inside = scope
            for cond in under:
                inside = inside.under(cond)
            yield _access(read.buffer, read.index, Does.READ, inside, stmt.span)
    does = Does.WRITE if stmt.op == "=" else Does.ADD
    yield _access(stmt.buffer, stmt.index, does, scope, stmt.span)


def _access(buffer: str, index: tuple[Index, ...], does: Does, scope: _Scope, span: Span) -> Access:
    found = tuple(substitute_index(i, scope.names) for i in index)
    return Access(buffer, found, does, scope.inner, scope.given, span)


def mentioned(block: Block, buffers: Buffers) -> frozenset[str]:
    """The buffers that a block touches, those that it allocates left out."""
    return frozenset(a.buffer for a in effects(block, buffers))
