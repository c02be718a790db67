"""What the statements of skeletons mention: windows and variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import TID, Block, Elect, For, If, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import children, every_statement, walk
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
    return frozenset[str]().union(*map(index_names, _own(stmt)))


def changed(skeleton: Skeleton, stmts: Block) -> frozenset[str]:
    """The names that statements give values or step, and unknown numbers of them."""
    out = {s.name for s in walk(stmts) if isinstance(s, Let | Step)}
    grown = True
    while grown:
        more = {n for n, u in skeleton.unknowns if any(index_names(a) & out for a in u.args)}
        grown = not more <= out
        out |= more
    return frozenset(out)


def tells_apart(stmt: Stmt, unit: int, *, in_windows: bool = True) -> bool:
    """Whether a statement's own expressions may have other values for other threads of a unit of so many; the indices
    of windows count or do not."""
    return any(differs(e, unit) for e in _own(stmt, in_windows=in_windows))


def differs(e: Index | Cond, unit: int) -> bool:
    """Whether an expression may have another value for another thread of a unit; in a warp `tid // 32` has not."""
    match e:
        case Bin("//", Var(name), Int(n)) if name == TID and n > 0 and n % unit == 0:
            return False
        case Bin(_, left, right) | Cmp(_, left, right):
            return differs(left, unit) or differs(right, unit)
        case BoolOp(_, args):
            return any(differs(a, unit) for a in args)
        case Not(arg):
            return differs(arg, unit)
        case _:
            return TID in index_names(e)


def _own(stmt: Stmt, *, in_windows: bool = True) -> Iterator[Index | Cond]:
    """A statement's own expressions, those of nested statements left out."""
    for f in fields(stmt):
        yield from _expressions(getattr(stmt, f.name), in_windows)


def _expressions(value: object, in_windows: bool) -> Iterator[Index | Cond]:
    match value:
        case Var() | Int() | Bin() | Cmp() | BoolOp() | Not():
            yield value
        case Ref(dims=dims, cta=cta):
            yield from _expressions((*dims, cta) if in_windows else cta, in_windows)
        case Point(index=index):
            yield index
        case Range(lo=lo):
            yield lo
        case tuple() if not any(isinstance(v, Elect | For | If) for v in value):
            for v in value:
                yield from _expressions(v, in_windows)
        case _:
            return
