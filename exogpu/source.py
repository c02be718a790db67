"""Source locations: every IR node and every message carries a `Span`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A region of a source file; lines count from 1, columns from 0, `end_col` is exclusive."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col + 1}"


NOWHERE = Span("<generated>", 0, 0, 0, 0)
"""The location of a node that no source line wrote."""
