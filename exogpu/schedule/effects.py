"""What statements do to memory: which elements they read, write and add to, and when.

An access is one element for each execution: its indices are over the variables around the statement and over the
variables of the loops inside it, which `given` bounds, together with the conditions under which it happens.
Instructions count through their meaning; synchronisation does nothing sequentially.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from exogpu.ir.index import BoolOp, Cmp, Cond, Index, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.print_expr import index_text
from exogpu.ir.stmt import Alloc, Arrive, Assign, Await, Fence, For, If, InstrCall, Role, Stmt
from exogpu.ir.substitute import Change, change_value
from exogpu.ir.terms import negated, within
from exogpu.ir.value import Value
from exogpu.ir.walk import reads, substitute_cond, substitute_index
from exogpu.schedule.paths import Block, Path
from exogpu.source import Span

Buffers = Mapping[str, BufferInfo]


class Does(enum.Enum):
    """How an access touches its element; additions to one element commute up to reassociation."""

    READ = "reads"
    WRITE = "writes"
    ADD = "adds to"


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a statement, for every execution of it. `inner`: the variables of loops inside the statement that
    the effects were asked of, outermost first, under names that occur nowhere else; `place`: the path of the
    assignment or instruction in that block; `loops`: for each inner variable the path of its loop, which for loops
    inside an instruction is longer than the place; `value`: what is written or added."""

    buffer: str
    index: tuple[Index, ...]
    does: Does
    inner: tuple[str, ...]
    given: tuple[Cond, ...]
    place: Path
    loops: tuple[Path, ...]
    span: Span
    value: Value | None = None

    def at(self, env: Mapping[str, Index]) -> Access:
        """The access with variables replaced; `inner` ones keep their names unless `env` has them."""
        index = tuple(substitute_index(i, env) for i in self.index)
        given = tuple(substitute_cond(c, env) for c in self.given)
        inner = tuple(v.name if isinstance(v := env.get(n, Var(n)), Var) else n for n in self.inner)
        return replace(self, index=index, given=given, inner=inner, value=_value(self.value, env))

    def range(self, name: str) -> tuple[Index, Index]:
        """The bounds of the loop inside the statement that has this variable."""
        lo = [c.left for c in self._facts() if c.op == "<=" and c.right == Var(name)]
        hi = [c.right for c in self._facts() if c.op == "<" and c.left == Var(name)]
        return lo[0], hi[0]

    def _facts(self) -> Iterator[Cmp]:
        for fact in self.given:
            yield from (c for c in (fact.args if isinstance(fact, BoolOp) else (fact,)) if isinstance(c, Cmp))

    def __str__(self) -> str:
        return f"{self.buffer}[{', '.join(map(index_text, self.index))}]"

    def primed(self, *others: str) -> Access:
        """Another execution: inner variables, and the `others`, get a prime."""
        return self.only_primed((*self.inner, *others))

    def only_primed(self, names: Iterable[str]) -> Access:
        """Another execution that differs in these variables."""
        return self.at({name: Var(f"{name}'") for name in names})


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where the walk is: what the names of loop variables mean, what is known, and the path of the block."""

    names: Mapping[str, Index]
    inner: tuple[str, ...]
    given: tuple[Cond, ...]
    path: Path
    loops: tuple[Path, ...] = ()
    place: Path | None = None

    def loop(self, stmt: For) -> _Scope:
        name, n = stmt.var, 0
        while name in self.inner:
            name, n = f"{stmt.var}.{n}", n + 1
        lo, hi = (substitute_index(b, self.names) for b in (stmt.lo, stmt.hi))
        names = {**self.names, stmt.var: Var(name)}
        given = (*self.given, within(Var(name), lo, hi))
        return replace(self, names=names, inner=(*self.inner, name), given=given, loops=(*self.loops, self.path))

    def under(self, cond: Cond) -> _Scope:
        return replace(self, given=(*self.given, substitute_cond(cond, self.names)))

    def into(self, *steps: int) -> _Scope:
        return replace(self, path=(*self.path, *steps))


def effects(block: Block, buffers: Buffers) -> tuple[Access, ...]:
    """The accesses of a block to memory that exists before and after it, in order. `buffers` are all that the
    procedure knows (`exogpu.ir.interp.plan.buffers_of`)."""
    return tuple(_block(block, buffers, _Scope({}, (), (), ())))


def _block(block: Block, buffers: Buffers, scope: _Scope) -> Iterator[Access]:
    private = {s.name for s in block if isinstance(s, Alloc)}
    for n, stmt in enumerate(block):
        yield from (a for a in _statement(stmt, buffers, scope.into(n)) if a.buffer not in private)


def _statement(stmt: Stmt, buffers: Buffers, scope: _Scope) -> Iterator[Access]:
    match stmt:
        case Assign():
            yield from _assign(stmt, scope)
        case For():
            yield from _block(stmt.body, buffers, scope.loop(stmt).into(0))
        case If(cond, then, orelse):
            yield from _block(then, buffers, scope.under(cond).into(0))
            yield from _block(orelse, buffers, scope.under(negated(cond)).into(1))
        case Role(body=body):
            yield from _block(body, buffers, scope.into(0))
        case InstrCall(instr=instr):
            yield from _block(instr.meaning(stmt, buffers), buffers, replace(scope.into(0), place=scope.path))
        case Alloc() | Fence() | Arrive() | Await():
            return


def _assign(stmt: Assign, scope: _Scope) -> Iterator[Access]:
    for read, under in reads(stmt.rhs):
        if read.index:
            inside = scope
            for cond in under:
                inside = inside.under(cond)
            yield _access(read.buffer, read.index, Does.READ, inside, stmt.span)
    does = Does.WRITE if stmt.op == "=" else Does.ADD
    yield replace(_access(stmt.buffer, stmt.index, does, scope, stmt.span), value=_value(stmt.rhs, scope.names))


def _access(buffer: str, index: tuple[Index, ...], does: Does, scope: _Scope, span: Span) -> Access:
    found = tuple(substitute_index(i, scope.names) for i in index)
    place = scope.path if scope.place is None else scope.place
    return Access(buffer, found, does, scope.inner, scope.given, place, scope.loops, span)


def _value(value: Value | None, env: Mapping[str, Index]) -> Value | None:
    to = Change(lambda e: substitute_index(e, env), lambda c: substitute_cond(c, env))
    return None if value is None else change_value(value, to)
