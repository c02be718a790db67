"""The programs of a run: number and seed give a skeleton, perhaps with edits."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from exogpu.diagnostics import BadInput
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.lang.load import definitions
from tests.skeleton_oracle.edits import edited
from tests.skeleton_oracle.generate import generate
from tests.skeleton_oracle.lines import Block, source

EDITS = (0, 0, 1, 1, 1, 1, 2, 2, 3)
"""How many edits programs have."""
ATTEMPTS = 8
"""Edits that are tried until one is well formed."""


@dataclass(frozen=True, slots=True)
class Program:
    """A skeleton as lines, the number of its edits, and the kinds of what it was made of."""

    block: Block
    edits: int
    kinds: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As a file."""
        return source(self.block)


def parse(block: Block) -> Skeleton:
    """The one skeleton of some lines; raises BadInput if it is not well formed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "skeleton.py"
        path.write_text(source(block), encoding="utf-8")
        found = [s for s in definitions(path).values() if isinstance(s, Skeleton)]
    return found[0]


def well_formed(block: Block) -> bool:
    """It can be read."""
    try:
        parse(block)
    except BadInput:
        return False
    return True


def make(random: Random, kinds: Sequence[str] = ()) -> Program:
    """A random program, well formed; of one of these kinds, if any are given."""
    made = generate(random, kinds)
    block, done = made.block(), 0
    for _ in range(random.choice(EDITS)):
        for _ in range(ATTEMPTS):
            changed = edited(block, random)
            if changed != block and well_formed(changed):
                block, done = changed, done + 1
                break
    return Program(block, done, tuple(sorted(made.kinds)))


def numbered(seed: int, number: int, kinds: Sequence[str] = ()) -> Program:
    """The program of a number in the run with this seed."""
    return make(Random(f"{seed}/{number}"), kinds)
