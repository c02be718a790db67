"""Operators that say who does what and when: they never change the sequential meaning.

Whether the annotated program computes it in parallel is what `verify` proves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.completion import completes_on, completing_on
from exogpu.ir.index import ORDINAL, Int
from exogpu.ir.instr import Instr
from exogpu.ir.linear import literal
from exogpu.ir.proc import BarrierDecl, Launch, NamedBarrier, RoleDecl
from exogpu.ir.stmt import (
    Arrive,
    Await,
    BarrierRef,
    Fence,
    For,
    If,
    IndexArg,
    InstrCall,
    Mode,
    Operand,
    Point,
    Role,
    Stmt,
    Threads,
    Unroll,
)
from exogpu.ir.substitute import rename
from exogpu.ir.uses import indices
from exogpu.ir.walk import children, with_blocks
from exogpu.ir.wellformed import MAX_THREADS
from exogpu.schedule.cursor import Place, Where
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import CondLike, IndexLike, as_cond, as_index
from exogpu.schedule.paths import Path
from exogpu.schedule.signature import checked
from exogpu.schedule.work import Work, operator


@operator
def set_mode(at: Work, loop: Where, mode: Mode) -> None:
    """Says how a loop is executed: `Seq()`, `Unroll()`, `Tasks()` or `Threads(unit)`."""
    stmt, path = at.loop(loop)
    lo, hi = stmt.lo, stmt.hi
    if isinstance(mode, Threads | Unroll):
        first, last = literal(lo), literal(hi)
        if first is None or last is None:
            raise limit(f"the bounds of `{stmt.var}` are not literal", stmt.span, "divide it by a number first")
        lo, hi = Int(first), Int(last)
    at.splice(path, 1, (replace(stmt, mode=mode, lo=lo, hi=hi),), {(0,): (0,)})


@dataclass(frozen=True, slots=True)
class Warps:
    """A role of n warps."""

    n: int
    regs: int | None = None


@dataclass(frozen=True, slots=True)
class Warpgroups:
    """A role of n warpgroups."""

    n: int
    regs: int | None = None


@operator
def launch(
    at: Work,
    threads: int | None = None,
    *,
    roles: Mapping[str, Warps | Warpgroups] | None = None,
    persistent: bool = False,
    raster: int = 1,
    cluster: int | None = None,
) -> None:
    """The launch configuration, as `block(...)` declares it: a number of threads, or roles in thread order."""
    roles_in_order: list[RoleDecl] = []
    first = 0
    for name, size in (roles or {}).items():
        by_warps = isinstance(size, Warps)
        count = size.n * (WARP if by_warps else WARPGROUP)
        roles_in_order.append(RoleDecl(name, first, count, size.regs, by_warps=by_warps))
        first += count
    if (threads is None) == (not roles_in_order):
        raise limit("a block has either a number of threads or roles")
    total = first if threads is None else threads
    if not 1 <= total <= MAX_THREADS:
        raise limit(f"a block has 1 to {MAX_THREADS} threads, not {total}")
    block = Launch(total, tuple(roles_in_order), persistent, raster, cluster or 1, cluster is not None)
    at.proc = replace(at.proc, block=block)


@operator
def assign_role(at: Work, where: Where, name: str, unit: IndexLike | None = None) -> None:
    """Lets a role execute statements, or with `unit` only its unit of that number, as in `role(name[unit])`."""
    cursor = at.find(where)
    if name not in {r.name for r in at.proc.block.roles}:
        raise limit(f"the block has no role `{name}`", cursor.stmt.span, "declare it with `launch`")
    at.ends(cursor)
    index = None if unit is None else as_index(unit)
    new = Role(name, cursor.block, index=index)
    at.splice(cursor.path, cursor.count, (new,), {(n,): (0, 0, n) for n in range(cursor.count)})


@operator
def unit_loop(at: Work, where: Where, name: str, trips: int, unit: int = 1) -> None:
    """Puts statements that mean nothing sequentially into `for name in threads(trips, unit=unit)`; with one iteration,
    any statements."""
    cursor = at.find(where)
    if trips != 1 and at.effects(cursor.block):
        raise limit(f"`{cursor}` would be executed {trips} times", cursor.stmt.span)
    at.ends(cursor)
    new = For(at.fresh(name), Int(0), Int(trips), Threads(unit), cursor.block)
    at.splice(cursor.path, cursor.count, (new,), {(n,): (0, 0, n) for n in range(cursor.count)})


@operator
def mbarrier(at: Work, name: str, *, ring: int = 1, count: int) -> None:
    """Declares a barrier: a sequence of phases of `count` arrivals each, in `ring` mbarriers."""
    at.proc = replace(at.proc, barriers=(*at.proc.barriers, BarrierDecl(at.unused(name), ring, count)))


@operator
def named_barrier(at: Work, name: str, *, count: int) -> None:
    """Declares a named barrier of `count` threads."""
    at.proc = replace(at.proc, named=(*at.proc.named, NamedBarrier(at.unused(name), count)))


def fence() -> Stmt:
    """`Fence()`."""
    return Fence()


@checked
def arrive(barrier: str, *, tx: int | None = None, cta: IndexLike | None = None, relaxed: bool = False) -> Stmt:
    """`Arrive(barrier)`, with bytes, or on the barrier of another CTA."""
    ctas = None if cta is None else Point(as_index(cta))
    return Arrive(barrier, None if tx is None else Int(tx), ctas, relaxed)


@checked
def wait(barrier: str, *, lag: int = 0) -> Stmt:
    """`Await(barrier, lag=lag)`."""
    return Await(barrier, lag)


@checked
def sync(instr: Instr, *operands: int | str) -> Stmt:
    """An instruction that only synchronises, with the numbers and barriers that it takes."""
    given: list[tuple[str, Operand]] = []
    for param, value in zip(instr.params, operands, strict=True):
        given.append((param.name, BarrierRef(value) if isinstance(value, str) else IndexArg(Int(value))))
    return InstrCall(instr, tuple(given))


@checked
def when(cond: CondLike, *stmts: Stmt) -> Stmt:
    """`if cond: stmts`."""
    return If(as_cond(cond), stmts, ())


@checked
def by(role: str, *stmts: Stmt, unit: IndexLike | None = None) -> Stmt:
    """`with role(name): stmts`, or `with role(name[unit]): stmts`."""
    return Role(role, stmts, index=None if unit is None else as_index(unit))


@checked
def each(var: str, trips: int, *stmts: Stmt, unit: int = 1) -> Stmt:
    """`for var in threads(trips, unit=unit): stmts`."""
    return For(var, Int(0), Int(trips), Threads(unit), stmts)


Statements = Annotated[Stmt | Sequence[Stmt], "make them by `fence`, `arrive`, `wait`, `sync`, `when`, `by`, `each`"]


@operator
def insert(at: Work, gap: Place, stmts: Statements) -> None:
    """Inserts statements without a sequential meaning: Fence, Arrive, Await, instructions that only synchronise, and
    loops, roles and conditions around them."""
    block, n = at.gap(gap)
    new = (stmts,) if not isinstance(stmts, Sequence) else tuple(stmts)
    if at.effects(new):
        raise limit("the statements touch memory", gap.at.stmt.span)
    at.has_barriers(new)
    _in_scope(at, (*block, n), new, ())
    at.splice((*block, n), 0, _named_apart(at, new, set()), {})


def _in_scope(at: Work, path: Path, block: tuple[Stmt, ...], own: tuple[str, ...]) -> None:
    """Refuses statements that use what is not declared at a path, nor by the loops `own` that come with them."""
    for stmt in block:
        for e in indices(stmt):
            at.in_scope(e, path, (*own, ORDINAL) if isinstance(stmt, Role) else own)
        for inner in children(stmt):
            _in_scope(at, path, inner, (*own, stmt.var) if isinstance(stmt, For) else own)


def _named_apart(at: Work, block: tuple[Stmt, ...], taken: set[str]) -> tuple[Stmt, ...]:
    """The statements with a new name for each loop, since one that is built once may be inserted several times."""
    out: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, For):
            name = at.fresh(stmt.var, taken)
            taken.add(name)
            (stmt,) = rename((stmt,), {stmt.var: name})
        out.append(with_blocks(stmt, tuple(_named_apart(at, inner, taken) for inner in children(stmt))))
    return tuple(out)


@operator
def complete_on(at: Work, where: Where, barrier: str) -> None:
    """Names the barrier on which an asynchronous instruction completes."""
    cursor = at.find(where)
    call = cursor.stmt
    if not isinstance(call, InstrCall) or completes_on(call) is None:
        raise Refused("schedule.pattern", f"`{cursor}` does not complete on a barrier", call.span)
    new = completing_on(call, barrier)
    at.has_barriers((new,))
    at.splice(cursor.path, 1, (new,), {(0,): (0,)})
