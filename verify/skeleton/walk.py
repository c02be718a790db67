"""Traversal of skeletons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from exogpu.ir.index import Bin, BoolOp, Cmp, Not, Var
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import Elect, For, If, Skeleton, Stmt
from exogpu.ir.stmt import Point, Range
from exogpu.ir.walk import index_names


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
        yield from refs_in(stmt)


def refs_in_loops(
    stmts: tuple[Stmt, ...], loops: Mapping[str, For] | None = None
) -> Iterator[tuple[Ref, Mapping[str, For]]]:
    """Every window that statements name, with the loops around by their variables."""
    around = loops or {}
    for s in stmts:
        yield from ((ref, around) for ref in refs_in(s))
        match s:
            case For(var=var, body=body):
                yield from refs_in_loops(body, {**around, var: s})
            case Elect(body=body):
                yield from refs_in_loops(body, around)
            case If(then=then, orelse=orelse):
                yield from refs_in_loops((*then, *orelse), around)
            case _:
                pass


def refs_in(stmt: Stmt) -> Iterator[Ref]:
    """The windows that a statement itself names."""
    for f in fields(stmt):
        value = getattr(stmt, f.name)
        if isinstance(value, Ref):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, Ref))


def names_in(stmt: Stmt) -> frozenset[str]:
    """The variables that a statement's own expressions mention, those of nested statements left out."""
    out = frozenset[str]()
    for f in fields(stmt):
        out |= _mentioned(getattr(stmt, f.name))
    return out


def _mentioned(value: object) -> frozenset[str]:
    match value:
        case Var() | Bin() | Cmp() | BoolOp() | Not():
            return index_names(value)
        case Ref(dims=dims, cta=cta):
            return _mentioned(dims) | _mentioned(cta)
        case Point(index=index):
            return _mentioned(index)
        case Range(lo=lo):
            return _mentioned(lo)
        case tuple() if not any(isinstance(v, Elect | For | If) for v in value):
            return frozenset[str]().union(*(_mentioned(v) for v in value))
        case _:
            return frozenset()
