"""Source locations: every IR node and every message carries a `Span`."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
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

WIDTH = 60
"""Most characters of source text inside a sentence."""


def excerpt(span: Span) -> str:
    """What is written at a place, as `shortened`; nothing if no source line wrote it, or its file cannot be read."""
    lines = [line.rstrip("\n") for line in linecache.getlines(span.file)[max(span.line - 1, 0) : span.end_line]]
    if not lines:
        return ""
    lines[-1] = lines[-1][: span.end_col]
    lines[0] = lines[0][span.col :]
    return shortened(lines)


def shortened(lines: Iterable[str]) -> str:
    """The text of a statement, or of what stands before its block, for use inside a sentence."""
    text = " ".join(" ".join(lines).split()).removesuffix(":")
    text = re.sub(r"(?<=[(\[]) |,? (?=[)\]])", "", text)
    return text if len(text) <= WIDTH else text[: WIDTH - 3].rstrip() + "..."
