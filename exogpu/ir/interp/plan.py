"""The sequential program of a procedure, each loop marked with how its iterations may be run.

Loop modes, roles and synchronisation are erased, and instructions are replaced by their meaning.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from exogpu.diagnostics import InternalError
from exogpu.ir.buffers import buffers_of, reassociable, types_of
from exogpu.ir.index import Bin, Cond, Index, Not
from exogpu.ir.instr import BufferInfo
from exogpu.ir.interp.dependence import Access, Mode, Order, order_of
from exogpu.ir.interp.linear import Ranges, interval_of, linear
from exogpu.ir.interp.narrow import narrow
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, Arrive, Assign, Await, Fence, For, If, InstrCall, Role, Stmt
from exogpu.ir.value_type import Types, value_type
from exogpu.ir.walk import children, reads, with_blocks
from exogpu.source import Span


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over `lo <= var < hi`, of at most `trips` iterations. `volume`: the most elements that one iteration
    handles at once."""

    var: str
    lo: Index
    hi: Index
    body: tuple[Node, ...]
    order: Order
    trips: int
    volume: int
    span: Span


@dataclass(frozen=True, slots=True)
class Guard:
    """A conditional."""

    cond: Cond
    then: tuple[Node, ...]
    orelse: tuple[Node, ...]


Node = Assign | Alloc | Loop | Guard


def sequential(proc: Proc) -> tuple[Stmt, ...]:
    """The body of `proc` without annotations: assignments, allocations, loops and conditionals only."""
    return _erase(proc.body, buffers_of(proc))


def _volume(block: tuple[Node, ...]) -> int:
    """The most elements that one execution of the block handles at once."""
    most = 1
    for node in block:
        match node:
            case Assign():
                pass
            case Alloc(shape=shape):
                most = max(most, math.prod(shape))
            case Guard(_, then, orelse):
                most = max(most, _volume(then), _volume(orelse))
            case Loop(order=order, trips=trips, volume=volume):
                most = max(most, volume if order is Order.SERIAL else trips * volume)
    return most


def _erase(block: tuple[Stmt, ...], buffers: Mapping[str, BufferInfo]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Assign() | Alloc():
                out.append(stmt)
            case For():
                out.append(replace(stmt, body=_erase(stmt.body, buffers)))
            case If():
                out.append(replace(stmt, then=_erase(stmt.then, buffers), orelse=_erase(stmt.orelse, buffers)))
            case Role():
                out += _erase(stmt.body, buffers)
            case InstrCall():
                out += (_located(s, stmt.span) for s in _erase(stmt.instr.meaning(stmt, buffers), buffers))
            case Fence() | Arrive() | Await():
                pass
    return tuple(out)


def _located(stmt: Stmt, span: Span) -> Stmt:
    """A statement of an instruction's meaning, at the place of the instruction."""
    blocks = [tuple(_located(s, span) for s in block) for block in children(stmt)]
    return with_blocks(replace(stmt, span=span), blocks)


def plan(proc: Proc, sizes: Mapping[str, int], *, precise: bool = False, together: bool = True) -> tuple[Node, ...]:
    """The sequential program for these sizes. With `together` false every loop runs in order."""
    return _Planner(sizes, types_of(proc), precise, together).block(sequential(proc), {})[0]


@dataclass(frozen=True, slots=True)
class _Planner:
    sizes: Mapping[str, int]
    types: Types
    precise: bool
    together: bool

    def block(self, stmts: tuple[Stmt, ...], ranges: Ranges) -> tuple[tuple[Node, ...], list[Access]]:
        """The planned block, and its accesses to buffers allocated outside it."""
        nodes: list[Node] = []
        accesses: list[Access] = []
        for stmt in stmts:
            node, inner = self._statement(stmt, ranges)
            nodes += node
            accesses += inner
        private = {s.name for s in stmts if isinstance(s, Alloc)}
        return tuple(nodes), [a for a in accesses if a.buffer not in private]

    def _statement(self, stmt: Stmt, ranges: Ranges) -> tuple[tuple[Node, ...], list[Access]]:
        match stmt:
            case Assign():
                return (stmt,), self._accesses(stmt, ranges)
            case For():
                return self._loop(stmt, ranges)
            case If(cond, then, orelse):
                yes, some = self.block(then, narrow(ranges, cond, self.sizes))
                no, others = self.block(orelse, narrow(ranges, Not(cond), self.sizes))
                return (Guard(cond, yes, no),), some + others
            case Alloc():
                return (stmt,), []
            case _:
                raise InternalError(f"a {type(stmt).__name__} is left in the sequential program")

    def _loop(self, loop: For, ranges: Ranges) -> tuple[tuple[Node, ...], list[Access]]:
        first, _ = interval_of(linear(loop.lo, self.sizes), ranges)
        _, end = interval_of(linear(loop.hi, self.sizes), ranges)
        _, trips = interval_of(linear(Bin("-", loop.hi, loop.lo), self.sizes), ranges)
        if end <= first or trips <= 0:
            return (), []
        body, accesses = self.block(loop.body, {**ranges, loop.var: (first, end - 1)})
        order = order_of(loop.var, accesses, frozenset(ranges)) if self.together else Order.SERIAL
        return (Loop(loop.var, loop.lo, loop.hi, body, order, trips, _volume(body), loop.span),), accesses

    def _accesses(self, stmt: Assign, ranges: Ranges) -> list[Access]:
        mode = Mode.SUM if stmt.op == "+=" and self._commutes(stmt) else Mode.WRITE
        found = [self._access(stmt.buffer, mode, stmt.index, ranges)]
        for read, conds in reads(stmt.rhs):
            there = functools.reduce(lambda r, cond: narrow(r, cond, self.sizes), conds, ranges)
            found.append(self._access(read.buffer, Mode.READ, read.index, there))
        return found

    def _commutes(self, stmt: Assign) -> bool:
        """Whether sums may be reordered: an integer to which a floating-point value is added is rounded and clamped."""
        dtype = self.types[stmt.buffer]
        kind = value_type(stmt.rhs, self.types)
        return reassociable(dtype, self.precise) and (dtype.is_float or kind is None or not kind.is_float)

    def _access(self, buffer: str, mode: Mode, index: tuple[Index, ...], ranges: Ranges) -> Access:
        return Access(buffer, mode, tuple(linear(i, self.sizes) for i in index), ranges)
