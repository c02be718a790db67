"""The direction of dependence between rooms, and the sizes of files and functions, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("exogpu", "verify", "smt", "codegen")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

BASE = {"source", "diagnostics"}
FRONT = {"ir", "isa", "lang", "kernels", "skeleton", "schedule"}

ALLOWED = {
    "source": set[str](),
    "diagnostics": {"source"},
    "codes": set[str](),
    "ir": BASE,
    "isa": BASE | {"ir"},
    "lang": BASE | {"ir", "isa"},
    "kernels": {"ir", "lang", "schedule", "skeleton"},
    "skeleton": BASE | {"ir", "lang"},
    "schedule": BASE | {"ir", "isa", "smt"},
    "equiv": BASE | {"ir", "smt"},
    "smt": BASE | {"ir"},
    "verify": BASE | {"ir", "smt"},
    "sync": BASE | {"ir", "isa", "verify"},
    "codegen": BASE | {"ir", "smt", "verify"},
    "report": BASE | {"codes", "equiv", "verify"},
    "cli": BASE | FRONT | {"codes", "equiv", "report", "verify", "sync", "codegen"},
    "__main__": {"cli"},
    "__init__": set[str](),
}
"""For each room of exogpu, the other rooms that it may import; `exogpu` itself is the version number."""

EXTERNAL = {
    "z3": ("exogpu.smt.",),
    "distributed": ("exogpu.cli.scheduler",),
    "cuda": ("exogpu.codegen.nvrtc", "exogpu.codegen.driver"),
}
"""For each library, the only modules that may import it (prefixes of their names)."""

RUNTIME = "exogpu.codegen.runtime"


def _module(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] != "exogpu":
        parts.insert(0, "exogpu")
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


@cache
def _sources() -> dict[str, Path]:
    """Every module of the package and its file; linked folders are read once, under their real place."""
    files = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return {_module(p): p for p in files if not any(part.is_symlink() for part in (p, *p.parents))}


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_sources()[module].read_text(encoding="utf-8"))


def _imports(nodes: Iterator[ast.AST]) -> Iterator[tuple[str, int]]:
    """The modules that import statements name (for `from a import b`, `a.b` if that is a module, else `a`)."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                yield (inner if inner in _sources() else origin), node.lineno


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def _import_time_nodes(module: str) -> Iterator[ast.AST]:
    """Nodes executed when the module is imported: not the bodies of functions nor `if TYPE_CHECKING:`."""
    pending: list[ast.AST] = list(_tree(module).body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def _reached(start: str) -> set[str]:
    """Every module, ours or not, that importing `start` imports, following ours with their parent packages."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        module = pending.pop()
        if module in seen:
            continue
        seen.add(module)
        if module in _sources():
            pending += [name for name, _ in _imports(_import_time_nodes(module))]
            parent = module.rpartition(".")[0]
            pending += [parent] if parent else []
    return seen


def test_every_room_has_its_arrows() -> None:
    assert {_room(module) for module in _sources()} <= set(ALLOWED)


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_room_imports_only_what_is_below_it(room: str) -> None:
    wrong = [
        f"{module}:{line} imports {name}"
        for module in _sources()
        if _room(module) == room
        for name, line in _imports(ast.walk(_tree(module)))
        if name.startswith("exogpu.") and _room(name) not in ALLOWED[room] | {room}
    ]
    assert wrong == []


@pytest.mark.parametrize("library", sorted(EXTERNAL))
def test_library_is_imported_by_its_room_only(library: str) -> None:
    wrong = [
        f"{module}:{line}"
        for module in _sources()
        if not module.startswith(EXTERNAL[library])
        for name, line in _imports(ast.walk(_tree(module)))
        if name.split(".")[0] == library
    ]
    assert wrong == []


def test_runtime_reaches_neither_solver_nor_verifier() -> None:
    assert RUNTIME in _sources()
    banned = {"exogpu.smt", "exogpu.verify", "z3"}
    assert {m for m in _reached(RUNTIME) if any(m == b or m.startswith(f"{b}.") for b in banned)} == set()


def test_importing_the_runtime_loads_neither_solver_nor_verifier() -> None:
    code = (
        f"import sys, {RUNTIME}; "
        "print([m for m in sys.modules if m.split('.')[0] == 'z3' "
        "or m.startswith(('exogpu.smt', 'exogpu.verify'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_relative_imports() -> None:
    wrong = [
        f"{module}:{node.lineno}"
        for module in _sources()
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert wrong == []


def test_files_are_small() -> None:
    tests = (path for path in (ROOT / "tests").rglob("*.py"))
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (*_sources().values(), *tests)}
    assert [f"{p.relative_to(ROOT)}: {n} lines" for p, n in lengths.items() if n > MAX_FILE_LINES] == []


def test_functions_are_small() -> None:
    kernels = {module for module in _sources() if _room(module) == "kernels"}
    wrong = [
        f"{module}:{node.lineno} {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for module in _sources().keys() - kernels
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert wrong == []
