"""Roles taken apart: by CTA, and into threads for which everything that tells threads apart has the same value.

A condition on the thread and on something else may let some warps of a role execute a statement and others not. In a
part of the role in which all threads agree on what it says of the thread, it is a condition on the rest alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.ir.skeleton.operations import BarSync, Spin
from exogpu.ir.skeleton.tree import RANK, TID, Body, For, If, RoleDecl, Skeleton, Stmt
from exogpu.ir.skeleton.walk import walk
from exogpu.ir.stmt import Point
from exogpu.ir.walk import index_names
from exogpu.verify.skeleton.mentions import names_in, refs_in

MOST_PARTS = 16
"""Most parts of a role in one CTA; what would tell apart more is left as it is."""

Threads = tuple[int, ...]
Part = tuple[RoleDecl, Threads]


def divisible(skeleton: Skeleton) -> bool:
    """Some role has parts."""
    return any(len(parts(skeleton, body)) > 1 for body in skeleton.bodies)


def parts(skeleton: Skeleton, body: Body) -> list[Part]:
    """The parts of a role: in each CTA, if anything mixes the CTA with something else, and the threads that agree."""
    mixed = [e for e in _mixed(skeleton, body) if index_names(e) & {TID, RANK}]
    groups: list[Threads] = [tuple(range(body.role.threads))]
    for e in dict.fromkeys(t for m in mixed for t in _of_thread(m)):
        finer = [tuple(g) for group in groups for g in _by_value(e, group)]
        groups = finer if len(finer) <= MOST_PARTS else groups
    by_cta = any(RANK in index_names(e) for e in mixed)
    roles = [replace(body.role, ctas=(cta,)) for cta in body.role.ctas] if by_cta else [body.role]
    return [(role, group) for role in roles for group in groups]


def folded(e: Index, who: Threads) -> Index:
    """An expression in which what says the same of all of these threads is a number."""
    if index_names(e) == {TID}:
        values = {evaluate(e, {TID: t}) for t in who}
        if len(values) == 1:
            return Int(values.pop())
    return replace(e, left=folded(e.left, who), right=folded(e.right, who)) if isinstance(e, Bin) else e


def folded_cond(c: Cond, who: Threads) -> Cond:
    """A condition, likewise."""
    match c:
        case Cmp(left=left, right=right):
            return replace(c, left=folded(left, who), right=folded(right, who))
        case BoolOp(args=args):
            return replace(c, args=tuple(folded_cond(a, who) for a in args))
        case Not(arg=arg):
            return replace(c, arg=folded_cond(arg, who))
        case _:
            return c


def _mixed(skeleton: Skeleton, body: Body) -> Iterator[Index | Cond]:
    """What may mix the thread with something else: arguments of unknown numbers, bounds, conditions, mbarriers; ids of
    named barriers, by which threads of a role may take turns; and values that flags are waited for."""
    unknowns = dict(skeleton.unknowns)
    mbarriers = {o.name for o in skeleton.objects if isinstance(o, Mbarriers)}
    for stmt in walk(body.stmts):
        for name in sorted(names_in(skeleton, stmt) & unknowns.keys()):
            yield from unknowns[name].args
        yield from (e for e in _tested(stmt) if index_names(e) - {TID, RANK})
        if isinstance(stmt, BarSync) and TID in index_names(stmt.id):
            yield stmt.id
        if isinstance(stmt, Spin) and TID in index_names(stmt.value):
            yield stmt.value
        for ref in (r for r in refs_in(stmt) if r.name in mbarriers):
            indices = (d.index for d in ref.dims if isinstance(d, Point))
            yield from (e for e in indices if index_names(e) - {TID} and index_names(e) - {RANK})


def _tested(stmt: Stmt) -> tuple[Index | Cond, ...]:
    match stmt:
        case For(lo=lo, hi=hi):
            return (lo, hi)
        case If(cond=cond):
            return (cond,)
        case _:
            return ()


def _of_thread(e: Index | Cond) -> Iterator[Index]:
    """The largest parts of an expression that mention the thread alone."""
    match e:
        case Var() | Bin() if index_names(e) == {TID}:
            yield e
        case Bin(left=left, right=right) | Cmp(left=left, right=right):
            yield from (*_of_thread(left), *_of_thread(right))
        case BoolOp(args=args):
            for a in args:
                yield from _of_thread(a)
        case Not(arg=arg):
            yield from _of_thread(arg)
        case _:
            return


def _by_value(e: Index, threads: Threads) -> list[list[int]]:
    found: dict[int, list[int]] = {}
    for t in threads:
        found.setdefault(evaluate(e, {TID: t}), []).append(t)
    return list(found.values())
