"""Operators that remove what does nothing."""

from __future__ import annotations

from exogpu.ir.index import Cmp, Int
from exogpu.ir.stmt import Alloc, Assign, For, If, InstrCall, Stmt
from exogpu.ir.substitute import substitute
from exogpu.ir.terms import equal, negated, subtract
from exogpu.ir.walk import walk
from exogpu.schedule.cursor import Where
from exogpu.schedule.effects import Does
from exogpu.schedule.errors import limit
from exogpu.schedule.paths import Block, Moves, Path, block_at, block_moves
from exogpu.schedule.patterns import statements
from exogpu.schedule.work import Work, operator


@operator
def eliminate(at: Work, where: Where) -> None:
    """Removes what a statement does not need: the test of an `if` that is decided, a loop that runs at most once, or
    an allocation that nothing reads, with everything that writes to it."""
    cursor = at.find(where)
    match cursor.stmt:
        case If() as stmt:
            _decided(at, cursor.path, stmt)
        case For() as stmt:
            _at_most_once(at, cursor.path, stmt)
        case Alloc() as stmt:
            _unread(at, cursor.path, stmt)
        case other:
            raise limit(f"`{cursor}` is no `if`, loop or allocation", other.span)


def _decided(at: Work, path: Path, stmt: If) -> None:
    known = at.known(path)
    if at.implied(known, stmt.cond):
        _unwrap(at, path, stmt.then, 0)
        return
    at.prove("the condition never holds", known, negated(stmt.cond), "the condition can hold, and can fail", stmt.span)
    _unwrap(at, path, stmt.orelse, 1)


def _at_most_once(at: Work, path: Path, stmt: For) -> None:
    known = at.known(path)
    if at.implied(known, Cmp("<=", stmt.hi, stmt.lo)):
        at.splice(path, 1, (), {(0,): None})
        return
    once = equal(subtract(stmt.hi, stmt.lo), Int(1))
    at.prove("the loop runs once", known, once, "the loop can run another number of times than once", stmt.span)
    _unwrap(at, path, substitute(stmt.body, {stmt.var: stmt.lo}), 0)


def _unwrap(at: Work, path: Path, body: Block, branch: int) -> None:
    at.splice(path, 1, body, {(0,): None, **block_moves((0, branch), 0, len(body), ())})


def _unread(at: Work, path: Path, alloc: Alloc) -> None:
    block = block_at(at.proc.body, path[:-1])
    later = block[path[-1] + 1 :]
    accesses = [a for a in at.effects(later) if a.buffer == alloc.name]
    if any(a.does is Does.READ for a in accesses):
        raise limit(f"`{alloc.name}` is read", next(a.span for a in accesses if a.does is Does.READ))
    for stmt in walk(later):
        if isinstance(stmt, InstrCall) and alloc.name in at.names_in((stmt,)):
            raise limit(f"`{stmt.instr.name}` writes `{alloc.name}`", stmt.span)
    below = ((path[:-1], block),)
    dead = [p for p, stmt in statements(below) if p >= path and _writes(stmt, alloc.name)]
    moves: Moves = {(0,): None}
    for place in reversed(dead):
        at.splice(place, 1, (), moves)


def _writes(stmt: Stmt, name: str) -> bool:
    return (isinstance(stmt, Assign) and stmt.buffer == name) or (isinstance(stmt, Alloc) and stmt.name == name)
