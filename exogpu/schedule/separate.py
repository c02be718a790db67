"""Several buffers in place of one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exogpu.ir.index import Index
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Assign, Block, Stmt
from exogpu.ir.value import Read, Value
from exogpu.ir.walk import children, map_value, with_blocks
from exogpu.schedule.cursor import Where
from exogpu.schedule.dimensions import Allocated
from exogpu.schedule.errors import limit
from exogpu.schedule.paths import Moves
from exogpu.schedule.work import Work, operator


@operator
def separate(at: Work, where: Where, names: tuple[str, ...], dim: int = 0) -> None:
    """Gives each element of a dimension a buffer of its own, with one name for each. Accesses have literal indices in
    the dimension: unroll the loops over it first."""
    buffer = Allocated.find(at, where)
    alloc, n = buffer.alloc, buffer.dimension(dim)
    if len(names) != alloc.shape[n]:
        raise limit(f"{len(names)} names are given for {alloc.shape[n]} elements", alloc.span)
    if len(alloc.shape) == 1:
        raise limit(f"`{alloc.name}` has no other dimension", alloc.span, "expand it first")
    buffer.in_no_instruction()
    if len(set(names)) < len(names):
        raise limit("two buffers would have one name", alloc.span)
    chosen = tuple(name if name == alloc.name else at.unused(name) for name in names)
    shape = (*alloc.shape[:n], *alloc.shape[n + 1 :])
    new = tuple(replace(alloc, name=name, shape=shape) for name in chosen)
    users = _Separation(alloc.name, chosen, n).block(buffer.users)
    moves: Moves = {(0,): (0,), **{(i,): (i + len(new) - 1,) for i in range(1, len(users) + 1)}}
    at.splice(buffer.path, 1 + len(users), (*new, *users), moves)


@dataclass(frozen=True, slots=True)
class _Separation:
    """What becomes of the accesses to the buffer `old`, whose dimension `dim` goes."""

    old: str
    names: tuple[str, ...]
    dim: int

    def block(self, block: Block) -> Block:
        return tuple(self.stmt(stmt) for stmt in block)

    def stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Assign():
                stmt = replace(stmt, rhs=map_value(stmt.rhs, self.value))
                if stmt.buffer != self.old:
                    return stmt
                return replace(stmt, buffer=self.name(stmt.index, stmt), index=self.rest(stmt.index))
            case _:
                return with_blocks(stmt, tuple(self.block(inner) for inner in children(stmt)))

    def value(self, value: Value) -> Value:
        if isinstance(value, Read) and value.buffer == self.old:
            return replace(value, buffer=self.name(value.index, value), index=self.rest(value.index))
        return value

    def name(self, index: tuple[Index, ...], where: Assign | Read) -> str:
        number = literal(index[self.dim])
        if number is None:
            raise limit(f"an index of `{self.old}` is not literal in that dimension", where.span, "unroll the loop")
        if not 0 <= number < len(self.names):
            raise limit(f"`{self.old}` is accessed out of bounds", where.span)
        return self.names[number]

    def rest(self, index: tuple[Index, ...]) -> tuple[Index, ...]:
        return (*index[: self.dim], *index[self.dim + 1 :])
