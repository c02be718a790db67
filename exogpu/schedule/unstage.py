"""The way back from a copy: reads of a buffer become what its elements were computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from exogpu.ir.index import Bool, Cond, Index, Var
from exogpu.ir.solve import solve
from exogpu.ir.stmt import Assign, Block, Stmt
from exogpu.ir.substitute import Change, change_value
from exogpu.ir.terms import equal
from exogpu.ir.value import Read, Value
from exogpu.ir.value_type import computed, value_type
from exogpu.ir.walk import children, map_value, reads, substitute_cond, substitute_index, with_blocks
from exogpu.schedule.cover import covers
from exogpu.schedule.cursor import Where
from exogpu.schedule.dimensions import Allocated
from exogpu.schedule.effects import Access, Does
from exogpu.schedule.errors import limit
from exogpu.schedule.order import Order
from exogpu.schedule.paths import Path, same, stmt_at
from exogpu.schedule.placement import exact
from exogpu.schedule.work import Work, operator


@operator
def inline_window(at: Work, where: Where) -> None:
    """Puts what the elements of an allocated buffer are computed from where they are read, and removes the buffer.

    One assignment writes them, exactly, and no instruction uses the buffer. What is read was written before, and until
    then neither the element nor what it was computed from changes.
    """
    buffer = Allocated.find(at, where)
    copy = _Copy.of(buffer)
    there: dict[tuple[Path, tuple[Index, ...]], Value] = {}
    for read in (a for a in copy.all if a.buffer == buffer.alloc.name and a.does is Does.READ):
        there[read.place, read.index] = copy.value_at(read)
    count, block, first = len(buffer.users), buffer.path[:-1], buffer.path[-1] + 1
    at.splice((*block, first), count, _inlined(buffer.users, buffer.alloc.name, there, ()), same(0, count))
    dead = _alone(buffer.users, copy.write.place)
    at.splice((*block, first + dead[0], *dead[1:]), 1, (), {(0,): None})
    at.splice(buffer.path, 1, (), {(0,): None})


def _alone(block: Block, path: Path) -> Path:
    """The outermost statement that contains nothing but the one at a path."""
    while len(path) > 1 and sum(map(len, children(stmt_at(block, path[:-2])))) == 1:
        path = path[:-2]
    return path


@dataclass(frozen=True, slots=True)
class _Copy:
    """The one assignment to a buffer: what it does, what it reads, and everything else that the block does."""

    buffer: Allocated
    stmt: Assign
    write: Access
    sources: tuple[Access, ...]
    all: tuple[Access, ...]

    @staticmethod
    def of(buffer: Allocated) -> _Copy:
        at, name = buffer.at, buffer.alloc.name
        buffer.in_no_instruction()
        found = at.effects(buffer.users)
        writes = [a for a in found if a.buffer == name and a.does is not Does.READ]
        if len(writes) != 1 or writes[0].does is not Does.WRITE:
            raise limit(f"`{name}` is not written by one assignment", buffer.alloc.span)
        stmt = stmt_at(buffer.users, writes[0].place)
        assert isinstance(stmt, Assign)
        types, dtype = at.types, buffer.alloc.dtype
        if value_type(stmt.rhs, types) is not computed(dtype) or not exact(stmt.rhs, dtype, types):
            raise limit(f"`{name}` may round what it is computed from", stmt.span)
        sources = tuple(a for a in found if a.place == writes[0].place and a.does is Does.READ)
        if len(sources) != sum(bool(r.index) for r, _ in reads(stmt.rhs)):
            raise limit("it is computed from a buffer that does not live as long", stmt.span)
        if any(a.buffer == name for a in sources):
            raise limit(f"`{name}` is computed from itself", stmt.span)
        return _Copy(buffer, stmt, writes[0], sources, found)

    def value_at(self, read: Access) -> Value:
        """What an element that is read was computed from."""
        at, name = self.buffer.at, self.buffer.alloc.name
        own = self._own(read)
        env: dict[str, Index] = {n: Var(f"{n}*") for n in own}
        write = self.write.at(env)
        found = solve(zip(write.index, read.index, strict=True), frozenset(f"{n}*" for n in own))
        goal = covers(self.write, read)
        if goal is None or len(found) < len(own):
            raise limit(f"it is not known which write makes what is read of `{name}`", read.span)
        known = (*at.known(self.buffer.path), *read.given)
        at.prove(f"{read} was written before", known, goal, f"`{read}` can be read where it was not written", read.span)
        then = (*known, *write.given, *(equal(Var(n), i) for n, i in found.items()))
        order = Order(self.buffer.users)
        failure = f"`{self.write}` is written again before it is read"
        self._unchanged(order, then, write, read, write.index, self.write.primed(), failure)
        for source in (a.at(env) for a in self.sources):
            failure = f"`{source}` changes before what was computed from it is read"
            for change in self.all:
                if change.buffer == source.buffer and change.does is not Does.READ:
                    self._unchanged(order, (*then, *source.given), write, read, source.index, change.primed(), failure)
        return self._value({n: found[f"{n}*"] for n in own})

    def _own(self, read: Access) -> list[str]:
        """The loops of the write that are not around the read."""
        pairs = zip(self.write.inner, self.write.loops, strict=True)
        return [n for n, loop in pairs if loop not in read.loops]

    def _unchanged(
        self,
        order: Order,
        then: tuple[Cond, ...],
        write: Access,
        read: Access,
        index: tuple[Index, ...],
        change: Access,
        failure: str,
    ) -> None:
        """No change of an element comes between the write and the read."""
        between = (order.before(write, change), order.before(change, read))
        if Bool(False) in between:
            return
        meet = (equal(a, b) for a, b in zip(index, change.index, strict=True))
        given = (*then, *change.given, *meet, *between)
        self.buffer.at.prove("nothing changes in between", given, Bool(False), failure, read.span)

    def _value(self, env: Mapping[str, Index]) -> Value:
        return change_value(
            self.stmt.rhs, Change(lambda e: substitute_index(e, env), lambda c: substitute_cond(c, env))
        )


def _inlined(block: Block, name: str, there: Mapping[tuple[Path, tuple[Index, ...]], Value], path: Path) -> Block:
    """The block with the reads of a buffer, by place and index, replaced."""

    def statement(stmt: Stmt, place: Path) -> Stmt:
        if not isinstance(stmt, Assign):
            nested = children(stmt)
            return with_blocks(stmt, tuple(_inlined(b, name, there, (*place, n)) for n, b in enumerate(nested)))

        def value(v: Value) -> Value:
            return there[place, v.index] if isinstance(v, Read) and v.buffer == name else v

        return replace(stmt, rhs=map_value(stmt.rhs, value))

    return tuple(statement(stmt, (*path, n)) for n, stmt in enumerate(block))
