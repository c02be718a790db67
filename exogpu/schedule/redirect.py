"""Statements whose accesses to a buffer go to other elements, or to another buffer.

An instruction is redirected through its windows, if that redirects the accesses of its meaning and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from exogpu.ir.index import Index, Int
from exogpu.ir.linear import Linear, linear
from exogpu.ir.print_expr import index_text
from exogpu.ir.stmt import Assign, InstrCall, Operand, Point, Range, Stmt, Window
from exogpu.ir.substitute import Change, change
from exogpu.ir.terms import total
from exogpu.ir.value import Read, Value
from exogpu.ir.walk import children, map_value, with_blocks
from exogpu.schedule.effects import Buffers
from exogpu.schedule.errors import limit
from exogpu.schedule.paths import Block, Path

Dims = tuple[Point | Range, ...]
Site = tuple[Path, tuple[Index, ...]]


@dataclass(frozen=True, slots=True)
class Redirect:
    """What becomes of the elements and windows of the buffer `old`: those of `new` that `dims` tells. It makes points
    of points. `before` and `after` are the buffers that instructions know. `kept`: the elements, by the place of the
    statement and the index, that stay in the old buffer, and without an index the instructions."""

    old: str
    new: str
    dims: Callable[[Dims], Dims]
    before: Buffers
    after: Buffers
    kept: frozenset[Site] = frozenset()

    def index(self, index: tuple[Index, ...]) -> tuple[Index, ...]:
        """The new place of an element."""
        return tuple(d.index for d in self.dims(tuple(map(Point, index))) if isinstance(d, Point))

    def block(self, block: Block, path: Path = ()) -> Block:
        """The redirected statements of the block at a path."""
        return tuple(self._statement(stmt, (*path, n)) for n, stmt in enumerate(block))

    def _statement(self, stmt: Stmt, place: Path) -> Stmt:
        match stmt:
            case Assign():
                stmt = replace(stmt, rhs=map_value(stmt.rhs, lambda v: self._value(v, place)))
                if stmt.buffer != self.old or (place, stmt.index) in self.kept:
                    return stmt
                return replace(stmt, buffer=self.new, index=self.index(stmt.index))
            case InstrCall():
                return stmt if (place, ()) in self.kept else self._call(stmt)
            case _:
                nested = enumerate(children(stmt))
                return with_blocks(stmt, tuple(self.block(inner, (*place, n)) for n, inner in nested))

    def _value(self, value: Value, place: Path) -> Value:
        if not isinstance(value, Read) or value.buffer != self.old or not value.index:
            return value
        if (place, value.index) in self.kept:
            return value
        return replace(value, buffer=self.new, index=self.index(value.index))

    def _call(self, call: InstrCall) -> InstrCall:
        if all(w.buffer != self.old for w in _windows(call)):
            return call
        new = replace(call, operands=tuple((name, self._operand(operand)) for name, operand in call.operands))
        shapes = ([w.shape for w in _windows(c)] for c in (call, new))
        if len({tuple(s) for s in shapes}) != 1 or not self._same_meaning(call, new):
            raise limit(f"`{call.instr.name}` cannot use the changed `{self.old}`", call.span)
        return new

    def _operand(self, operand: Operand) -> Operand:
        if not isinstance(operand, Window) or operand.buffer != self.old:
            return operand
        return replace(operand, buffer=self.new, dims=self.dims(operand.dims))

    def _same_meaning(self, old: InstrCall, new: InstrCall) -> bool:
        wanted = replace(self, kept=frozenset()).block(old.instr.meaning(old, self.before))
        return change(wanted, _SORTED) == change(new.instr.meaning(new, self.after), _SORTED)


def _windows(call: InstrCall) -> list[Window]:
    return [operand for _, operand in call.operands if isinstance(operand, Window)]


def difference(a: Index, b: Index) -> Index:
    """`a - b` with equal terms collected."""
    return a if b == Int(0) else total(linear(a).plus(linear(b), -1))


def _sorted(e: Index) -> Index:
    form = linear(e)
    return total(Linear(dict(sorted(form.terms.items(), key=lambda term: index_text(term[0]))), form.const))


_SORTED = Change(_sorted)
