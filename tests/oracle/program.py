"""The programs of a run: number and seed give a kernel, perhaps with one edit."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.ir.wellformed import check
from exogpu.lang import load
from exogpu.verify.mutants import mutants
from tests.oracle.generate import generate

EDITED = 0.5
"""The part of all programs that has an edit."""


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel, and the edit that was made ("" for none)."""

    proc: Proc
    edit: str

    @property
    def text(self) -> str:
        """The kernel's text, edit included."""
        return to_source(self.proc)


def parse(text: str) -> Proc:
    """The one kernel of a file with this text; raises BadInput if it is not well formed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(text)
        (proc,) = load(path).values()
    return proc


def make(random: Random) -> Program:
    """A random program, well formed."""
    proc = parse(generate(random))
    if random.random() > 1 - EDITED:
        edits = list(mutants(proc))
        random.shuffle(edits)
        chosen = next((m for m in edits if not check(m.proc)), None)
        if chosen is not None:
            return Program(chosen.proc, chosen.what)
    return Program(proc, "")


def numbered(seed: int, number: int) -> Program:
    """The program of a number in the run with this seed."""
    return make(Random(f"{seed}/{number}"))
