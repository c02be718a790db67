"""Single edits of a kernel's synchronisation, systematically: what a correct kernel must not survive.

Per statement: dropped, moved behind the next one, lag and wait depth one up and down, expected bytes up and down; per
barrier the count one up and down; per shared-memory ring one slot less; per guard around synchronisation, off by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from exogpu.ir.collective import WARP
from exogpu.ir.index import Bin, Cmp, Int
from exogpu.ir.instr import WaitGroup
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Await,
    Fence,
    For,
    If,
    IndexArg,
    InstrCall,
    Role,
    Stmt,
)
from exogpu.ir.types import Smem
from exogpu.ir.walk import walk
from exogpu.source import Span
from exogpu.verify.index import const

Block = tuple[Stmt, ...]
BYTES = 16
"""Change of expected bytes: the granularity of a bulk copy."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """An edited kernel, where, and what was done."""

    what: str
    span: Span
    proc: Proc


def mutants(proc: Proc) -> Iterator[Mutant]:
    """Every single edit, in the order of the text."""
    for n, barrier in enumerate(proc.barriers):
        for count in (barrier.count - 1, barrier.count + 1):
            if count >= 1:
                changed = (*proc.barriers[:n], replace(barrier, count=count), *proc.barriers[n + 1 :])
                yield Mutant(f"{barrier.name}: count {count}", barrier.span, replace(proc, barriers=changed))
    for n, named in enumerate(proc.named):
        for count in (named.count - WARP, named.count + WARP):
            if count >= WARP:
                others = (*proc.named[:n], replace(named, count=count), *proc.named[n + 1 :])
                yield Mutant(f"{named.name}: count {count}", named.span, replace(proc, named=others))
    for what, span, body in _edits(proc.body):
        yield Mutant(what, span, replace(proc, body=body))


def _edits(block: Block) -> Iterator[tuple[str, Span, Block]]:
    """Every block that differs from `block` by one edit."""
    for n, stmt in enumerate(block):
        before, after = block[:n], block[n + 1 :]
        for what, new in _changes(stmt):
            yield what, stmt.span, (*before, *new, *after)
        if synchronises(stmt) and after:
            yield f"{_name(stmt)} behind the next statement", stmt.span, (*before, after[0], stmt, *after[1:])
        for what, span, inner in _inside(stmt):
            yield what, span, (*before, inner, *after)


def _inside(stmt: Stmt) -> Iterator[tuple[str, Span, Stmt]]:
    match stmt:
        case For() | Role():
            yield from ((what, span, replace(stmt, body=body)) for what, span, body in _edits(stmt.body))
        case If():
            yield from ((what, span, replace(stmt, then=then)) for what, span, then in _edits(stmt.then))
            yield from ((what, span, replace(stmt, orelse=other)) for what, span, other in _edits(stmt.orelse))
        case _:
            return


def synchronises(stmt: Stmt) -> bool:
    """The statement only synchronises."""
    return isinstance(stmt, Fence | Arrive | Await) or (isinstance(stmt, InstrCall) and stmt.instr.effect is not None)


def _changes(stmt: Stmt) -> Iterator[tuple[str, Block]]:
    if synchronises(stmt):
        yield f"no {_name(stmt)}", ()
    match stmt:
        case Await(lag=lag):
            for value in (lag - 1, lag + 1):
                if value >= 0:
                    yield f"{_name(stmt)}: lag {value}", (replace(stmt, lag=value),)
        case Arrive(tx=tx) if tx is not None:
            for value in (const(tx) - BYTES, const(tx) + BYTES):
                if value >= 0:
                    yield f"{_name(stmt)}: tx {value}", (replace(stmt, tx=Int(value)),)
        case InstrCall():
            yield from _depths(stmt)
        case Alloc(memory=Smem(ring=ring) as memory) if ring > 1:
            yield f"{stmt.name}: ring {ring - 1}", (replace(stmt, memory=replace(memory, ring=ring - 1)),)
        case If(cond=Cmp() as cond) if any(synchronises(s) for s in walk((*stmt.then, *stmt.orelse))):
            for op, step in (("-", "earlier"), ("+", "later")):
                right = Bin("+", cond.right, Int(1)) if op == "+" else Bin("-", cond.right, Int(1))
                yield f"guard off by one, {step}", (replace(stmt, cond=replace(cond, right=right)),)
        case _:
            return


def _depths(call: InstrCall) -> Iterator[tuple[str, Block]]:
    effect = call.instr.effect
    if not isinstance(effect, WaitGroup):
        return
    arg = None if effect.operand is None else call.operand(effect.operand)
    if not isinstance(arg, IndexArg):
        return
    for value in (const(arg.value) - 1, const(arg.value) + 1):
        if value >= 0:
            changed = tuple((p, IndexArg(Int(value)) if p == effect.operand else a) for p, a in call.operands)
            yield f"{_name(call)}({value})", (replace(call, operands=changed),)


def _name(stmt: Stmt) -> str:
    match stmt:
        case Arrive(barrier=barrier) | Await(barrier=barrier):
            return f"{type(stmt).__name__}({barrier})"
        case InstrCall(instr=instr):
            return instr.name
        case _:
            return type(stmt).__name__
