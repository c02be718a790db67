"""Operators that take iterations out of a loop, put statements into one, and part sums."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from exogpu.ir.buffers import reassociable
from exogpu.ir.index import Int, Var
from exogpu.ir.stmt import Alloc, Assign, For, If, InstrCall, Stmt, Window
from exogpu.ir.terms import add, equal, less, subtract
from exogpu.ir.types import Memory, Rmem
from exogpu.ir.value import Num, Read
from exogpu.ir.walk import children, index_names, with_blocks
from exogpu.schedule.cursor import Where
from exogpu.schedule.dead import eliminate
from exogpu.schedule.effects import Does
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.loops import cut
from exogpu.schedule.paths import Block, Moves, block_moves
from exogpu.schedule.schedule import Schedule
from exogpu.schedule.signature import checked
from exogpu.schedule.work import Work, operator

PRIVATE = Rmem()


@checked
def peel(s: Schedule, loop: Where, which: Literal["first", "last"] = "first") -> Schedule:
    """Takes the first or the last iteration out of a loop, which must be proved to have one."""
    cursor = s.find(loop)
    if not isinstance(cursor.stmt, For):
        raise Refused("schedule.pattern", f"`{cursor}` is not a loop", cursor.stmt.span)
    lo, hi = cursor.stmt.lo, cursor.stmt.hi
    s = cut(s, cursor, add(lo, Int(1)) if which == "first" else subtract(hi, Int(1)))
    return eliminate(s, cursor if which == "first" else s.forward(cursor).next())


@operator
def into_loop(at: Work, where: Where, which: Literal["first", "last"] = "first") -> None:
    """Moves a statement into the first iteration of the loop after it, or into the last one of the loop before it,
    under an `if`. The loop must be proved to have an iteration."""
    cursor = at.find(where)
    first = which == "first"
    other = cursor.next() if first else cursor.prev()
    loop = other.stmt
    if not isinstance(loop, For):
        raise Refused("schedule.pattern", f"`{other}` is not a loop", loop.span)
    if any(isinstance(stmt, Alloc) for stmt in cursor.block):
        raise limit("an allocation would end in the loop", cursor.stmt.span, "use `sink_alloc`")
    known = at.known(other.path)
    at.prove(
        "the loop has an iteration", known, less(loop.lo, loop.hi), "the loop can be without iterations", loop.span
    )
    when = equal(Var(loop.var), loop.lo if first else subtract(loop.hi, Int(1)))
    test = If(when, cursor.block, ())
    new = replace(loop, body=(test, *loop.body) if first else (*loop.body, test))
    count, place = cursor.count, 0 if first else len(loop.body)
    moves: Moves = {(n if first else n + 1,): (0, 0, place, 0, n) for n in range(count)}
    if first:
        moves[count,] = (0,)
        moves.update(block_moves((count, 0), 0, len(loop.body), (0, 0), 1))
    else:
        moves[0,] = (0,)
    at.splice(cursor.path if first else other.path, count + 1, (new,), moves)


@operator
def accumulate(at: Work, loop: Where, name: str, memory: Memory = PRIVATE) -> None:
    """Sums what a loop adds to one element in a buffer of its own, and adds the sum to the element after the loop.

    The loop must do nothing else to the element, and the type must not round (results are equal up to reassociation).
    """
    stmt, path = at.loop(loop)
    accesses = at.effects((stmt,))
    adds = [a for a in accesses if a.does is Does.ADD]
    target = adds[0] if adds else None
    if target is None or any(a.buffer != target.buffer or a.index != target.index for a in adds):
        raise limit(f"`{stmt.var}` does not add to one element only", stmt.span)
    dtype = at.buffers[target.buffer].dtype
    if any(index_names(i) & {stmt.var, *target.inner} for i in target.index):
        raise limit("the element depends on the loop", stmt.span)
    if not reassociable(dtype, False):
        raise limit(f"sums of {dtype.value} are rounded in every step", stmt.span)
    element = replace(target, given=(), inner=(), loops=())
    at.inside(at.known(path), (element,), "after the loop")
    for other in accesses:
        if other.buffer == target.buffer and other.does is not Does.ADD:
            at.apart(at.known(path), element, other, "the loop uses the element otherwise")
    temp, zero = at.fresh(name), (Int(0),)
    new = (
        Alloc(temp, dtype, (1,), memory),
        Assign(temp, zero, "=", Num(0.0)),
        *_adding_to(temp, target.buffer, (stmt,)),
        Assign(target.buffer, target.index, "+=", Read(temp, zero)),
    )
    at.reassociated = at.reassociated or dtype.is_float
    at.splice(path, 1, new, {(0,): (2,)})


def _adding_to(temp: str, buffer: str, block: Block) -> Block:
    """The same block, whose additions to a buffer go to the one element of another."""
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Assign(op="+=") if stmt.buffer == buffer:
                out.append(replace(stmt, buffer=temp, index=(Int(0),)))
            case InstrCall(instr=instr) if any(isinstance(o, Window) and o.buffer == buffer for _, o in stmt.operands):
                raise limit(f"`{instr.name}` uses `{buffer}`", stmt.span)
            case _:
                out.append(with_blocks(stmt, tuple(_adding_to(temp, buffer, inner) for inner in children(stmt))))
    return tuple(out)
