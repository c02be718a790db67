"""Cursors: a statement, or several in a row, of one version of a procedure.

Later rewrites carry a cursor along (`Schedule.forward`); one whose statements are gone says what it pointed at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from exogpu.ir.index import Var
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, Block, For, Stmt
from exogpu.ir.walk import children, walk
from exogpu.schedule.errors import Refused
from exogpu.schedule.expr import Expr
from exogpu.schedule.paths import Path, block_at, stmt_at
from exogpu.schedule.patterns import Pattern, header, matches, parse
from exogpu.schedule.signature import checked


@dataclass(frozen=True, slots=True)
class Cursor:
    """`count` statements from `path` on, in the procedure `proc`, which is version `version` of a schedule."""

    proc: Proc
    version: int
    path: Path
    count: int = 1

    @property
    def stmt(self) -> Stmt:
        """The first statement."""
        return stmt_at(self.proc.body, self.path)

    @property
    def block(self) -> Block:
        """The statements."""
        at = self.path[-1]
        return block_at(self.proc.body, self.path[:-1])[at : at + self.count]

    @property
    def var(self) -> Expr:
        """The variable of a loop, for use in expressions."""
        if isinstance(self.stmt, For):
            return Expr(Var(self.stmt.var))
        raise Refused("schedule.pattern", f"`{self}` is not a loop", self.stmt.span)

    @property
    def before(self) -> Gap:
        """The place before the statements."""
        return Gap(self, after=False)

    @property
    def after(self) -> Gap:
        """The place after the statements."""
        return Gap(self, after=True)

    @checked
    def parent(self, levels: int = 1) -> Cursor:
        """The statement around it, or one further out."""
        if len(self.path) <= 2 * levels - 1:
            raise Refused("schedule.cursor", f"`{self}` is not in {levels} other statements", self.stmt.span)
        return self._at(self.path[: len(self.path) - 2 * levels])

    @checked
    def around(self, name: str) -> Cursor:
        """The innermost loop around it that has this variable, or one whose name was made from it by a number."""
        at = self
        while len(at.path) > 1:
            at = at.parent()
            if isinstance(at.stmt, For) and name in (at.stmt.var, stem(at.stmt.var)):
                return at
        raise Refused("schedule.cursor", f"`{self}` is in no loop `{name}`", self.stmt.span)

    def body(self, branch: int = 0) -> Cursor:
        """The statements of its block, or of the `else` block (1)."""
        blocks = children(self.stmt)
        if branch >= len(blocks) or not blocks[branch]:
            raise Refused("schedule.cursor", f"`{self}` has no such block", self.stmt.span)
        return self._at((*self.path, branch, 0), len(blocks[branch]))

    def next(self, distance: int = 1) -> Cursor:
        """The statement after it."""
        return self._beside(self.path[-1] + self.count - 1 + distance)

    def prev(self, distance: int = 1) -> Cursor:
        """The statement before it."""
        return self._beside(self.path[-1] - distance)

    @checked
    def until(self, last: Cursor) -> Cursor:
        """All statements from here to the end of another cursor in the same block."""
        count = last.path[-1] + last.count - self.path[-1]
        if last.path[:-1] != self.path[:-1] or last.proc != self.proc or count < 1:
            raise Refused("schedule.cursor", f"`{last}` does not follow `{self}` in one block", self.stmt.span)
        return self._at(self.path, count)

    def __getitem__(self, n: int) -> Cursor:
        """The n-th of several statements."""
        if not 0 <= n < self.count:
            raise Refused("schedule.cursor", f"`{self}` and what follows are {self.count} statements", self.stmt.span)
        return self._at((*self.path[:-1], self.path[-1] + n))

    def find(self, pattern: str) -> Cursor:
        """The one statement inside that matches."""
        return choose(self.proc, self.version, parse(pattern), self.path)

    def _beside(self, at: int) -> Cursor:
        if not 0 <= at < len(block_at(self.proc.body, self.path[:-1])):
            raise Refused("schedule.cursor", f"nothing stands there beside `{self}`", self.stmt.span)
        return self._at((*self.path[:-1], at))

    def _at(self, path: Path, count: int = 1) -> Cursor:
        return replace(self, path=path, count=count)

    def __str__(self) -> str:
        return header(self.proc, self.stmt)


@dataclass(frozen=True, slots=True)
class Gap:
    """The place before or after the statements of a cursor."""

    at: Cursor
    after: bool

    @property
    def place(self) -> tuple[Path, int]:
        """The path of the block, and the number of the statement before which the place is."""
        return self.at.path[:-1], self.at.path[-1] + (self.at.count if self.after else 0)

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'} {self.at}"


def stem(name: str) -> str:
    """A name without the number that makes it different from another one."""
    root, _, number = name.rpartition("_")
    return root if number.isdigit() else name


Place = Annotated[Gap, "take `before` or `after` of a cursor"]
"""Where statements are put, or a block is cut."""

Where = str | Cursor
"""A pattern, a label, or a cursor."""


def choose(proc: Proc, version: int, pattern: Pattern, under: Path = ()) -> Cursor:
    """The one match of a pattern, or the one whose number it says."""
    found = matches(proc, pattern, under)
    if pattern.nth is not None:
        found = found[pattern.nth : pattern.nth + 1]
    if not found:
        text, names = f"nothing matches `{pattern.text}`", ", ".join(f"`{name}`" for name in _names(proc))
        known = (f"the loops and allocations are {names}",) if pattern.text.isidentifier() and names else ()
        raise Refused("schedule.pattern", text, proc.span, notes=known)
    if len(found) > 1:
        places = tuple(f"#{n}: {header(proc, stmt_at(proc.body, path))}" for n, path in enumerate(found))
        text = f"{len(found)} statements match `{pattern.text}`"
        raise Refused("schedule.pattern", text, proc.span, notes=places, help="add ` #n` to take the n-th")
    return Cursor(proc, version, found[0])


def _names(proc: Proc) -> dict[str, None]:
    """What single names can find, in the order of the text."""
    found = (stmt for stmt in walk(proc.body) if isinstance(stmt, For | Alloc))
    return dict.fromkeys(stmt.var if isinstance(stmt, For) else stmt.name for stmt in found)
