"""Traversal of skeletons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import Elect, For, If, Skeleton, Stmt


def nested(stmts: tuple[Stmt, ...], depth: int = 0) -> Iterator[tuple[Stmt, int]]:
    """Every statement, with the number of loops around it."""
    for s in stmts:
        yield s, depth
        match s:
            case For(body=body):
                yield from nested(body, depth + 1)
            case Elect(body=body):
                yield from nested(body, depth)
            case If(then=then, orelse=orelse):
                yield from nested((*then, *orelse), depth)
            case _:
                pass


def every_statement(skeleton: Skeleton) -> Iterator[Stmt]:
    """Every statement of every role."""
    for body in skeleton.bodies:
        yield from (s for s, _ in nested(body.stmts))


def every_ref(skeleton: Skeleton) -> Iterator[Ref]:
    """Every window that a statement names."""
    for stmt in every_statement(skeleton):
        for f in fields(stmt):
            value = getattr(stmt, f.name)
            if isinstance(value, Ref):
                yield value
            elif isinstance(value, tuple):
                yield from (v for v in value if isinstance(v, Ref))
