"""What the statements of skeletons mention: windows and variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import TID, Block, For, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import children, every_statement, expressions, walk
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


def names_in(skeleton: Skeleton, stmt: Stmt) -> frozenset[str]:
    """The variables that a statement's own expressions depend on, those of nested statements left out."""
    return frozenset[str]().union(*(names_of(skeleton, e) for e in expressions(stmt)))


def names_of(skeleton: Skeleton, e: Index | Cond) -> frozenset[str]:
    """The variables that an expression depends on: those that it mentions, among them unknown numbers, and those that
    the arguments of these depend on."""
    mentioned = index_names(e)
    arguments = (a for name, unknown in skeleton.unknowns if name in mentioned for a in unknown.args)
    return mentioned.union(*(names_of(skeleton, a) for a in arguments))


def in_arguments(skeleton: Skeleton) -> frozenset[str]:
    """The variables that unknown numbers depend on."""
    return frozenset(n for _, unknown in skeleton.unknowns for a in unknown.args for n in index_names(a))


def counters(stmts: Block) -> frozenset[str]:
    """The names that a role gives values: they may come to mean something else between two statements."""
    return frozenset(s.name for s in walk(stmts) if isinstance(s, Let | Step))


def tells_apart(stmt: Stmt, unit: int, *, in_windows: bool = True) -> bool:
    """Whether a statement's own expressions may have other values for other threads of a unit of so many; the indices
    of windows count or do not."""
    return any(differs(e, unit) for e in expressions(stmt, in_windows=in_windows))


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
