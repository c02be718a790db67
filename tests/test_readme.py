"""The README's kernels and outputs are real: its commands are run and their output is compared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exogpu.cli.app import main

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = re.compile(r"\d+\.\d\d s, z3 [\d.]+(, rlimit [\d,]+)?")


def _blocks(language: str) -> list[str]:
    return [body for found, body in BLOCK.findall(README.read_text(encoding="utf-8")) if found == language]


def _steady(text: str) -> str:
    return VARYING.sub("(cost)", text)


@pytest.fixture
def reverse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The README's first kernel in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "reverse.py"
    path.write_text(_blocks("python")[0], encoding="utf-8")
    return path


def _shown(command: str, number: int) -> str:
    """What the README shows below the number-th block that runs a command."""
    found = [b for b in _blocks("console") if b.startswith(f"$ {command}\n")]
    return found[number].partition("\n")[2]


def test_first_kernel_is_refuted_as_shown(reverse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", reverse.name]) == 1
    assert _steady(capsys.readouterr().out) == _steady(_shown("exogpu verify reverse.py", 0))


def test_repaired_kernel_is_proved_as_shown(reverse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = reverse.read_text(encoding="utf-8").partition("        for t in threads")[0]
    reverse.write_text(head + _blocks("python")[1], encoding="utf-8")
    assert main(["verify", reverse.name]) == 0
    assert _steady(capsys.readouterr().out) == _steady(_shown("exogpu verify reverse.py", 1))


def test_users_kernel_is_the_example_and_is_proved_as_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert (ROOT / "examples" / "transpose.py").read_text(encoding="utf-8") in _blocks("python")
    assert main(["verify", "examples/transpose.py"]) == 0
    assert _steady(capsys.readouterr().out) == _steady(_shown("exogpu verify examples/transpose.py", 0))


def test_the_two_commands_are_those_of_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert any(".[dev]' && exogpu verify gemm_f32\n" in block for block in _blocks("console"))
    assert "$ python -m tests\n" in _blocks("console")
    assert "python -m tests\n" in script and "pip install" in script
