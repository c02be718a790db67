"""Operators that move what a loop does to an earlier time: invariant statements out of it, or an iteration ahead."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.index import Int, Var
from exogpu.ir.stmt import Alloc, For, If, Stmt
from exogpu.ir.substitute import substitute
from exogpu.ir.terms import add, less
from exogpu.ir.uses import indices
from exogpu.ir.walk import index_names, walk
from exogpu.schedule.cursor import Where
from exogpu.schedule.effects import Does
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.facts import primed
from exogpu.schedule.paths import Block, Moves, Path, block_moves, stmt_at
from exogpu.schedule.work import Work, operator


@operator
def hoist(at: Work, where: Where) -> None:
    """Moves the first statements of a loop before it: they do the same in every iteration.

    The loop must be proved to have an iteration; doing the statements once more must change nothing.
    """
    loop, path, count = _start_of_loop(at, where)
    first, rest = loop.body[:count], loop.body[count:]
    for stmt in walk(first):
        if any(loop.var in index_names(e) for e in indices(stmt)):
            raise limit(f"the statements depend on `{loop.var}`", stmt.span)
    known = at.known(path)
    at.prove(
        "the loop has an iteration", known, less(loop.lo, loop.hi), "the loop can be without iterations", loop.span
    )
    mine = at.effects(first)
    for access in mine:
        if access.does is Does.ADD:
            raise limit(f"the statements add to `{access.buffer}` each time", access.span)
    written = [a for a in mine if a.does is Does.WRITE]
    later = [a.primed() for a in mine]
    inside = at.known((*path, 0, 0))
    failure = "doing the statements once more changes something"
    at.commute(inside, written, [a for a in later if a.does is Does.READ], failure)
    changed = [a for a in at.effects(rest) if a.does is not Does.READ]
    at.commute(inside, changed, later, "the rest of the loop changes what the statements read or write")
    moves: Moves = {
        (0,): (count,),
        **block_moves((0, 0), 0, count, ()),
        **block_moves((0, 0), count, len(loop.body), (count, 0)),
    }
    at.splice(path, 1, (*first, replace(loop, body=rest)), moves)


@operator
def run_ahead(at: Work, where: Where) -> None:
    """Does the first statements of a loop one iteration earlier: those of the first iteration before the loop, and in
    each iteration those of the next one, if there is one, before the rest.

    The rest of an iteration must commute with the statements of the next one.
    """
    loop, path, count = _start_of_loop(at, where)
    first, rest = loop.body[:count], loop.body[count:]
    following = add(Var(loop.var), Int(1))
    given = (*at.twice((*path, 0, 0), (loop.var,)), less(Var(loop.var), primed(loop.var)))
    given = (*given, less(primed(loop.var), add(following, Int(1))))
    later = tuple(a.primed(loop.var) for a in at.effects(first))
    failure = f"the rest of an iteration of `{loop.var}` cannot be exchanged with the statements of the next one"
    at.commute(given, at.effects(rest), later, failure)
    before = If(less(loop.lo, loop.hi), at.copy(substitute(first, {loop.var: loop.lo})), ())
    ahead = If(less(following, loop.hi), substitute(first, {loop.var: following}), ())
    moves: Moves = {
        (0,): (1,),
        **block_moves((0, 0), 0, count, (1, 0, 0, 0)),
        **block_moves((0, 0), count, len(loop.body), (1, 0), 1),
    }
    at.splice(path, 1, (before, replace(loop, body=(ahead, *rest))), moves)


def _start_of_loop(at: Work, where: Where) -> tuple[For, Path, int]:
    """A loop, its path, and how many statements at its start are meant; nothing they allocate is used after them."""
    cursor = at.find(where)
    around: Stmt | None = stmt_at(at.proc.body, cursor.path[:-2]) if len(cursor.path) > 1 else None
    if not isinstance(around, For) or cursor.path[-1]:
        raise Refused("schedule.pattern", f"`{cursor}` is not at the start of a loop", cursor.stmt.span)
    rest: Block = around.body[cursor.count :]
    for stmt in cursor.block:
        if isinstance(stmt, Alloc) and stmt.name in at.names_in(rest):
            raise limit(f"`{stmt.name}` is allocated in the statements and used after them", stmt.span)
    return around, cursor.path[:-2], cursor.count
