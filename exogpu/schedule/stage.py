"""Staging: statements that work on a window of a tensor get a copy of it in another memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from exogpu.ir.buffers import reassociable
from exogpu.ir.index import Bool, Cmp, Cond, Index, Int, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.stmt import Alloc, Assign, For, If, InstrCall, Point, Seq, Stmt
from exogpu.ir.substitute import declared
from exogpu.ir.terms import both, either, negated, within
from exogpu.ir.types import Memory, Rmem
from exogpu.ir.value import Num, Read, Select, Value
from exogpu.schedule.cover import covers
from exogpu.schedule.cursor import Where
from exogpu.schedule.effects import Access, Does, effects
from exogpu.schedule.errors import limit
from exogpu.schedule.expr import words
from exogpu.schedule.paths import Block, Moves, Path, block_at, stmt_at
from exogpu.schedule.redirect import Dims, Redirect, Site
from exogpu.schedule.windows import Frame, WindowLike, as_window
from exogpu.schedule.work import Work, operator

PRIVATE = Rmem()
ALWAYS = Bool(True)

Edges = Literal["perfect", "guard", "zero"]
Before = Literal["copy", "zero", "nothing"]


@operator
def stage(
    at: Work,
    where: Where,
    part: WindowLike,
    name: str,
    memory: Memory = PRIVATE,
    *,
    edges: Edges = "perfect",
    before: Before = "copy",
) -> None:
    """Lets statements use the buffer `name` in place of a window of another one. Each of their accesses is proved to
    lie in the window, or else to lie outside and to stay there.

    `before` says what the new buffer holds when they begin: "copy" the window, "zero" zeros (they only add, and their
    sums are added to the window: results are equal up to reassociation), "nothing" what they write themselves, before
    they read it. If they write, the window gets the buffer's elements afterwards.

    `edges`: "perfect" proves that the window is in bounds; "guard" copies only what is; "zero" does too, and puts zeros
    where the window is out of bounds. Nothing reads these, since the accesses are in bounds.

    The loops that fill and empty the buffer get the labels `name.load` and `name.store`.
    """
    cursor = at.find(where)
    window = as_window(part, at.buffers)
    _in_scope(at, window.buffer, cursor.block, cursor.path)
    for d in window.dims:
        at.in_scope(d.index if isinstance(d, Point) else d.lo, cursor.path)
    staging = _Staging(at, cursor.path, Frame(window), at.buffers[window.buffer], at.unused(name))
    accesses = [a for a in at.effects(cursor.block) if a.buffer == window.buffer]
    kept = staging.outside(cursor.block, accesses)
    accesses = [a for a in accesses if (a.place, a.index) not in kept]
    if not accesses:
        raise limit(f"the statements do not use the window of `{window.buffer}`", cursor.stmt.span)
    inside = staging.edges(edges, accesses)
    alloc = Alloc(name, staging.info.dtype, staging.frame.shape, memory)
    load = () if before == "nothing" else (staging.fill(before, edges, inside),)
    body = staging.redirected(cursor.block, memory, kept)
    writes = any(a.does is not Does.READ for a in accesses)
    names = declared(load)
    store = (staging.empty("+=" if before == "zero" else "=", inside, names),) if writes else ()
    if before == "zero":
        staging.only_adds(accesses)
    if before == "nothing":
        staging.written_first((*body, *store), memory)
    first = 1 + len(load)
    at.labels += ((f"{name}.load", (*cursor.path[:-1], cursor.path[-1] + 1), 1) for _ in load)
    at.labels += ((f"{name}.store", (*cursor.path[:-1], cursor.path[-1] + first + cursor.count), 1) for _ in store)
    moves: Moves = {(n,): (n + first,) for n in range(cursor.count)}
    at.splice(cursor.path, cursor.count, (alloc, *load, *body, *store), moves)


def _in_scope(at: Work, buffer: str, block: Block, path: Path) -> None:
    """Refuses a buffer that does not exist yet before the statements."""
    before = (block_at(at.proc.body, path[:n])[: path[n]] for n in range(0, len(path), 2))
    allocated = {s.name for part in before for s in part if isinstance(s, Alloc)}
    if buffer not in allocated and buffer not in {a.name for a in at.proc.args}:
        raise limit(f"`{buffer}` is not allocated before the statements", block[0].span)


def _place(names: tuple[str, ...]) -> tuple[Index, ...]:
    """The element of the new buffer that loop variables give."""
    return tuple(map(Var, names)) or (Int(0),)


@dataclass(frozen=True, slots=True)
class _Staging:
    """The window of a buffer, which `info` describes, as the buffer `name` of the statements at `path`."""

    at: Work
    path: Path
    frame: Frame
    info: BufferInfo
    name: str

    @property
    def old(self) -> str:
        return self.frame.window.buffer

    def outside(self, block: Block, accesses: Sequence[Access]) -> frozenset[Site]:
        """The accesses that always lie outside the window; the others always lie in it."""
        known = self.at.known(self.path)
        kept: set[Site] = set()
        moved: set[Site] = set()
        for a in accesses:
            given, goal = (*known, *a.given), self.frame.holds(a.index)
            call = isinstance(stmt_at(block, a.place), InstrCall)
            sites = {(a.place, a.index), *([(a.place, ())] if call else [])}
            if self.at.implied(given, goal, f"{a} lies in the window"):
                moved |= sites
            elif self.at.implied(given, negated(goal), f"{a} lies outside the window"):
                kept |= sites
            else:
                self.at.prove(f"{a} lies in the window", given, goal, f"`{a}` can lie outside the window", a.span)
        if kept & moved:
            raise limit(f"one statement uses `{self.old}` inside and outside the window", block[0].span)
        return frozenset(kept)

    def edges(self, edges: Edges, accesses: Sequence[Access]) -> Callable[[tuple[str, ...]], Cond]:
        """The condition, by the variables of a place in the window, that its element is in bounds."""
        names = self._names(())
        known = (*self.at.known(self.path), *map(within, map(Var, names), *self._ranges()))
        tests: list[tuple[int, bool]] = []
        for n, i in enumerate(self.frame.outer(names)):
            for low in (True, False):
                goal = self._bound(i, n, low)
                if edges == "perfect":
                    failure = f"the window of `{self.old}` can reach out of bounds, at {words(i)} in dimension {n}"
                    self.at.prove("the window is in bounds", known, goal, failure)
                elif not self.at.implied(known, goal, "the window is in bounds"):
                    tests.append((n, low))
        if tests:
            self.at.inside(self.at.known(self.path), accesses, "in the window")

        def inside(names: tuple[str, ...]) -> Cond:
            index = self.frame.outer(names)
            return both(self._bound(index[n], n, low) for n, low in tests)

        return inside

    def _ranges(self) -> tuple[list[Index], list[Index]]:
        shape = self.frame.window.shape
        return [Int(0) for _ in shape], [Int(n) for n in shape]

    def _bound(self, i: Index, n: int, low: bool) -> Cond:
        return Cmp(">=", i, Int(0)) if low else Cmp("<", i, self.info.shape[n])

    # -- statements ------------------------------------------------------------------------------------------------

    def fill(self, before: Before, edges: Edges, inside: Callable[[tuple[str, ...]], Cond]) -> Stmt:
        """The loops before the statements."""
        names = self._names(())
        there = inside(names)
        value: Value = Num(0.0) if before == "zero" else Read(self.old, self.frame.outer(names))
        if before == "copy" and edges == "zero" and there != ALWAYS:
            value = Select(there, value, Num(0.0))
        store = Assign(self.name, _place(names), "=", value)
        return self._nest(names, store, there if before == "copy" and edges == "guard" else ALWAYS)

    def empty(self, op: Literal["=", "+="], inside: Callable[[tuple[str, ...]], Cond], taken: tuple[str, ...]) -> Stmt:
        """The loops after them."""
        names = self._names(taken)
        store = Assign(self.old, self.frame.outer(names), op, Read(self.name, _place(names)))
        return self._nest(names, store, inside(names))

    def redirected(self, block: Block, memory: Memory, kept: frozenset[Site]) -> Block:
        """The statements on the new buffer."""

        def dims(given: Dims) -> Dims:
            starts = tuple(d.index if isinstance(d, Point) else d.lo for d in given)
            ranged = [d for d, w in zip(given, self.frame.window.dims, strict=True) if not isinstance(w, Point)]
            moved = self.frame.inner(starts)
            pairs = zip(ranged or [Point(Int(0))], moved, strict=True)
            return tuple(Point(i) if isinstance(d, Point) else replace(d, lo=i) for d, i in pairs)

        return Redirect(self.old, self.name, dims, self.at.buffers, self._buffers(memory), kept).block(block)

    def _buffers(self, memory: Memory) -> dict[str, BufferInfo]:
        shape = tuple(Int(n) for n in self.frame.shape)
        return {**self.at.buffers, self.name: BufferInfo(self.info.dtype, memory, shape)}

    def _names(self, taken: tuple[str, ...]) -> tuple[str, ...]:
        names: list[str] = []
        for n in range(len(self.frame.window.shape)):
            names.append(self.at.fresh(f"{self.name}_{n}", (*taken, *names)))
        return tuple(names)

    def _nest(self, names: tuple[str, ...], stmt: Stmt, test: Cond) -> Stmt:
        if test != ALWAYS:
            stmt = If(test, (stmt,), ())
        for name, extent in reversed([*zip(names, self.frame.window.shape, strict=True)]):
            stmt = For(name, Int(0), Int(extent), Seq(), (stmt,))
        return stmt

    # -- conditions ------------------------------------------------------------------------------------------------

    def only_adds(self, accesses: Sequence[Access]) -> None:
        """The statements do nothing but add, in a type in which sums may be taken in another order."""
        for a in accesses:
            if a.does is not Does.ADD:
                raise limit(f"`{self.old}` is not only added to", a.span, 'stage it with before="copy"')
        if not reassociable(self.info.dtype, False):
            raise limit(f"sums of {self.info.dtype.value} are rounded in every step", accesses[0].span)
        self.at.reassociated = self.at.reassociated or self.info.dtype.is_float

    def written_first(self, block: Block, memory: Memory) -> None:
        """What the statements, and the loops after them, read of the new buffer they have written before."""
        accesses = [a for a in effects(block, self._buffers(memory)) if a.buffer == self.name]
        known = self.at.known(self.path)
        for a in accesses:
            if a.does is Does.WRITE:
                continue
            goals = [goal for w in accesses if (goal := covers(w, a)) is not None]
            if not goals:
                raise limit(f"nothing is known to write `{a}` before it is read", a.span)
            failure = f"`{a}` can be read where it was not written"
            self.at.prove(f"{a} was written before", (*known, *a.given), either(goals), failure, a.span)
