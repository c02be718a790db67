"""The documentation's kernel is synchronised as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exogpu.cli.app import main

TEXT = (Path(__file__).parents[2] / "docs" / "sync.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The first block of that language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def steady(text: str) -> str:
    """Without trailing blanks, and without the cost of the proof."""
    return re.sub(r"[ \t]+\n", "\n", re.sub(r"\d+\.\d\d s, .*", "(cost)", text))


def test_the_output_is_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "totals.py").write_text(block("python"), encoding="utf-8")
    assert main(["sync", "totals.py"]) == 1
    assert steady(capsys.readouterr().out) == steady(block("console").partition("\n")[2])
