"""Loops that are unrolled by hand, as loops: statements of an iteration that repeat, with numbers that grow evenly.

`wait(full[0]); arrive(empty[0]); wait(full[1]); arrive(empty[1])` becomes `for s in range(2): wait(full[s]); ...`.
These are the same executions in the same order; but who waits on a ring then does so in one statement, not in two that
take turns, and such are what ranks and closed forms are found for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any, NoReturn

from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.linear import linear, literal
from exogpu.ir.skeleton.operations import Await
from exogpu.ir.skeleton.tree import Block, For, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import children, in_each_role, walk, with_blocks
from exogpu.ir.terms import add, times
from exogpu.ir.walk import substitute_index
from exogpu.verify.skeleton.mentions import names_in

Names = Mapping[str, Var]
"""Loop variables of a later group, as they are called in the first one."""


class _Differ(Exception):
    """Two statements are not alike."""


def rolled(skeleton: Skeleton) -> Skeleton:
    """The skeleton with a loop for each series of groups of statements in an iteration that wait for mbarriers."""
    numbers = count()
    return in_each_role(skeleton, lambda stmts: _block(skeleton, stmts, numbers, inside=False))


def _block(skeleton: Skeleton, block: Block, numbers: Iterator[int], *, inside: bool) -> Block:
    stmts = tuple(
        with_blocks(s, [_block(skeleton, inner, numbers, inside=inside or isinstance(s, For)) for inner in children(s)])
        for s in block
    )
    if not inside:
        return stmts
    out: list[Stmt] = []
    while stmts:
        loop, length = _series(skeleton, stmts, f"$copy{next(numbers)}")
        out.append(stmts[0] if loop is None else loop)
        stmts = stmts[max(length, 1) :]
    return tuple(out)


def _series(skeleton: Skeleton, stmts: Block, var: str) -> tuple[For | None, int]:
    """A loop for the longest series that the statements begin with, the one of the shortest groups; and its length."""
    best: tuple[For | None, int] = None, 0
    for size in range(1, len(stmts) // 2 + 1):
        if not any(isinstance(s, Await) for s in walk(stmts[:size])):
            continue
        body, copies = _copies(stmts, size, Var(var))
        if copies > 1 and size * copies > best[1] and not _needed(skeleton, body, stmts[size * copies :]):
            best = For(var, Int(0), Int(copies), body, stmts[0].span, written="copy"), size * copies
    return best


def _needed(skeleton: Skeleton, body: Block, following: Block) -> bool:
    """The statements that follow mention a name whose first value is given in the loop, where it would end with it."""
    ending = {s.name for s in body if isinstance(s, Let)}
    return any(names_in(skeleton, s) & ending or (isinstance(s, Step) and s.name in ending) for s in walk(following))


def _copies(stmts: Block, size: int, at: Var) -> tuple[Block, int]:
    """What becomes of the first `size` statements in a loop, and how many groups it stands for."""
    first, body, copies = stmts[:size], stmts[:size], 1
    while True:
        following = stmts[size * copies : size * (copies + 1)]
        try:
            found = _alike(first, following, at, copies, {}) if len(following) == size else None
        except _Differ:
            found = None
        if found is None or (copies > 1 and found != body):
            return body, copies
        body, copies = found, copies + 1


def _alike(a: Any, b: Any, at: Var, copy: int, names: Names) -> Any:
    """`a` where `at` is 0, and `b` where it is `copy`; raises `_Differ` if nothing is both."""
    match a:
        case Var() | Int() | Bin():
            return _index(a, substitute_index(b, names), at, copy) if isinstance(b, Var | Int | Bin) else _differ()
        case For(var=var) if isinstance(b, For):
            names = {**names, b.var: Var(var)}
            b = replace(b, var=var)
        case tuple() if isinstance(b, tuple) and len(a) == len(b):
            return tuple(_alike(x, y, at, copy, names) for x, y in zip(a, b, strict=True))
        case _:
            pass
    if not is_dataclass(a) or isinstance(a, type) or type(a) is not type(b):
        return a if a == b else _differ()
    compared = (f.name for f in fields(a) if f.compare)
    return replace(a, **{n: _alike(getattr(a, n), getattr(b, n), at, copy, names) for n in compared})


def _index(a: Index, b: Index, at: Var, copy: int) -> Index:
    """The index that is a where `at` is 0, and b where it is `copy`: it grows evenly, or its parts do."""
    more = linear(b).plus(linear(a), -1)
    if not more.terms and more.const % copy == 0:
        return a if more.const == 0 else add(a, times(more.const // copy, at))
    match a, b:
        case Bin(op, left, right), Bin(other, there, beyond) if op == other:
            grown = replace(a, left=_index(left, there, at, copy), right=_index(right, beyond, at, copy))
            if op in ("//", "%", "ceildiv") and right != beyond:
                _differ()
            if op == "*" and literal(grown.left) is None and literal(grown.right) is None:
                _differ()  # no index is a product of two variables
            return grown
        case _:
            _differ()


def _differ() -> NoReturn:
    raise _Differ
