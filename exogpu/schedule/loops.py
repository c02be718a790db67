"""Operators that change the order or the number of loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from exogpu.ir.index import Cmp, Int, Var
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Alloc, Block, For, If, Role, Seq, Stmt
from exogpu.ir.substitute import alike, declared, substitute
from exogpu.ir.terms import add, both, either, equal, less, negated, subtract, times
from exogpu.ir.terms import divide as quotient
from exogpu.ir.walk import children, index_names, substitute_index, with_blocks
from exogpu.schedule.cursor import Place, Where
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import IndexLike, as_index, words
from exogpu.schedule.facts import primed
from exogpu.schedule.paths import Moves, Path, block_at, block_moves, stmt_at
from exogpu.schedule.work import Work, operator

Tail = Literal["perfect", "guard", "cut"]

ALONE = "move what stands beside the inner loop out of the way, for example with `fission`, or `lift_scope` for an `if`"


@operator
def divide(at: Work, loop: Where, factor: int, *, tail: Tail = "perfect", names: tuple[str, str] | None = None) -> None:
    """A loop over `n` iterations as a loop over `n // factor` loops of `factor` iterations.

    `tail`: "perfect" proves that nothing is left over; "guard" rounds up and puts the body under `if`; "cut" adds a
    loop over the rest, for which the trip count must be proved not negative.
    """
    stmt, path = at.loop(loop)
    if factor < 1:
        raise limit(f"a loop is divided by a positive number, not {factor}", stmt.span)
    outer = at.fresh(names[0] if names else f"{stmt.var}o", free=(stmt.var,))
    inner = at.fresh(names[1] if names else f"{stmt.var}i", (outer,), (stmt.var,))
    trips = subtract(stmt.hi, stmt.lo)
    here = add(stmt.lo, add(times(factor, Var(outer)), Var(inner)))
    body = substitute(stmt.body, {stmt.var: here})
    known = at.known(path)
    moves: Moves = {(0,): (0,), (0, 0): (0, 0, 0, 0)}
    extra: Block = ()
    if tail == "perfect":
        goal = equal(quotient(trips, factor, "%"), Int(0))
        at.prove(
            f"{factor} divides the trip count", known, goal, f"the trip count is no multiple of {factor}", stmt.span
        )
    elif tail == "guard":
        body = (If(less(here, stmt.hi), body, ()),)
        moves[0, 0] = (0, 0, 0, 0, 0, 0)
    else:
        goal = less(Int(-1), trips)
        at.prove("the trip count is not negative", known, goal, "the trip count can be negative", stmt.span)
        extra = _rest(at, stmt, factor, (outer, inner))
    rounded = quotient(trips, factor, "ceildiv" if tail == "guard" else "//")
    nested = For(inner, Int(0), Int(factor), Seq(), body)
    at.splice(path, 1, (replace(stmt, var=outer, lo=Int(0), hi=rounded, body=(nested,)), *extra), moves)


def _rest(at: Work, stmt: For, factor: int, taken: tuple[str, ...]) -> Block:
    """The iterations that a division leaves over, as a loop."""
    trips = subtract(stmt.hi, stmt.lo)
    var = at.fresh(f"{stmt.var}t", taken)
    start = add(stmt.lo, times(factor, quotient(trips, factor)))
    body = at.copy(substitute(stmt.body, {stmt.var: add(start, Var(var))}), (*taken, var))
    return (For(var, Int(0), quotient(trips, factor, "%"), Seq(), body),)


@operator
def reorder(at: Work, loop: Where) -> None:
    """Exchanges a loop with the one that is its whole body.

    Iterations (i, j) and (i', j') with i < i' and j > j' are executed the other way round, so they must commute.
    """
    outer, path = at.loop(loop)
    if len(outer.body) != 1 or not isinstance(outer.body[0], For):
        raise Refused("schedule.pattern", f"the body of `{outer.var}` is not one loop", outer.span, help=ALONE)
    inner = outer.body[0]
    if outer.var in index_names(inner.lo) | index_names(inner.hi):
        raise limit(f"the bounds of `{inner.var}` depend on `{outer.var}`", inner.span)
    given = (
        *at.twice((*path, 0, 0, 0, 0), (outer.var, inner.var)),
        less(Var(outer.var), primed(outer.var)),
        less(primed(inner.var), Var(inner.var)),
    )
    accesses = at.effects(inner.body)
    later = tuple(a.primed(outer.var, inner.var) for a in accesses)
    at.commute(given, accesses, later, f"iterations of `{outer.var}` and `{inner.var}` cannot be exchanged")
    new = replace(inner, body=(replace(outer, body=inner.body),))
    at.splice(path, 1, (new,), {(0,): (0, 0, 0), (0, 0, 0): (0,), (0, 0, 0, 0): (0, 0, 0, 0)})


@operator
def fission(at: Work, gap: Place) -> None:
    """Cuts a loop, an `if` without `else` or a role in two at a place in its body.

    In a loop, what stands after the place in iteration i happens after what stands before it in iteration i' > i, so
    the two must commute.
    """
    block, n = at.gap(gap)
    stmt = stmt_at(at.proc.body, block[:-1]) if block else None
    whole = block_at(at.proc.body, block)
    first, second = whole[:n], whole[n:]
    if not first or not second:
        raise limit("the place is at an end of its block", gap.at.stmt.span)
    _uses_nothing_of(at, first, second)
    match stmt:
        case For(var=var):
            given = (*at.twice((*block, 0), (var,)), less(Var(var), primed(var)))
            later = tuple(a.primed(var) for a in at.effects(first))
            failure = f"iterations of `{var}` before and after the place cannot be exchanged"
            at.commute(given, at.effects(second), later, failure)
            other = at.fresh(var)
            rest: Stmt = replace(stmt, var=other, body=substitute(second, {var: Var(other)}))
        case If(orelse=()) | Role():
            rest = with_blocks(stmt, (second, ())[: len(children(stmt))])
        case _:
            raise Refused("schedule.pattern", f"the place {gap} is in no loop, role, or `if` without `else`")
    part = with_blocks(stmt, (first, ())[: len(children(stmt))])
    moves = {(0,): (0,), **block_moves((0, 0), n, len(whole), (1, 0))}
    at.splice(block[:-1], 1, (part, rest), moves)


def _uses_nothing_of(at: Work, first: Block, second: Block) -> None:
    """Refuses a cut between an allocation and its uses."""
    for alloc in first:
        if isinstance(alloc, Alloc) and alloc.name in at.names_in(second):
            help = f"lift `{alloc.name}` out of the loop first"
            raise limit(f"`{alloc.name}` is allocated before the place and used after it", alloc.span, help)


@operator
def fuse(at: Work, first: Where) -> None:
    """Joins a loop, an `if` or a role with the one right after it.

    Loops: both go over the same iterations, and the second loop's iteration i commutes with the first one's i' > i.
    """
    one = at.find(first)
    other = one.next()
    match one.stmt, other.stmt:
        case For() as a, For() as b:
            _fuse_loops(at, one.path, a, b)
        case If() as a, If() as b:
            _fuse_ifs(at, one.path, a, b)
        case Role() as a, Role() as b if (a.name, a.index) == (b.name, b.index):
            moves = {(0,): (0,), (1,): (0,), **block_moves((1, 0), 0, len(b.body), (0, 0), len(a.body))}
            at.splice(one.path, 2, (replace(a, body=(*a.body, *b.body)),), moves)
        case _:
            text = f"`{one}` and `{other}` are not two loops, two `if`, or one role twice"
            raise Refused("schedule.pattern", text, one.stmt.span)


def _fuse_loops(at: Work, path: Path, a: For, b: For) -> None:
    known = at.known(path)
    goal = both((equal(a.lo, b.lo), equal(a.hi, b.hi)))
    at.prove("both loops have the same bounds", known, goal, "the loops have different bounds", b.span)
    second = substitute(b.body, {b.var: Var(a.var)})
    given = (*at.twice((*path, 0, 0), (a.var,)), less(Var(a.var), primed(a.var)))
    later = tuple(x.primed(a.var) for x in at.effects(a.body))
    failure = f"iterations of `{a.var}` and `{b.var}` cannot be exchanged"
    at.commute(given, at.effects(second), later, failure)
    n = len(a.body)
    moves = {(0,): (0,), (1,): (0,), **block_moves((1, 0), 0, len(b.body), (0, 0), n)}
    at.splice(path, 2, (replace(a, body=(*a.body, *second)),), moves)


def _fuse_ifs(at: Work, path: Path, a: If, b: If) -> None:
    goal = either((both((a.cond, b.cond)), both((negated(a.cond), negated(b.cond)))))
    at.prove("both conditions agree", at.known(path), goal, "the conditions differ", b.span)
    new = replace(a, then=(*a.then, *b.then), orelse=(*a.orelse, *b.orelse))
    moves = {
        (0,): (0,),
        (1,): (0,),
        **block_moves((1, 0), 0, len(b.then), (0, 0), len(a.then)),
        **block_moves((1, 1), 0, len(b.orelse), (0, 1), len(a.orelse)),
    }
    at.splice(path, 2, (new,), moves)


@operator
def unroll(at: Work, loop: Where) -> None:
    """A loop with a literal number of iterations as one copy of its body for each."""
    stmt, path = at.loop(loop)
    trips = literal(subtract(stmt.hi, stmt.lo))
    if trips is None:
        raise limit(f"the trip count of `{stmt.var}` is not a literal", stmt.span, "divide it, or fix the sizes first")
    new: Block = ()
    for n in range(trips):
        body = substitute(stmt.body, {stmt.var: add(stmt.lo, Int(n))})
        new += body if n == 0 else at.copy(body, declared(new))
    moves: Moves = {(0,): None, (0, 0): None, **(block_moves((0, 0), 0, len(stmt.body), ()) if trips == 1 else {})}
    at.splice(path, 1, new, moves)


@operator
def cut(at: Work, loop: Where, where: IndexLike) -> None:
    """Cuts the range of a loop in two at `where`, which must be proved to lie between its bounds."""
    stmt, path = at.loop(loop)
    middle = as_index(where)
    at.in_scope(middle, path)
    goal = both((Cmp("<=", stmt.lo, middle), Cmp("<=", middle, stmt.hi)))
    failure = f"`{words(middle)}` can lie outside the range of `{stmt.var}`"
    at.prove("the cut lies in the loop's range", at.known(path), goal, failure, stmt.span)
    var = at.fresh(stmt.var)
    body = at.copy(substitute(stmt.body, {stmt.var: Var(var)}), (var,))
    at.splice(path, 1, (replace(stmt, hi=middle), replace(stmt, var=var, lo=middle, body=body)), {(0,): (0,)})


@operator
def join(at: Work, first: Where) -> None:
    """Joins two loops with one body where the second goes on from the first."""
    one = at.find(first)
    a, b = one.stmt, one.next().stmt
    if not isinstance(a, For) or not isinstance(b, For):
        raise Refused("schedule.pattern", f"`{one}` is not followed by another loop", one.stmt.span)
    if a.mode != b.mode or not alike(a.body, substitute(b.body, {b.var: Var(a.var)})):
        raise limit(f"the bodies of `{a.var}` and `{b.var}` differ", b.span)
    known = at.known(one.path)
    goal = both((equal(a.hi, b.lo), Cmp("<=", a.lo, a.hi), Cmp("<=", b.lo, b.hi)))
    at.prove("the second loop goes on from the first", known, goal, "the second loop starts elsewhere", b.span)
    at.splice(one.path, 2, (replace(a, hi=b.hi),), {(0,): (0,), (1,): (0,)})


@operator
def shift(at: Work, loop: Where, lo: IndexLike) -> None:
    """A loop that starts at `lo` instead, with as many iterations."""
    stmt, path = at.loop(loop)
    start = as_index(lo)
    at.in_scope(start, path)
    distance = subtract(start, stmt.lo)
    body = substitute(stmt.body, {stmt.var: subtract(Var(stmt.var), distance)})
    new = replace(stmt, lo=start, hi=add(stmt.hi, distance), body=body)
    at.splice(path, 1, (new,), {(0,): (0,)})


@operator
def collapse(at: Work, loop: Where, name: str | None = None) -> None:
    """A loop and the one of literal length n that is its whole body as one loop over both: v // n and v % n."""
    outer, path = at.loop(loop)
    inner = outer.body[0] if len(outer.body) == 1 else None
    if not isinstance(inner, For):
        raise Refused("schedule.pattern", f"the body of `{outer.var}` is not one loop", outer.span, help=ALONE)
    n = literal(subtract(inner.hi, inner.lo))
    if n is None or n < 1:
        raise limit(f"the trip count of `{inner.var}` is not a positive literal", inner.span)
    var = at.fresh(name or outer.var, free=(outer.var, inner.var))
    env = {
        outer.var: add(outer.lo, quotient(Var(var), n)),
        inner.var: add(
            substitute_index(inner.lo, {outer.var: add(outer.lo, quotient(Var(var), n))}), quotient(Var(var), n, "%")
        ),
    }
    hi = times(n, subtract(outer.hi, outer.lo))
    new = replace(outer, var=var, lo=Int(0), hi=hi, body=substitute(inner.body, env))
    at.splice(path, 1, (new,), {(0,): (0,), (0, 0, 0): (0,), (0, 0, 0, 0): (0, 0)})


@operator
def swap(at: Work, first: Where) -> None:
    """Exchanges a statement, or several, with the one after them."""
    one = at.find(first)
    other = one.next()
    _uses_nothing_of(at, one.block, other.block)
    failure = "the statements cannot be exchanged"
    at.commute(at.known(one.path), at.effects(one.block), tuple(a.primed() for a in at.effects(other.block)), failure)
    moves: Moves = {(one.count,): (0,), **{(n,): (n + 1,) for n in range(one.count)}}
    at.splice(one.path, one.count + 1, (*other.block, *one.block), moves)
