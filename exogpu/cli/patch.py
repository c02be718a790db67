"""A kernel's edits as a change of its own file, where statements of the file can be cut out or replaced.

The changed text counts only if it reads back as the edited kernel; else the two kernels are compared as the printer
writes them.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exogpu.diagnostics import BadInput
from exogpu.ir.printer import statement_lines, to_source
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import For, If, Role, Stmt
from exogpu.ir.walk import walk
from exogpu.lang import load
from exogpu.source import Span


def difference(before: Proc, after: Proc, shown: str) -> tuple[str, ...]:
    """A unified diff of the file where the kernel stands, called as `shown`, or of the two kernels as the printer
    writes them."""
    file = before.span.file
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    edited = _edited(lines, before, after)
    if edited is not None and _reads_back(edited, file, after):
        return tuple(difflib.unified_diff(lines, edited, shown, f"{shown}, slim", lineterm=""))
    old, new = to_source(before).splitlines(), to_source(after).splitlines()
    return tuple(difflib.unified_diff(old, new, f"{before.name}, reprinted", f"{before.name}, slim", lineterm=""))


# -- the text ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Change:
    """A statement of the text, and the lines that replace it, as if it were not indented."""

    node: ast.stmt
    lines: tuple[str, ...]


def _edited(lines: Sequence[str], before: Proc, after: Proc) -> list[str] | None:
    """The lines of the file with every change of a statement or barrier in them, if all are such changes."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return None
    nodes = {(n.lineno, n.col_offset): n for n in ast.walk(tree) if isinstance(n, ast.stmt)}
    changes: list[_Change] = []
    for span, text in _changed(before, after):
        node = nodes.get((span.line, span.col))
        if node is None or not _alone(lines, node):
            return None
        changes.append(_Change(node, text))
    whole = _with_empty_blocks(tree, changes)
    if whole is None:
        return None
    out = list(lines)
    for change in sorted(whole, key=lambda c: c.node.lineno, reverse=True):
        margin = " " * change.node.col_offset
        out[change.node.lineno - 1 : change.node.end_lineno] = [margin + line for line in change.lines]
    return out


def _changed(before: Proc, after: Proc) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Places of simple statements and barriers that are gone or others now, with their new text."""
    now: dict[Span, Stmt] = {}
    for stmt in walk(after.body):
        now.setdefault(stmt.span, stmt)  # the outermost: an edit may have put a loop around it
    for stmt in walk(before.body):
        if isinstance(stmt, For | If | Role) or now.get(stmt.span) == stmt:
            continue
        new = now.get(stmt.span)
        yield stmt.span, tuple(statement_lines(after, new)) if new is not None else ()
    left = {name for name, _ in _barriers(after)}
    yield from ((span, ()) for name, span in _barriers(before) if name not in left)


def _barriers(proc: Proc) -> Iterator[tuple[str, Span]]:
    yield from ((b.name, b.span) for b in proc.barriers)
    yield from ((b.name, b.span) for b in proc.named)


def _alone(lines: Sequence[str], node: ast.stmt) -> bool:
    """Nothing but a comment shares the statement's lines."""
    end = node.end_lineno or node.lineno
    first, last = lines[node.lineno - 1].encode(), lines[end - 1].encode()
    rest = last[node.end_col_offset :].decode().strip()
    return not first[: node.col_offset].strip() and (not rest or rest.startswith("#"))


def _with_empty_blocks(tree: ast.Module, changes: list[_Change]) -> list[_Change] | None:
    """The changes, of which those that empty a loop, conditional or role cut it out as a whole; None if they leave the
    else of a conditional, or an empty function."""
    cut = {c.node for c in changes if not c.lines}
    outer: set[ast.stmt] = set()
    for node in reversed([n for n in ast.walk(tree) if isinstance(n, ast.stmt)]):  # inner before outer
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not cut.issuperset(body):
            continue
        if not isinstance(node, ast.For | ast.With | ast.If) or getattr(node, "orelse", None):
            return None
        cut.add(node)
        outer.add(node)
    inside = {inner for node in outer for inner in ast.walk(node) if inner is not node}
    kept = [c for c in changes if c.node not in inside]
    return kept + [_Change(node, ()) for node in outer if node not in inside]


# -- whether it is right -----------------------------------------------------------------------------------------------


def _reads_back(lines: Sequence[str], file: str, wanted: Proc) -> bool:
    """The text defines a kernel like the wanted one."""
    with tempfile.TemporaryDirectory() as folder, _importable(str(Path(file).resolve().parent)):
        copy = Path(folder) / Path(file).name
        copy.write_text("\n".join(lines) + "\n", encoding="utf-8")
        try:
            found = load(copy).values()
        except BadInput:
            return False
    return any(p.name == wanted.name and _canonical(p) == _canonical(wanted) for p in found)


@contextmanager
def _importable(folder: str) -> Iterator[None]:
    """What stands beside the file can be imported."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _canonical(proc: Proc) -> str:
    """The text with loop variables named by their order: their names say nothing."""
    text = to_source(proc)
    order = {name: f"v{n}" for n, name in enumerate(dict.fromkeys(re.findall(r"\bfor (\w+) in ", text)))}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: order.get(m[0], m[0]), text)
