"""A plan: synchronisation to be put before, after, or at the front of statements of a kernel, and its barriers.

Mechanisms plan independently of each other; at one place the ranks decide who comes first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from exogpu.ir.completion import completing_on
from exogpu.ir.index import Index, Var
from exogpu.ir.proc import BarrierDecl, Proc
from exogpu.ir.stmt import Alloc, Arrive, Block, Fence, For, If, InstrCall, Point, Role, Stmt
from exogpu.ir.walk import children, substitute_cond, substitute_index, walk, with_blocks
from exogpu.source import Span

GENERATED = "<sync>"
"""The file of the places of generated statements; their lines tell them apart."""


@dataclass(frozen=True, slots=True)
class Insertion:
    """Statements beside `anchor` (that very object): before it, or after. Lower ranks come first."""

    anchor: Stmt
    after: bool
    rank: int
    stmts: Block


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be inserted, after the whole body at the end, declared, and on which barrier copies complete."""

    insertions: tuple[Insertion, ...] = ()
    last: Block = ()
    barriers: tuple[BarrierDecl, ...] = ()
    completes: tuple[tuple[InstrCall, str], ...] = ()

    def __add__(self, other: Plan) -> Plan:
        return Plan(
            self.insertions + other.insertions,
            self.last + other.last,
            self.barriers + other.barriers,
            self.completes + other.completes,
        )


def before(anchor: Stmt, rank: int, *stmts: Stmt) -> Plan:
    """Statements before another one."""
    return Plan((Insertion(anchor, False, rank, stmts),))


def behind(anchor: Stmt, rank: int, *stmts: Stmt) -> Plan:
    """Statements after another one."""
    return Plan((Insertion(anchor, True, rank, stmts),))


def carried_out(proc: Proc, plan: Plan) -> Proc:
    """The kernel with the plan's statements, each at a place of its own."""
    beside: dict[tuple[int, bool], list[Insertion]] = {}
    for insertion in sorted(plan.insertions, key=lambda i: i.rank):
        beside.setdefault((id(insertion.anchor), insertion.after), []).append(insertion)
    names = {id(call): name for call, name in plan.completes}
    new = _New(Names.of(proc))

    def put(anchor: Stmt, *, after: bool) -> Block:
        return new.block(merged(tuple(s for i in beside.get((id(anchor), after), ()) for s in i.stmts)))

    def block(stmts: Block) -> Block:
        return tuple(s for stmt in stmts for s in (*put(stmt, after=False), inner(stmt), *put(stmt, after=True)))

    def inner(stmt: Stmt) -> Stmt:
        if isinstance(stmt, InstrCall) and id(stmt) in names:
            return completing_on(stmt, names[id(stmt)])
        return with_blocks(stmt, [block(b) for b in children(stmt)])

    body = block(proc.body) + new.block(merged(plan.last))
    return replace(proc, body=body, barriers=proc.barriers + tuple(map(new.barrier, plan.barriers)))


def merged(block: Block) -> Block:
    """The same with one loop, role or condition instead of equal ones in a row, and one fence instead of several."""
    out: list[Stmt] = []
    for stmt in block:
        last = out[-1] if out else None
        if last is not None and same_header(last, stmt):
            out[-1] = with_blocks(last, [merged((*a, *b)) for a, b in zip(children(last), children(stmt), strict=True)])
        elif not (isinstance(stmt, Fence) and isinstance(last, Fence)):
            out.append(stmt)
    return tuple(out)


def same_header(a: Stmt, b: Stmt) -> bool:
    """Two loops over the same threads, two blocks of one role, or under one condition."""
    match a, b:
        case For(), For():
            return (a.lo, a.hi, a.mode) == (b.lo, b.hi, b.mode) and a.var == b.var
        case Role(), Role():
            return (a.name, a.index) == (b.name, b.index)
        case If(), If():
            return a.cond == b.cond
        case _:
            return False


class Names:
    """Names that the kernel does not use yet, for loop variables and barriers."""

    def __init__(self, used: Iterable[str]) -> None:
        self._used = set(used)

    @classmethod
    def of(cls, proc: Proc) -> Names:
        """What the kernel leaves free."""
        inner = (s.var if isinstance(s, For) else s.name for s in walk(proc.body) if isinstance(s, For | Alloc))
        return cls((*(d.name for d in (*proc.args, *proc.barriers, *proc.named)), *inner))

    def fresh(self, wish: str) -> str:
        """The wished name, or with a number."""
        names = itertools.chain((wish,), (f"{wish}_{n}" for n in itertools.count(1)))
        name = next(n for n in names if n not in self._used)
        self._used.add(name)
        return name


class _New:
    """Generated statements: each gets a line of its own, and each loop a variable of its own."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._lines = itertools.count(1)

    def block(self, block: Block) -> Block:
        return tuple(_placed(s, {}, self._name, self._lines) for s in block)

    def barrier(self, declared: BarrierDecl) -> BarrierDecl:
        line = next(self._lines)
        return replace(declared, span=Span(GENERATED, line, 0, line, 0))

    def _name(self, var: str) -> str:
        return self._names.fresh(re.sub(r"(_\d+)+$", "", var))


def unnamed(stmt: Stmt) -> Stmt:
    """The statement with loop variables that are called by their number."""
    numbers = itertools.count()
    return _placed(stmt, {}, lambda var: f"v{next(numbers)}", itertools.count(1))


def _placed(stmt: Stmt, env: Mapping[str, Index], name: Callable[[str], str], lines: Iterator[int]) -> Stmt:
    line = next(lines)
    stmt = replace(stmt, span=Span(GENERATED, line, 0, line, 0))
    match stmt:
        case For(var=var):
            stmt = replace(stmt, var=name(var))
            env = {**env, var: Var(stmt.var)}
        case Arrive(ctas=Point(index)):
            stmt = replace(stmt, ctas=Point(substitute_index(index, env)))
        case If(cond=cond):
            stmt = replace(stmt, cond=substitute_cond(cond, env))
        case Role(index=index) if index is not None:
            stmt = replace(stmt, index=substitute_index(index, env))
        case _:
            pass
    return with_blocks(stmt, [tuple(_placed(s, env, name, lines) for s in b) for b in children(stmt)])


def around(wrappers: tuple[Stmt, ...], *block: Stmt) -> Block:
    """The statements inside copies of loops and roles, outermost first."""
    for stmt in reversed(wrappers):
        block = (with_blocks(stmt, [block]),)
    return block
