"""Operators that move loops, conditionals, roles and allocations outwards and inwards."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.index import Cond, Var
from exogpu.ir.stmt import Alloc, For, If, Role, Stmt
from exogpu.ir.substitute import substitute
from exogpu.ir.walk import children, index_names, with_blocks
from exogpu.schedule.cursor import Where
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import CondLike, as_cond
from exogpu.schedule.paths import Block, Moves, Path, block_at, block_moves, stmt_at
from exogpu.schedule.work import Work, operator


@operator
def lift_scope(at: Work, where: Where) -> None:
    """Exchanges an `if`, a loop or a role with the statement around it, whose whole block it is.

    An `if` leaves a loop if its condition does not depend on it; a loop leaves an `if` that has no `else`. To exchange
    two loops, use `reorder`.
    """
    inner = at.find(where)
    if len(inner.path) == 1:
        raise limit(f"`{inner}` is in no other statement", inner.stmt.span)
    path = inner.path[:-2]
    outer = stmt_at(at.proc.body, path)
    if len(block_at(at.proc.body, inner.path[:-1])) != 1:
        raise limit(f"`{inner}` is not the whole block", inner.stmt.span, "cut the loop there first with `fission`")
    match outer, inner.stmt:
        case For(), If() as test:
            _if_from_loop(at, path, outer, test)
        case If(orelse=()), If(orelse=()) as test:
            _exchange(at, path, outer, test)
        case (If(orelse=()), For() | Role()) | (Role(), For() | Role()) | (For(), Role()):
            _unit_in_scope(outer, inner.stmt)
            _exchange(at, path, outer, inner.stmt)
        case Role(), If() as test:
            _if_from_role(at, path, outer, test)
        case _:
            raise limit(f"`{inner}` cannot leave the statement around it", inner.stmt.span)


def _exchange(at: Work, path: Path, outer: Stmt, inner: Stmt) -> None:
    """Two statements of one block each change places."""
    body = children(inner)[0]
    new = _over(inner, _over(outer, body))
    at.splice(path, 1, (new,), {(0,): (0, 0, 0), (0, 0, 0): (0,), (0, 0, 0, 0): (0, 0, 0, 0)})


def _over(stmt: Stmt, *body: Stmt | Block) -> Stmt:
    block = tuple(s for part in body for s in (part if isinstance(part, tuple) else (part,)))
    return with_blocks(stmt, (block, ()) if isinstance(stmt, If) else (block,))


def _unit_in_scope(outer: Stmt, inner: Stmt) -> None:
    unit = inner.index if isinstance(inner, Role) else None
    if isinstance(outer, For) and unit is not None and outer.var in index_names(unit):
        raise limit(f"the unit of the role depends on `{outer.var}`", inner.span)


def _if_from_loop(at: Work, path: Path, outer: For, test: If) -> None:
    if outer.var in index_names(test.cond):
        raise limit(f"the condition depends on `{outer.var}`", test.span, "cut the loop where the condition changes")
    orelse: Block = ()
    if test.orelse:
        var = at.fresh(outer.var)
        orelse = (replace(outer, var=var, body=substitute(test.orelse, {outer.var: Var(var)})),)
    new = replace(test, then=(replace(outer, body=test.then),), orelse=orelse)
    moves: Moves = {(0,): (0, 0, 0), (0, 0, 0): (0,), (0, 0, 0, 0): (0, 0, 0, 0), (0, 0, 0, 1): (0, 1, 0, 0)}
    at.splice(path, 1, (new,), moves)


def _if_from_role(at: Work, path: Path, outer: Role, test: If) -> None:
    orelse: Block = (replace(outer, body=test.orelse),) if test.orelse else ()
    new = replace(test, then=(replace(outer, body=test.then),), orelse=orelse)
    moves: Moves = {(0,): (0, 0, 0), (0, 0, 0): (0,), (0, 0, 0, 0): (0, 0, 0, 0), (0, 0, 0, 1): (0, 1, 0, 0)}
    at.splice(path, 1, (new,), moves)


@operator
def specialise(at: Work, where: Where, cond: CondLike) -> None:
    """Statements, twice: under a condition, and under its opposite. Either copy can then be scheduled by itself."""
    cursor = at.find(where)
    test: Cond = as_cond(cond)
    at.in_scope(test, cursor.path)
    at.ends(cursor)
    new = If(test, cursor.block, at.copy(cursor.block))
    at.splice(cursor.path, cursor.count, (new,), {(n,): (0, 0, n) for n in range(cursor.count)})


@operator
def lift_alloc(at: Work, where: Where, levels: int = 1) -> None:
    """Moves an allocation to before the statement around it, once or several times.

    In a loop, iterations then find what earlier ones have left, where they found a fresh buffer: no difference to a
    procedure that reads only what it has written.
    """
    cursor = at.find(where)
    if not isinstance(cursor.stmt, Alloc):
        raise Refused("schedule.pattern", f"`{cursor}` is not an allocation", cursor.stmt.span)
    path = cursor.path
    for _ in range(levels):
        if len(path) == 1:
            raise limit(f"`{cursor}` is in no other statement", cursor.stmt.span)
        path = _lift_once(at, path, cursor.stmt)


def _lift_once(at: Work, path: Path, alloc: Alloc) -> Path:
    around, branch, n = path[:-2], path[-2], path[-1]
    outer = stmt_at(at.proc.body, around)
    blocks = list(children(outer))
    size = len(blocks[branch])
    blocks[branch] = (*blocks[branch][:n], *blocks[branch][n + 1 :])
    moves: Moves = {(0,): (1,), (0, branch, n): (0,), **block_moves((0, branch), n + 1, size, (1, branch), n)}
    at.splice(around, 1, (alloc, with_blocks(outer, tuple(blocks))), moves)
    return around


@operator
def sink_alloc(at: Work, where: Where) -> None:
    """Moves an allocation into the loop, conditional or role after it, which alone uses it.

    In a loop, each iteration then has a fresh buffer: no iteration may read what an earlier one has written, unless it
    has written that element itself before.
    """
    cursor = at.find(where)
    alloc, scope = cursor.stmt, cursor.next().stmt
    if not isinstance(alloc, Alloc):
        raise Refused("schedule.pattern", f"`{cursor}` is not an allocation", alloc.span)
    block = block_at(at.proc.body, cursor.path[:-1])
    if alloc.name in at.names_in(block[cursor.path[-1] + 2 :]):
        raise limit(f"`{alloc.name}` is used after the statement that follows it", alloc.span)
    if not isinstance(scope, For | Role) and not (isinstance(scope, If) and not scope.orelse):
        raise limit(f"`{cursor.next()}` is no loop, role, or `if` without `else`", scope.span)
    if isinstance(scope, For):
        failure = f"`{alloc.name}` carries a value from one iteration of `{scope.var}` to the next"
        at.local((*cursor.next().path, 0, 0), scope, alloc.name, failure)
    new = _over(scope, alloc, children(scope)[0])
    inside = block_moves((1, 0), 0, len(children(scope)[0]), (0, 0), 1)
    at.splice(cursor.path, 2, (new,), {(0,): (0, 0, 0), (1,): (0,), **inside})
