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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exogpu.diagnostics import BadInput
from exogpu.ir.completion import completes_on, completing_on
from exogpu.ir.printer import declaration, statement_lines, to_source
from exogpu.ir.proc import BarrierDecl, NamedBarrier, Proc
from exogpu.ir.stmt import For, If, InstrCall, Role, Stmt
from exogpu.ir.walk import children, walk
from exogpu.lang import load
from exogpu.source import Span


@dataclass(frozen=True, slots=True)
class Patch:
    """A unified diff, and the whole text that the file then has; None if the diff is of a reprint."""

    diff: tuple[str, ...]
    text: str | None

    def write(self, file: str) -> bool:
        """Changes the file; False if the patch is not one of it."""
        if self.text is None:
            return False
        Path(file).write_text(self.text, encoding="utf-8")
        return True


def patch(before: Proc, after: Proc, shown: str, word: str = "slim") -> Patch:
    """The change of the file where the kernel stands, called as `shown`, or of the kernel as the printer writes it;
    `word` says what the changed one is."""
    file = before.span.file
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for plain in (True, False):
        edited = _edited(lines, before, after, plain=plain)
        if edited is not None and _reads_back(edited, before, after):
            diff = tuple(difflib.unified_diff(lines, edited, shown, f"{shown}, {word}", lineterm=""))
            return Patch(diff, "\n".join(edited) + "\n")
    old, new = to_source(before).splitlines(), to_source(after).splitlines()
    diff = tuple(difflib.unified_diff(old, new, f"{before.name}, reprinted", f"{before.name}, {word}", lineterm=""))
    return Patch(diff, None)


# -- the text ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Change:
    """A statement of the text, and the lines that replace it, as if it were not indented."""

    node: ast.stmt
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Addition:
    """Lines before or after the statement at a place, as if they were not indented."""

    anchor: Span
    after: bool
    lines: tuple[str, ...]


def _edited(lines: Sequence[str], before: Proc, after: Proc, *, plain: bool) -> list[str] | None:
    """The lines of the file with every change and addition of a statement or barrier in them, if all can be made there;
    `plain`: new loop variables are called as in other loops."""
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
        changes.append(_Change(node, _with_barrier(lines, node, before, after, span) or text))
    whole = _with_empty_blocks(tree, changes)
    if whole is None:
        return None
    edits = [(c.node.lineno - 1, c.node.end_lineno or c.node.lineno, _indented(c.node, c.lines)) for c in whole]
    for addition in _added(before, after):
        node = nodes.get((addition.anchor.line, addition.anchor.col))
        if node is None or not _alone(lines, node):
            return None
        at = (node.end_lineno or node.lineno) if addition.after else node.lineno - 1
        edits.append((at, at, _indented(node, _plainly(addition.lines, before) if plain else addition.lines)))
    out = list(lines)
    # the last first; of additions at one place, too, so that they end up in their order
    for _, (start, end, new) in sorted(enumerate(edits), key=lambda e: (e[1][0], e[1][1], e[0]), reverse=True):
        out[start:end] = new
    return out


def _indented(node: ast.stmt, lines: Iterable[str]) -> list[str]:
    return [" " * node.col_offset + line for line in lines]


def _plainly(lines: Iterable[str], proc: Proc) -> list[str]:
    """The lines without the numbers that tell loop variables of one kernel apart, and with `cta` for its threads."""
    text = "\n".join(lines)
    if proc.block.cluster > 1:
        text = re.sub(rf"\bunit={proc.block.threads}\b", "unit=cta", text)
    for var in re.findall(r"\bfor (\w+) in ", text):
        text = re.sub(rf"\b{var}\b", re.sub(r"(_\d+)+$", "", var), text)
    return text.split("\n")


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
    left = {d.name: d for d in _declared(after)}
    for declared in _declared(before):
        new_one = left.get(declared.name)
        if new_one != declared:
            yield declared.span, () if new_one is None else (declaration(new_one),)


def _added(before: Proc, after: Proc) -> Iterator[_Addition]:
    """Statements and barriers that the file has no place for yet."""
    known = {s.span for s in walk(before.body)}
    names = {d.name for d in _declared(before)}
    new = tuple(declaration(d) for d in _declared(after) if d.name not in names)
    if new and before.body:
        yield _Addition(before.body[0].span, False, new)
    yield from _added_to(after, after.body, known)


def _added_to(proc: Proc, block: tuple[Stmt, ...], known: set[Span]) -> Iterator[_Addition]:
    waiting: list[str] = []
    last: Span | None = None
    for stmt in block:
        if stmt.span not in known:
            waiting += statement_lines(proc, stmt)
            continue
        if waiting:
            yield _Addition(stmt.span, False, tuple(waiting))
        waiting, last = [], stmt.span
        for inner in children(stmt):
            yield from _added_to(proc, inner, known)
    if waiting and last is not None:
        yield _Addition(last, True, tuple(waiting))


def _declared(proc: Proc) -> tuple[BarrierDecl | NamedBarrier, ...]:
    return (*proc.barriers, *proc.named)


def _with_barrier(lines: Sequence[str], node: ast.stmt, before: Proc, after: Proc, place: Span) -> tuple[str, ...]:
    """The text of a copy that only gets a barrier to complete on, otherwise as it stands; empty if it is not that."""
    old, new = (next((s for s in walk(p.body) if s.span == place), None) for p in (before, after))
    call = node.value if isinstance(node, ast.Expr) else None
    if not (isinstance(old, InstrCall) and isinstance(new, InstrCall) and isinstance(call, ast.Call) and call.args):
        return ()
    barrier = completes_on(new)
    if completes_on(old) or not barrier or completing_on(old, barrier) != new or call.keywords:
        return ()
    text = _with_operand(list(lines[node.lineno - 1 : node.end_lineno]), call.args[-1], node.lineno, barrier)
    margin = " " * node.col_offset
    return tuple(t.removeprefix(margin) for t in text) if all(t.startswith(margin) for t in text) else ()


def _with_operand(text: list[str], last: ast.expr, first_line: int, operand: str) -> list[str]:
    """The lines of a call with one operand more behind the last one: on a line of its own if that has one."""
    at = (last.end_lineno or last.lineno) - first_line
    line = text[at].encode()
    head, rest = line[: last.end_col_offset].decode(), line[last.end_col_offset or 0 :].decode()
    before = text[last.lineno - first_line].encode()[: last.col_offset].decode()
    if not before.strip() and rest.split("#")[0].strip() in ("", ","):
        comma = "" if rest.startswith(",") else ","
        return [*text[:at], head + comma + rest, f"{before}{operand},", *text[at + 1 :]]
    return [*text[:at], f"{head}, {operand}{rest}", *text[at + 1 :]]


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


def _reads_back(lines: Sequence[str], before: Proc, after: Proc) -> bool:
    """The text defines what the file does, but for the one kernel, which is as it should be."""
    file = before.span.file
    with tempfile.TemporaryDirectory() as folder, _importable(str(Path(file).resolve().parent)):
        copy = Path(folder) / Path(file).name
        copy.write_text("\n".join(lines) + "\n", encoding="utf-8")
        try:
            found, known = load(copy), load(file)
        except BadInput:
            return False
    wanted = {name: after if (p.name, p.span) == (before.name, before.span) else p for name, p in known.items()}
    return {n: _canonical(p) for n, p in found.items()} == {n: _canonical(p) for n, p in wanted.items()}


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
