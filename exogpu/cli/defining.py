"""Which Python files define kernels or skeletons, told by their text: others of a folder are not to be run."""

from __future__ import annotations

import ast

MARKS = frozenset(("proc", "skeleton"))


def defines(source: bytes) -> bool:
    """The file marks a function, by whatever name it has imported the mark, or has the `kernel` of a schedule. What is
    not Python counts if it mentions exogpu, so that this is reported."""
    from exogpu.lang.text import quiet

    try:
        with quiet():
            nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return b"exogpu" in source
    imported = (name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names)
    marks = MARKS.union(name.asname for name in imported if name.name in MARKS and name.asname is not None)
    return any(_defining(node, marks) for node in nodes)


def _defining(node: ast.AST, marks: frozenset[str]) -> bool:
    match node:
        case ast.FunctionDef(decorator_list=decorators):
            return any(_last_name(d) in marks for d in decorators)
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
            return any(_is_kernel(v, marks) for v in (value.elts if isinstance(value, ast.Tuple) else (value,)))
        case _:
            return False


def _is_kernel(value: ast.expr, marks: frozenset[str]) -> bool:
    match value:
        case ast.Attribute(attr="kernel"):
            return True
        case ast.Call(func=func):
            return _last_name(func) in marks
        case _:
            return False


def _last_name(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None
