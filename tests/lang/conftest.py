"""Programs in the tests are text: `program` reads one, `findings` gives what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.proc import Proc
from exogpu.lang import load

Program = Callable[[str], dict[str, Proc]]
Findings = Callable[[str], tuple[Diagnostic, ...]]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The procedures of a source text."""

    def read(text: str) -> dict[str, Proc]:
        file = tmp_path / "program.py"
        file.write_text(text, encoding="utf-8")
        return load(file)

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
