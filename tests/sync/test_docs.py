"""The documentation's kernel is synchronised as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exogpu.cli.app import main
from tests.pages import steady, texts

PAGE = Path(__file__).parents[2] / "docs" / "sync.md"


def plain(text: str) -> str:
    """Without trailing blanks, and without the cost of the proof."""
    return re.sub(r"[ \t]+\n", "\n", steady(text))


def test_the_output_is_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "totals.py").write_text(texts(PAGE, "python")[0], encoding="utf-8")
    assert main(["sync", "totals.py"]) == 1
    assert plain(capsys.readouterr().out) == plain(texts(PAGE, "console")[0].partition("\n")[2])
