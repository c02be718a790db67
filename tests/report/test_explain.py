"""`verify --explain`: what was asked, and the chains in words, of one small ring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.cli.app import main
from tests.report.schemas import valid
from tests.texts import ring


@pytest.fixture
def ring_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("ring.py").write_text(ring().replace("def k(", "def ring("), encoding="utf-8")
    return "ring.py"


def test_explanation(ring_file: str, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", ring_file, "--explain", "--deterministic"]) == 0
    golden("report/explain.txt", capsys.readouterr().out)


def test_links_of_the_reuse_in_json(ring_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", ring_file, "--format", "json"]) == 0
    found = valid(capsys.readouterr().out)["kernels"][0]["obligations"]
    (war,) = [o for o in found if o["code"] == "proxy.generic_to_async"]
    assert "same slot of its ring of 2" in war["question"]
    (chain,) = war["chains"]
    assert [link["location"]["line"] for link in chain["links"]] == [20, 21, 22, 23, 14, 15]
    assert [link["when"] for link in chain["links"]][0::5] == ["x", "y"]
    assert "async proxy" in chain["links"][1]["why"] and "one turn of the ring" in chain["links"][4]["why"]
    assert "k of x" in war["queries"][0]["variables"] and "T" in war["queries"][0]["variables"]
