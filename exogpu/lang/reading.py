"""From a Python function to what its text describes: the function is found in its file and read, never executed."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TypeVar

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.lang.errors import Rejected, reject
from exogpu.lang.scope import Context, captured_values
from exogpu.lang.text import Text, definition
from exogpu.source import NOWHERE

C = TypeVar("C", bound=Context)
T = TypeVar("T")

MAX_DEPTH = 150
"""Largest depth of a syntax tree; a long sum has one level for each term."""


def caller_locals() -> Mapping[str, object]:
    """The names where a decorator, which calls this, is applied: a name used only in annotations makes no closure
    cell."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    return {} if frame is None else dict(frame.f_locals)


def read(
    fn: Callable[..., object],
    caller: Mapping[str, object],
    context: Callable[[Text, Mapping[str, object]], C],
    parse: Callable[[C, ast.FunctionDef], T],
) -> T:
    """What `parse` makes of a function's text, in a fresh context; raises `BadInput` with every finding."""
    found: list[Diagnostic] = []
    try:
        if not isinstance(fn, FunctionType):
            raise reject(
                "syntax", "only a function can be decorated", NOWHERE, help="write `def name(...):` below the decorator"
            )
        text, node = definition(fn)
        _check_depth(text, node)
        ctx = context(text, captured_values(fn, caller))
        found = ctx.found
        result = parse(ctx, node)
    except Rejected as rejected:
        raise BadInput((*found, *rejected.diagnostics)) from None
    if found:
        raise BadInput(sorted(dict.fromkeys(found), key=lambda d: (d.span.line, d.span.col)))
    return result


def _check_depth(text: Text, function: ast.FunctionDef) -> None:
    """Everything that reads the IR is recursive, so the depth of the text is bounded here."""
    level: list[ast.AST] = [function]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    deep = next((node for node in level if isinstance(node, ast.expr | ast.stmt)), None)
    if deep is not None:
        raise reject("syntax", "this is nested too deeply", text.span(deep), help="split the expression or the loops")
