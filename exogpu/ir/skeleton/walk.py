"""Traversal of the statements of skeletons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from exogpu.ir.skeleton.tree import Block, Elect, For, If, Skeleton, Stmt


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
