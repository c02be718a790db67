"""Operators on guards: running a statement where it was not run, because nobody can tell.

Tiles reach over the edges of tensors. Guards keep their extra elements from being computed, which instructions on whole
tiles do not do. A guard can go if what is then computed in addition is never seen, or is an addition of zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from exogpu.ir.index import Cond
from exogpu.ir.stmt import Alloc, If
from exogpu.ir.terms import both, equal, negated
from exogpu.ir.value import Arith, Cast, Neg, Num, Read, Select, Value
from exogpu.ir.walk import walk
from exogpu.schedule.cover import covers
from exogpu.schedule.cursor import Where
from exogpu.schedule.effects import Access, Does, effects
from exogpu.schedule.errors import limit
from exogpu.schedule.paths import Block, Moves, Path, block_at, block_moves, spliced
from exogpu.schedule.work import Work, operator


@operator
def drop_guard(at: Work, where: Where) -> None:
    """Removes an `if` without `else` and keeps what is in it.

    Where the condition fails, every access must be in bounds, and every element that is written must be one that no
    execution reads, or have zero added to it. (`-0.0 + 0.0` is `0.0`: results are equal as numbers.)
    """
    stmt, path = at.conditional(where)
    if stmt.orelse:
        raise limit("the `if` has an `else`", stmt.span)
    for inner in walk(stmt.then):
        if isinstance(inner, Alloc):
            raise limit(f"`{inner.name}` is allocated under the guard", inner.span, "lift it out first")
    outside = replace(stmt, cond=negated(stmt.cond))
    given = (*at.known(path), outside.cond)
    accesses = at.effects(stmt.then)
    at.inside(given, accesses, "without the guard")
    for access in accesses:
        if access.does is not Does.READ:
            _harmless(at, path, outside, access)
    moves: Moves = {(0,): None, **block_moves((0, 0), 0, len(stmt.then), ())}
    at.splice(path, 1, stmt.then, moves)


@operator
def conjoin(at: Work, where: Where) -> None:
    """An `if` and the one that is its whole block, both without `else`, as one."""
    outer, path = at.conditional(where)
    inner = outer.then[0] if len(outer.then) == 1 else None
    if not isinstance(inner, If) or outer.orelse or inner.orelse:
        raise limit("the `if` has an `else`, or its block is not one `if` without `else`", outer.span)
    new = replace(outer, cond=both((outer.cond, inner.cond)), then=inner.then)
    at.splice(path, 1, (new,), {(0,): (0,), (0, 0, 0): (0,)})


def _harmless(at: Work, path: Path, outside: If, access: Access) -> None:
    """A write of the guarded block can happen where the guard fails."""
    given = (*at.known(path), outside.cond, *access.given)
    added = access.value if access.does is Does.ADD else None
    if added is not None and _Zero(at, path, outside, access.place).holds(added, given):
        return
    home = _home(at, path, access.buffer)
    if home is None:
        raise limit(f"`{access.buffer}` is an argument, and it is written where the guard fails", access.span)
    scope = _Scope.of(at, home, path, outside)
    failure = f"what is written to `{access.buffer}` where the guard fails is read"
    for written in scope.outside:
        if written.buffer == access.buffer and written.does is access.does and scope.place(written) == access.place:
            for read in scope.reads(access.buffer):
                at.apart(at.known(home), written, read.primed(), failure)


def _home(at: Work, path: Path, buffer: str) -> Path | None:
    """The path of the allocation of a buffer, in a block around `path`; None for an argument."""
    for depth in range(1, len(path) + 1, 2):
        block = block_at(at.proc.body, path[: depth - 1])
        for n, stmt in enumerate(block[: path[depth - 1]]):
            if isinstance(stmt, Alloc) and stmt.name == buffer:
                return (*path[: depth - 1], n)
    return None


@dataclass(frozen=True, slots=True)
class _Scope:
    """The life of a buffer. `all`: the accesses of its block as it is; `outside`: those of the guarded statements
    where the guard fails; `guard`: the path of the `if` in it."""

    all: tuple[Access, ...]
    outside: tuple[Access, ...]
    guard: Path

    @staticmethod
    def of(at: Work, home: Path, path: Path, outside: If) -> _Scope:
        depth, start = len(home) - 1, home[-1] + 1
        block: Block = block_at(at.proc.body, home[:-1])[start:]
        inside = (path[depth] - start, *path[depth + 1 :])
        turned = spliced(block, inside[:-1], inside[-1], inside[-1] + 1, (outside,))
        found = (a for a in effects(turned, at.buffers) if a.place[: len(inside)] == inside)
        return _Scope(effects(block, at.buffers), tuple(found), inside)

    def place(self, access: Access) -> Path:
        """The place of an access of the guarded statements, among these."""
        return access.place[len(self.guard) + 1 :]

    def reads(self, buffer: str) -> list[Access]:
        """The executions that can see an element."""
        return [a for a in self.all if a.buffer == buffer and a.does is Does.READ]


@dataclass(frozen=True, slots=True)
class _Zero:
    """Values that are zero where the guard fails, in the guarded statement at `place`; without a place nothing is known
    of what buffers hold."""

    at: Work
    path: Path
    outside: If
    place: Path | None

    def holds(self, value: Value, given: Sequence[Cond]) -> bool:
        """Whether a value is zero whenever `given` holds."""
        match value:
            case Num(number):
                return number == 0
            case Neg(arg) | Cast(_, arg):
                return self.holds(arg, given)
            case Arith("+" | "-" | "*", left, right):
                return self.holds(left, given) and self.holds(right, given)
            case Select(cond, then, orelse):
                return (self.never(cond, given) or self.holds(then, (*given, cond))) and (
                    self.never(negated(cond), given) or self.holds(orelse, (*given, negated(cond)))
                )
            case Read(buffer, index) if index:
                return self.filled(buffer, value, given)
            case _:
                return False

    def never(self, cond: Cond, given: Sequence[Cond]) -> bool:
        """Whether a condition never holds."""
        return self.at.implied(given, negated(cond))

    def filled(self, buffer: str, read: Read, given: Sequence[Cond]) -> bool:
        """Whether the one statement that writes a buffer has always written zero to the element before."""
        home = _home(self.at, self.path, buffer)
        if home is None or self.place is None:
            return False
        scope = _Scope.of(self.at, home, self.path, self.outside)
        writes = [a for a in scope.all if a.buffer == buffer and a.does is not Does.READ]
        mine = [
            a
            for a in scope.outside
            if (a.buffer, a.does, a.index, scope.place(a)) == (buffer, Does.READ, read.index, self.place)
        ]
        if len(writes) != 1 or not mine:
            return False
        write, access = writes[0], mine[0]
        goal = covers(write, access)
        if goal is None or not self.never(negated(goal), given):
            return False
        own = [n for n, loop in zip(write.inner, write.loops, strict=True) if loop != access.place[: len(loop)]]
        there = write.only_primed(own)
        hit = both(equal(a, b) for a, b in zip(there.index, read.index, strict=True))
        elsewhere = replace(self, place=None)
        return there.value is not None and elsewhere.holds(there.value, (*given, *there.given, hit))
