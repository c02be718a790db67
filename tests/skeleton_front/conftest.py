"""Skeletons in the tests are text: `program` reads one, `findings` gives what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.lang.load import definitions

Program = Callable[[str], dict[str, Skeleton]]
Findings = Callable[[str], tuple[Diagnostic, ...]]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The skeletons of a source text."""

    def read(text: str) -> dict[str, Skeleton]:
        file = tmp_path / "program.py"
        file.write_text(text, encoding="utf-8")
        return {name: bound for name, bound in definitions(file).items() if isinstance(bound, Skeleton)}

    return read


@pytest.fixture
def findings(program: Program) -> Findings:
    """The diagnostics of a source text; none if it is accepted."""

    def read(text: str) -> tuple[Diagnostic, ...]:
        try:
            program(text)
        except BadInput as bad:
            return bad.diagnostics
        return ()

    return read
