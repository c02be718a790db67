"""Loops that are written in parts, as one: an iteration by itself before or behind the others, a loop that goes on
where the one before ends, and a loop of K trips that is all of another's body.

These are the same executions in the same order; but what stands in one place gets one closed form, and one rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

from exogpu.ir.index import Bin, Cmp, Cond, Index, Int, Var
from exogpu.ir.linear import Linear, linear
from exogpu.ir.skeleton.tree import Block, For, If, Let, Skeleton, Stmt
from exogpu.ir.skeleton.walk import children, in_each_role, walk, with_blocks
from exogpu.ir.terms import add, subtract, times, total
from exogpu.ir.walk import conjuncts, index_names
from exogpu.verify.skeleton.mentions import names_in, names_of

Values = Mapping[str, Index]


class _Apart(Exception):
    """Two loop variables are used otherwise than as one."""


def joined(skeleton: Skeleton) -> Skeleton:
    """The skeleton with one loop for each that is written in parts."""
    return in_each_role(skeleton, partial(_block, skeleton))


def _block(skeleton: Skeleton, stmts: Block) -> Block:
    out: list[Stmt] = []
    for written in stmts:
        stmt = _flat(skeleton, with_blocks(written, [_block(skeleton, inner) for inner in children(written)]))
        while out and (one := _one(skeleton, out[-1], stmt)) is not None:
            out.pop()
            stmt = one
        out.append(stmt)
    return tuple(out)


# -- one behind the other ----------------------------------------------------------------------------------------------


def _one(skeleton: Skeleton, first: Stmt, second: Stmt) -> For | None:
    """Both as one loop, if they are its parts."""
    match first, second:
        case If(cond, then, ()), For(lo=lo) as loop:
            return (
                replace(loop, lo=total(linear(subtract(lo, Int(1)))))
                if _apart(skeleton, loop, cond, then, -1)
                else None
            )
        case For(hi=hi) as loop, If(cond, then, ()):
            later = total(linear(add(hi, Int(1))))
            return replace(loop, hi=later) if _apart(skeleton, loop, cond, then, 1) else None
        case For(lo=lo, hi=end) as loop, For(lo=start, hi=hi) as other:
            alike = _fixed(skeleton, loop) and _fixed(skeleton, other) and linear(end) == linear(start)
            if not alike or not _least(skeleton, end, lo) or not _least(skeleton, hi, end):
                return None
            each = Var(loop.var)
            return replace(loop, hi=hi) if _alike(loop.body, {}, other.body, {other.var: each}) else None
        case _:
            return None


def _apart(skeleton: Skeleton, loop: For, cond: Cond, body: Block, side: int) -> bool:
    """The body is the loop's iteration before the first or behind the last, and made if there is such a one."""
    there = _excess(cond)
    if there is None or there != linear(loop.hi).plus(linear(loop.lo), -1) or not _fixed(skeleton, loop):
        return False
    at = subtract(loop.lo, Int(1)) if side < 0 else loop.hi
    return _alike(body, {loop.var: at}, loop.body, {loop.var: at})


def _fixed(skeleton: Skeleton, loop: For) -> bool:
    """All threads make the same trips, and no unknown number in the body depends on which."""
    sizes = index_names(loop.lo) | index_names(loop.hi) <= {*skeleton.sizes}
    return sizes and not _hidden(skeleton, {loop.var}, loop.body)


def _hidden(skeleton: Skeleton, names: set[str], body: Block) -> bool:
    """Unknown numbers in a body depend on these names."""
    hidden = {n for n, _ in skeleton.unknowns if names_of(skeleton, Var(n)) & names}
    return any(names_in(skeleton, s) & hidden for s in walk(body))


def _excess(cond: Cond) -> Linear | None:
    """What is not negative where a comparison holds, and only there."""
    if not isinstance(cond, Cmp):
        return None
    more = linear(cond.left).plus(linear(cond.right), -1)
    match cond.op:
        case ">=":
            return more
        case ">":
            return more.plus(Linear({}, -1))
        case "<=":
            return Linear({}, 0).plus(more, -1)
        case "<":
            return Linear({}, -1).plus(more, -1)
        case _:
            return None


