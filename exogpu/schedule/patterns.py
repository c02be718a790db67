"""Statements by what they look like: `"for k in _: _"`, `"acc[_] += _"`, `"acc: _"`, `"wgmma(_)"`, `"if _: _"`.

A pattern is a statement of the language in which `_` stands for any expression, any arguments or indices, any memory,
or any statements of a block. It is compared with the statement's own text, so it says everything that the text says.
A single name is the loop with that variable, or the allocation of that buffer. ` #n` after a pattern takes the n-th
place that matches, from 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.ir.printer import statement_lines
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, Block, For, Stmt
from exogpu.ir.walk import children, with_blocks
from exogpu.schedule.errors import Refused
from exogpu.schedule.paths import Path, block_at

ANY = "_"
_BLOCKS = ("body", "orelse")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as written, the syntax that it stands for, and which match is meant."""

    text: str
    stmt: ast.stmt
    nth: int | None


def parse(text: str) -> Pattern:
    """A pattern; Refused if it is not one."""
    written, _, number = text.partition("#")
    try:
        (stmt,) = ast.parse(written.strip()).body
    except (SyntaxError, ValueError):
        raise Refused("schedule.pattern", f"`{text}` is not a pattern of one statement") from None
    if number and not number.strip().isdigit():
        raise Refused("schedule.pattern", f"`#{number}` is not the number of a match")
    return Pattern(text, stmt, int(number) if number else None)


def matches(proc: Proc, pattern: Pattern, under: Path = ()) -> tuple[Path, ...]:
    """The paths of the statements below `under` that match, in order."""
    return tuple(
        path for path, stmt in statements(block_or_inside(proc, under), under) if _matches(proc, pattern.stmt, stmt)
    )


def block_or_inside(proc: Proc, path: Path) -> tuple[tuple[Path, Block], ...]:
    """The blocks in which to look for statements below a path: the block itself, or those of a statement."""
    if len(path) % 2 == 0:
        return ((path, block_at(proc.body, path)),)
    stmt = block_at(proc.body, path[:-1])[path[-1]]
    return tuple(((*path, branch), block) for branch, block in enumerate(children(stmt)))


def statements(blocks: tuple[tuple[Path, Block], ...], under: Path = ()) -> Iterator[tuple[Path, Stmt]]:
    """Every statement of the blocks with its path, outer before inner."""
    for start, block in blocks:
        for n, stmt in enumerate(block):
            path = (*start, n)
            yield path, stmt
            inner = tuple(((*path, branch), nested) for branch, nested in enumerate(children(stmt)))
            yield from statements(inner, path)


def header(proc: Proc, stmt: Stmt) -> str:
    """The text of a statement without its blocks."""
    empty = with_blocks(stmt, tuple(() for _ in children(stmt)))
    lines = (line.strip() for line in statement_lines(proc, empty))
    return re.sub(r"\s+", " ", " ".join(line for line in lines if line != "pass"))


def _matches(proc: Proc, pattern: ast.stmt, stmt: Stmt) -> bool:
    match pattern:
        case ast.Expr(ast.Name(id)) if id == ANY:
            return True
        case ast.Expr(ast.Name(id)):
            return (isinstance(stmt, For) and stmt.var == id) or (isinstance(stmt, Alloc) and stmt.name == id)
    empty = with_blocks(stmt, tuple(() for _ in children(stmt)))
    written = ast.parse("\n".join(statement_lines(proc, empty))).body[0]
    nested = [getattr(pattern, name) for name in _BLOCKS if hasattr(pattern, name)]
    inside = [*children(stmt), *((),) * (len(nested) - len(children(stmt)))]
    return _same(pattern, written) and all(
        not wanted or _run(proc, wanted, block) for wanted, block in zip(nested, inside, strict=True)
    )


def _run(proc: Proc, patterns: list[ast.stmt], block: Block) -> bool:
    """Whether a block is what the patterns say; `_` stands for any number of statements."""
    match patterns:
        case []:
            return not block
        case [ast.Expr(ast.Name(id)), *rest] if id == ANY:
            return any(_run(proc, rest, block[n:]) for n in range(len(block) + 1))
        case [first, *rest]:
            return bool(block) and _matches(proc, first, block[0]) and _run(proc, rest, block[1:])
    return False


def _same(pattern: ast.AST, node: ast.AST) -> bool:
    """Whether a syntax tree is the pattern's, blocks left out."""
    if isinstance(pattern, ast.Name) and pattern.id == ANY:
        return True
    compared = (f for f in pattern._fields if f != "ctx" and not (f in _BLOCKS and isinstance(pattern, ast.stmt)))
    return type(pattern) is type(node) and all(_same_field(getattr(pattern, f), getattr(node, f)) for f in compared)


def _same_field(pattern: object, node: object) -> bool:
    match pattern, node:
        case [ast.Name(id)], list() if id == ANY:
            return True
        case list(), list():
            return len(pattern) == len(node) and all(map(_same_field, pattern, node))
        case ast.AST(), ast.AST():
            return _same(pattern, node)
        case _:
            return pattern == node


def same_expression(pattern: ast.expr, text: str) -> bool:
    """Whether an expression's text is what the pattern says; `_` stands for any part, indices or arguments."""
    return _same(pattern, ast.parse(text, mode="eval").body)


def expression(text: str) -> ast.expr:
    """A pattern of an expression; Refused if it is not one."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise Refused("schedule.pattern", f"`{text}` is not a pattern of an expression") from None
