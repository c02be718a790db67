"""Where statements are in a procedure, and how edits move them.

A path alternates the number of a statement in its block and the number of a nested block in that statement: `(2,)` is
the third statement of the body, `(2, 0)` the first block in it, `(2, 0, 5)` that block's sixth statement. `()` is the
body itself. So a path of odd length is a statement, one of even length a block.
"""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.stmt import Block, Stmt
from exogpu.ir.walk import children, with_blocks

Path = tuple[int, ...]


def block_at(body: Block, path: Path) -> Block:
    """The block at a path; IndexError if there is none."""
    for statement, branch in zip(path[::2], path[1::2], strict=True):
        body = children(body[statement])[branch]
    return body


def stmt_at(body: Block, path: Path) -> Stmt:
    """The statement at a path; IndexError if there is none."""
    return block_at(body, path[:-1])[path[-1]]


def spliced(body: Block, path: Path, lo: int, hi: int, new: Block) -> Block:
    """`body` with statements lo..hi-1 of the block at `path` replaced by `new`."""
    if not path:
        return (*body[:lo], *new, *body[hi:])
    stmt = body[path[0]]
    blocks = list(children(stmt))
    blocks[path[1]] = spliced(blocks[path[1]], path[2:], lo, hi, new)
    return (*body[: path[0]], with_blocks(stmt, tuple(blocks)), *body[path[0] + 1 :])


Moves = dict[Path, Path | None]
"""Where things inside replaced statements went: old to new paths, relative to the replaced run (its first statement is
`(0,)`). The longest key that begins a path decides, and what follows the key stays; None: it is gone."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Statements lo..hi-1 of a block were replaced by `count` others."""

    block: Path
    lo: int
    hi: int
    count: int
    moves: tuple[tuple[Path, Path | None], ...]

    def forward(self, path: Path) -> Path | None:
        """Where a statement or block is after the edit; None if it is gone."""
        depth = len(self.block)
        if path[:depth] != self.block or len(path) == depth:
            return path
        at, rest = path[depth], path[depth + 1 :]
        if at < self.lo:
            return path
        if at >= self.hi:
            return (*self.block, at + self.count - (self.hi - self.lo), *rest)
        moved = _moved((at - self.lo, *rest), dict(self.moves))
        return None if moved is None else (*self.block, moved[0] + self.lo, *moved[1:])


def _moved(path: Path, moves: Moves) -> Path | None:
    for n in range(len(path), 0, -1):
        if path[:n] in moves:
            new = moves[path[:n]]
            return None if new is None else (*new, *path[n:])
    return None


def same(lo: int, hi: int) -> Moves:
    """Statements that stay where they are."""
    return {(n,): (n,) for n in range(lo, hi)}


def block_moves(old: Path, lo: int, hi: int, new: Path, start: int = 0) -> Moves:
    """Statements lo..hi-1 of the block `old` become those from `start` on of the block `new`."""
    return {(*old, n): (*new, n - lo + start) for n in range(lo, hi)}
