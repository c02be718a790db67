"""The explorer is an oracle for the prover: it shares the IR with it, and the records in which results are reported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "verify" / "explore"
SHARED = ("exogpu.ir.", "exogpu.source", "exogpu.diagnostics", "exogpu.verify.result", "exogpu.verify.explore.")


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_it_imports_nothing_of_the_prover() -> None:
    ours = {name for path in FOLDER.glob("*.py") for name in _imports(path) if name.startswith("exogpu.")}
    assert len(ours) > 50
    assert sorted(name for name in ours if not name.startswith(SHARED)) == []
