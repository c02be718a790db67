"""Traversal of the statements of skeletons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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
