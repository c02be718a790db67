"""What the statements of skeletons mention: windows and variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from exogpu.ir.index import Bin, BoolOp, Cmp, Not, Var
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import Block, Elect, For, If, Skeleton, Stmt
from exogpu.ir.skeleton.walk import children, every_statement
from exogpu.ir.stmt import Point, Range
from exogpu.ir.walk import index_names


def every_ref(skeleton: Skeleton) -> Iterator[Ref]:
    """Every window that a statement names."""
    for stmt in every_statement(skeleton):
        yield from refs_in(stmt)


def refs_in_loops(stmts: Block, loops: Mapping[str, For] | None = None) -> Iterator[tuple[Ref, Mapping[str, For]]]:
    """Every window that statements name, with the loops around by their variables."""
    around = loops or {}
    for s in stmts:
        yield from ((ref, around) for ref in refs_in(s))
        inside = {**around, s.var: s} if isinstance(s, For) else around
        for block in children(s):
            yield from refs_in_loops(block, inside)


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
