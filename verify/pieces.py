"""The independent parts of a proof, and how they are put together for processes to decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from exogpu.verify.program import Program
from exogpu.verify.result import Obligation

GROUP = 24
"""Cost of a group of pieces: enough to pay for a solver engine and, on several cores, for a process."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A few obligations that are decided without regard to any others; `cost` is rough, 1 for an easy query."""

    cost: int
    decide: Callable[[Program], Iterable[Obligation]]


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces that share what is worked out about the program, a solver engine and proven chains included.

    How pieces are grouped depends on the program alone, so the result does not depend on who decides which group.
    """

    program: Program
    pieces: tuple[Piece, ...]

    def decide(self) -> list[Obligation]:
        """The obligations, in order."""
        program = replace(self.program)  # with a memo of its own
        return [obligation for piece in self.pieces for obligation in piece.decide(program)]


def groups(program: Program, pieces: Iterable[Piece]) -> list[Group]:
    """The pieces in their order, in groups of about equal cost."""
    out: list[Group] = []
    open_: list[Piece] = []
    for piece in pieces:
        open_.append(piece)
        if sum(p.cost for p in open_) >= GROUP:
            out.append(Group(program, tuple(open_)))
            open_ = []
    return [*out, Group(program, tuple(open_))] if open_ else out