def _least(skeleton: Skeleton, a: Index, b: Index) -> bool:
    """`a >= b` at all sizes that the preconditions allow."""
    match a, b:
        case Bin("min", x, y), _:
            return _least(skeleton, x, b) and _least(skeleton, y, b)
        case _, Bin("min", x, y):
            return _least(skeleton, a, x) or _least(skeleton, a, y)
        case _:
            pass
    more = linear(a).plus(linear(b), -1)
    known = [e for r in skeleton.requires for c in conjuncts(r.cond) if (e := _excess(c)) is not None]
    return any(_natural(skeleton, more.plus(e, -1)) for e in (Linear({}, 0), *known))


def _natural(skeleton: Skeleton, form: Linear) -> bool:
    """Sizes are not negative."""
    sizes = {Var(name) for name in skeleton.sizes}
    return form.const >= 0 and all(a in sizes and n > 0 for a, n in form.terms.items())


def _alike(body: Block, values: Values, other: Block, its: Values) -> bool:
    """Two bodies are the same where names have these values."""
    return bool(_normal(body, values, 0) == _normal(other, its, 0))


def _normal(part: Any, values: Values, depth: int) -> Any:
    """A statement or a part of one in a form that does not depend on how it is written: where these names have values,
    with its own loop variables by their depth. Unknown numbers are told by name: no two of a skeleton share one."""
    match part:
        case Var(name):
            return values.get(name, part)
        case Int():
            return part
        case Bin(op, left, right):
            return total(linear(Bin(op, _normal(left, values, depth), _normal(right, values, depth))))
        case For(var=var):
            inner = {**values, var: Var(f"${depth}")}
            bounds = (_normal(e, values, depth) for e in (part.lo, part.hi))
            return ("for", *bounds, _normal(part.body, inner, depth + 1))
        case tuple():
            return tuple(_normal(each, values, depth) for each in part)
        case _ if is_dataclass(part) and not isinstance(part, type):
            compared = [getattr(part, f.name) for f in fields(part) if f.compare]
            return (type(part), *(_normal(each, values, depth) for each in compared))
        case _:
            return part


# -- one inside the other ----------------------------------------------------------------------------------------------


def _flat(skeleton: Skeleton, stmt: Stmt) -> Stmt:
    """Of two loops one, whose body is that of the inner one, if it uses their variables as one number."""
    match stmt:
        case For(outer, Int(0), trips, (For(inner, Int(0), Int(count), body) as loop,)) if count > 0:
            pass
        case _:
            return stmt
    if any(isinstance(s, Let) for s in body) or not _fixed(skeleton, stmt) or _hidden(skeleton, {inner}, body):
        return stmt
    try:
        return replace(loop, hi=times(count, trips), body=_by_one(body, outer, inner, count))
    except _Apart:
        return stmt


def _by_one(part: Any, outer: str, inner: str, count: int) -> Any:
    """A part of a body in which `inner` stands for `count * outer + inner`; raises `_Apart`."""
    match part:
        case Var() | Int() | Bin():
            return _number(part, outer, inner, count) if {outer, inner} & index_names(part) else part
        case tuple():
            return tuple(_by_one(each, outer, inner, count) for each in part)
        case _ if is_dataclass(part) and not isinstance(part, type):
            compared = (f.name for f in fields(part) if f.compare)
            return replace(part, **{name: _by_one(getattr(part, name), outer, inner, count) for name in compared})
        case _:
            return part


def _number(e: Index, outer: str, inner: str, count: int) -> Index:
    form = linear(e)
    each = form.terms.get(Var(inner), 0)
    if form.terms.get(Var(outer), 0) != count * each:
        raise _Apart
    out = Linear({Var(inner): each} if each else {}, form.const)
    for atom, factor in form.terms.items():
        match atom:
            case Var(name) if name in (outer, inner):
                pass
            case Bin(op, left, right):
                parts = (_by_one(x, outer, inner, count) for x in (left, right))
                out = out.plus(Linear({Bin(op, *parts): factor}, 0))
            case _:
                out = out.plus(Linear({atom: factor}, 0))
    return total(out)
