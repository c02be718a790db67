"""`verify --explain`: what was asked, and the chains in words, of one small ring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.cli.app import main
from tests.report.schemas import valid

RING = """\
from exogpu.lang import *


@proc
def ring(T: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    block(producer=warps(1), consumer=warps(1), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for t in tasks(0, T):
        for k in seq(0, K):
            s: f32[1, 32] @ SMEM(ring=2)
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=2)
                    tma_load(s[:, :], X[t : t + 1, 0:32], full)
                    Arrive(full, tx=128)
            with role(consumer):
                Await(full)
                for l in threads(32):
                    Y[t, l] = s[0, l]
                fence_proxy_async()
                Fence()
                Arrive(empty)
"""


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("ring.py").write_text(RING, encoding="utf-8")
    return "ring.py"


def test_explanation(ring: str, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", ring, "--explain", "--deterministic"]) == 0
    golden("report/explain.txt", capsys.readouterr().out)


def test_links_of_the_reuse_in_json(ring: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", ring, "--format", "json"]) == 0
    found = valid(capsys.readouterr().out)["kernels"][0]["obligations"]
    (war,) = [o for o in found if o["code"] == "proxy.generic_to_async"]
    assert "same slot of its ring of 2" in war["question"]
    (chain,) = war["chains"]
    assert [link["location"]["line"] for link in chain["links"]] == [20, 21, 22, 23, 14, 15]
    assert [link["when"] for link in chain["links"]][0::5] == ["x", "y"]
    assert "async proxy" in chain["links"][1]["why"] and "one turn of the ring" in chain["links"][4]["why"]
    assert "k of x" in war["queries"][0]["variables"] and "T" in war["queries"][0]["variables"]
