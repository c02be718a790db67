"""Programs as nested lines of text, which is what random programs are made of, edited and shrunk as."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

INDENT = "    "


@dataclass(frozen=True, slots=True)
class Line:
    """A line and, after a colon, the lines inside it."""

    text: str
    body: Block = ()

    @property
    def opens(self) -> bool:
        """Other lines stand inside it."""
        return self.text.endswith(":")


Block = tuple[Line, ...]
Path = tuple[int, ...]


def lines(*texts: str) -> Block:
    """Lines without a body."""
    return tuple(map(Line, texts))


def render(block: Block, depth: int = 0) -> str:
    """The text of a block."""
    return "".join(f"{INDENT * depth}{line.text}\n{render(_filled(line), depth + 1)}" for line in block)


def _filled(line: Line) -> Block:
    return line.body or lines("pass") if line.opens else ()


def source(block: Block) -> str:
    """A file with one skeleton."""
    return f"from exogpu.skeleton import *\n\n\n{render(block)}"


def walk(block: Block, inside: Path = ()) -> Iterator[tuple[Path, Line]]:
    """Every line with its place, outer ones first."""
    for n, line in enumerate(block):
        yield (*inside, n), line
        yield from walk(line.body, (*inside, n))


def change(block: Block, path: Path, edit: Callable[[Block, int], Block]) -> Block:
    """The block with an edit of the one that holds the line at a place, given that line's index there."""
    n, *rest = path
    if not rest:
        return edit(block, n)
    inner = change(block[n].body, tuple(rest), edit)
    return (*block[:n], replace(block[n], body=inner), *block[n + 1 :])


def put(block: Block, path: Path, *new: Line) -> Block:
    """Other lines in place of one."""
    return change(block, path, lambda b, n: (*b[:n], *new, *b[n + 1 :]))


def mapped(block: Block, edit: Callable[[str], str]) -> Block:
    """The block with every text changed."""
    return tuple(Line(edit(line.text), mapped(line.body, edit)) for line in block)
