"""Asynchronous operations between issue and completion: they read and write in pieces, at any time."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from exogpu.ir.arrays import Numbers
from exogpu.ir.numeric import Array
from exogpu.verify.simulator.memory import Memory
from exogpu.verify.simulator.moves import Move
from exogpu.verify.simulator.trace import Issue, Operation

PIECES = 3


@dataclass(slots=True, eq=False)
class Piece:
    """Some elements of a movement: read when `values` are there."""

    order: int
    move: Move
    which: Numbers
    values: Array | None = None
    written: bool = False


@dataclass(slots=True, eq=False)
class Flight:
    """An operation of the unit that begins at `thread`; `number` is its phase or group. It begins to write when
    `behind`, earlier operations on the same registers, are done. `account` is its number for the monitor, `tells`
    the numbers of the operations whose effects its completion makes known, as bits."""

    operation: Operation
    issue: Issue
    thread: int
    number: int
    pieces: list[Piece]
    behind: tuple[Flight, ...] = ()
    account: int = 0
    tells: int = 0

    @property
    def threads(self) -> range:
        """The unit that has issued it."""
        return range(self.thread, self.thread + self.issue.unit)

    @property
    def has_read(self) -> bool:
        """All sources have been read."""
        return all(p.values is not None for p in self.pieces)

    @property
    def done(self) -> bool:
        """All effects have been performed."""
        return all(p.written for p in self.pieces)

    def follows(self, other: Flight) -> bool:
        """Both belong to one chain and write the same registers."""
        return self.chain is not None and self.chain == other.chain

    @property
    def chain(self) -> tuple[object, ...] | None:
        """What operations that run in order have in common."""
        if self.issue.chain is None:
            return None
        mine = self.pieces[0].move
        return self.issue.chain, self.thread, mine.place.name, int(mine.positions[self.pieces[0].which[0]])

    def advance(self, memory: Memory, random: Random) -> bool:
        """One piece reads or writes; False if it must wait for operations before it."""
        if not self.pieces:
            return all(f.done for f in self.behind)
        ready = [p for p in self.pieces if p.values is None]
        if all(f.done for f in self.behind):
            open_ = [p for p in self.pieces if not p.written]
            first = min(p.order for p in open_)
            ready += [p for p in open_ if p.values is not None and p.order == first]
        if not ready:
            return False
        piece = random.choice(ready)
        if piece.values is None:
            values = memory.values(piece.move, piece.which, asynchronous=True)
            piece.values = np.broadcast_to(values, piece.which.shape)
        else:
            memory.deliver(piece.move, piece.which, piece.values, self.operation.what)
            piece.written = True
        return True


def pieces(issue: Issue, thread: int, random: Random) -> list[Piece]:
    """The elements that the unit at `thread` moves, cut at random places."""
    out: list[Piece] = []
    for order, move in enumerate(issue.moves):
        mine = np.flatnonzero(move.threads == thread)
        cuts = sorted(random.randrange(len(mine) + 1) for _ in range(random.randrange(PIECES)))
        out += [Piece(order, move, part) for part in np.split(mine, cuts) if len(part)]
    return out
