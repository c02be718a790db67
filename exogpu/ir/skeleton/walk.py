"""Traversal of the statements of skeletons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import Block, Elect, For, If, Skeleton, Stmt

Path = tuple[int, ...]
"""The place of a statement: its role, its place in a block, the block in that statement, its place there, and so on."""


def children(stmt: Stmt) -> tuple[Block, ...]:
    """The nested blocks of a statement."""
    match stmt:
        case For(body=body) | Elect(body=body):
            return (body,)
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case _:
            return ()


def with_blocks(stmt: Stmt, blocks: Sequence[Block]) -> Stmt:
    """A statement with other nested blocks, as many as it has."""
    match stmt:
        case For() | Elect():
            (body,) = blocks
            return replace(stmt, body=body)
        case If():
            then, orelse = blocks
            return replace(stmt, then=then, orelse=orelse)
        case _:
            return stmt


def expressions(stmt: Stmt, *, in_windows: bool = True) -> Sequence[Index | Cond]:
    """A statement's own expressions, those of nested statements left out; with the indices of windows or without."""
    found: list[Index | Cond] = []

    def note(e: Index | Cond) -> Index | Cond:
        found.append(e)
        return e

    changed(stmt, note, in_windows=in_windows)
    return found


def changed(stmt: Stmt, change: Callable[[Index | Cond], Index | Cond], *, in_windows: bool = True) -> Stmt:
    """A statement in which its own expressions are changed, those of nested statements left as they are."""
    inner = children(stmt)
    alone: Stmt = _changed(with_blocks(stmt, [()] * len(inner)), change, in_windows)
    return with_blocks(alone, inner)


def _changed(part: Any, change: Callable[[Index | Cond], Index | Cond], in_windows: bool) -> Any:
    match part:
        case Var() | Int() | Bin() | Cmp() | BoolOp() | Not() | Bool():
            return change(part)
        case Ref(cta=cta) if not in_windows:
            return replace(part, cta=_changed(cta, change, in_windows))
        case tuple():
            return tuple(_changed(each, change, in_windows) for each in part)
        case _ if is_dataclass(part) and not isinstance(part, type):
            compared = (f.name for f in fields(part) if f.compare)
            return replace(part, **{name: _changed(getattr(part, name), change, in_windows) for name in compared})
        case _:
            return part


def walk(block: Block) -> Iterator[Stmt]:
    """Every statement of a block, outer before inner."""
    for stmt in block:
        yield stmt
        for inner in children(stmt):
            yield from walk(inner)


def every_statement(skeleton: Skeleton) -> Iterator[Stmt]:
    """Every statement of every role."""
    for body in skeleton.bodies:
        yield from walk(body.stmts)


def in_each_role(skeleton: Skeleton, change: Callable[[Block], Block]) -> Skeleton:
    """The skeleton with the text of every role changed; itself if none is."""
    bodies = tuple(replace(b, stmts=change(b.stmts)) for b in skeleton.bodies)
    return replace(skeleton, bodies=bodies) if bodies != skeleton.bodies else skeleton


def blocks(block: Block) -> Iterator[Block]:
    """A block and all those in it."""
    yield block
    for stmt in block:
        for inner in children(stmt):
            yield from blocks(inner)


def placed(skeleton: Skeleton) -> Iterator[tuple[Path, Stmt]]:
    """Every statement with its place."""
    for n, body in enumerate(skeleton.bodies):
        yield from _placed(body.stmts, (n,))


def _placed(block: Block, path: Path) -> Iterator[tuple[Path, Stmt]]:
    for n, stmt in enumerate(block):
        here = (*path, n)
        yield here, stmt
        for arm, inner in enumerate(children(stmt)):
            yield from _placed(inner, (*here, arm))


def replaced(skeleton: Skeleton, others: Mapping[Path, Stmt]) -> Skeleton:
    """The skeleton with other statements in these places."""
    bodies = (replace(b, stmts=_replaced(b.stmts, (n,), others)) for n, b in enumerate(skeleton.bodies))
    return replace(skeleton, bodies=tuple(bodies))


def _replaced(block: Block, path: Path, others: Mapping[Path, Stmt]) -> Block:
    out: list[Stmt] = []
    for n, stmt in enumerate(block):
        here = (*path, n)
        inner = [_replaced(b, (*here, arm), others) for arm, b in enumerate(children(stmt))]
        out.append(others.get(here, with_blocks(stmt, inner)))
    return tuple(out)
