"""Source text: where a function's definition is, and the exact span of every syntax node."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType

from exogpu.lang.errors import reject
from exogpu.source import Span

Positioned = ast.expr | ast.stmt | ast.arg | ast.keyword


@dataclass(frozen=True, slots=True)
class Text:
    """A source file, as spans need it: its name in messages and its lines."""

    file: str
    lines: tuple[str, ...]

    def span(self, node: Positioned) -> Span:
        """The region of a syntax node, in characters (Python's own columns count UTF-8 bytes)."""
        end_line = node.end_lineno or node.lineno
        end = node.col_offset if node.end_col_offset is None else node.end_col_offset
        return Span(
            self.file, node.lineno, self._column(node.lineno, node.col_offset), end_line, self._column(end_line, end)
        )

    def header(self, node: ast.stmt) -> Span:
        """The first line of a statement, without its body."""
        whole = self.span(node)
        if whole.end_line == whole.line:
            return whole
        width = len(self.lines[whole.line - 1].rstrip())
        return Span(self.file, whole.line, whole.col, whole.line, width)

    def name(self, node: ast.FunctionDef) -> Span:
        """The name of a function in its definition."""
        line = self.lines[node.lineno - 1]
        col = line.find(node.name, self._column(node.lineno, node.col_offset) + len("def"))
        return Span(self.file, node.lineno, col, node.lineno, col + len(node.name))

    def _column(self, line: int, byte: int) -> int:
        return len(self.lines[line - 1].encode()[:byte].decode())


@contextmanager
def quiet() -> Iterator[None]:
    """Without Python's warnings on dubious syntax: the front end judges it, with better messages."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        yield


def definition(fn: FunctionType) -> tuple[Text, ast.FunctionDef]:
    """The text and syntax tree of a function; rejects one whose source cannot be read."""
    file, first = fn.__code__.co_filename, fn.__code__.co_firstlineno
    linecache.checkcache(file)
    lines = tuple(linecache.getlines(file, fn.__globals__))
    with quiet():
        tree = ast.parse("".join(lines))
    text = Text(file, lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef) and node.name == fn.__name__ and _first_line(node) == first:
            raise reject("syntax", "an `async` function cannot be read", text.header(node), help="write `def`")
        if isinstance(node, ast.FunctionDef) and node.name == fn.__name__ and _first_line(node) == first:
            return text, node
    nowhere = Span(file, first, 0, first, 0)
    raise reject(
        "no_source", f"the source of `{fn.__name__}` cannot be read", nowhere, help="define it with `def` in a file"
    )


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min((d.lineno for d in node.decorator_list), default=node.lineno)
