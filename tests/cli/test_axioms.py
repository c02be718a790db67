"""`--strict`, `--without`, `--axiom` and `exogpu explain` of axioms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exogpu.cli.app import main
from exogpu.verify.axioms import AXIOMS

KERNEL = """\
from exogpu.lang import *


@proc
def copy(N: size, X: f32[N, 32] @ GMEM, Y: f32[N, 32] @ GMEM):
    block(32)
    full = mbarrier(ring=1, count=1)
    for n in tasks(0, N):
        s: f32[1, 32] @ SMEM
        for t in threads(1):
            tma_load(s[:, :], X[n : n + 1, 0:32], full)
            Arrive(full, tx=128)
        Await(full)
        for l in threads(32):
            Y[n, l] = s[0, l]
"""


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "copy.py"
    path.write_text(KERNEL, encoding="utf-8")
    return str(path)


def test_strict_is_said_in_text_and_json(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", kernel, "--strict"]) == 0
    out = capsys.readouterr().out
    assert "  axioms withdrawn: F1, F5, L1, L10, L13, L14\n" in out and "    L7: " in out
    assert main(["verify", kernel, "--strict", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["kernels"]
    assert found["axioms"] == ["L7"]
    assert found["axiom_policy"] == {
        "strict": True,
        "in_force": ["F6", "L4", "L5", "L7", "L11"],
        "withdrawn": ["F1", "F5", "L1", "L10", "L13", "L14"],
        "accepted": [],
    }


def test_a_named_axiom_is_withdrawn(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", kernel, "--without", "L1,L7", "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (failed,) = [r for r in run["results"] if r["kind"] == "fail" and r["ruleId"] == "race.raw"]
    assert "unless axiom L7 is accepted" in failed["message"]["text"]
    assert run["properties"]["axiomsInForce"] == ["F1", "F5", "F6", "L4", "L5", "L10", "L11", "L13", "L14"]


@pytest.mark.parametrize("option", ["--without", "--axiom"])
def test_unknown_axiom_is_bad_usage(kernel: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", kernel, option, "L99"]) == 2
    assert "there is no axiom `L99`; the axioms are F1, F5, F6, L1, " in capsys.readouterr().err


@pytest.mark.parametrize("axiom", AXIOMS, ids=lambda a: str(a.name))
def test_every_axiom_is_explained(axiom: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(getattr(axiom, "name"))  # noqa: B009
    assert main(["explain", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith(name)
    for part in ("The ISA: ", "The reading: ", "Without it: ", "By default: ", "Used in proofs of: "):
        assert f"\n{part}" in out


def test_codes_and_axioms_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    out = capsys.readouterr().out
    assert "\nrace.war " in out and "\nL12 " in out
