"""`exogpu slim` and `exogpu mutate`: what is redundant is found, what is needed is kept, and both say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.cli.app import main
from exogpu.lang import load
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from tests.report.schemas import valid

KERNEL = """\
from exogpu.lang import *


@proc
def copy(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(64)
    for m in tasks(0, M):
        s: f32[64] @ SMEM
        for t in threads(64):
            s[t] = X[m, t]
        Fence()
        for t in threads(64):
            Y[m, t] = s[63 - t]
"""
WASTEFUL = KERNEL + "        Fence()\n"
SAME_WARP = KERNEL.replace("s[63 - t]", "s[32 * (t // 32) + 31 - t % 32]")
SAME_THREAD = KERNEL.replace("s[63 - t]", "s[t]")


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "copy.py"


def test_a_needed_barrier_stays(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_text(KERNEL, encoding="utf-8")
    assert main(["slim", "copy.py"]) == 0
    out = capsys.readouterr().out
    assert "   11  killed" in out and "no Fence()  [race.raw]" in out
    assert "\ncopy: nothing can be removed or weakened\ncopy.py::copy   PROVED   " in out


def test_a_redundant_barrier_goes(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_text(WASTEFUL, encoding="utf-8")
    assert main(["slim", "copy.py", "--format", "json", "--deterministic"]) == 1
    document = valid(capsys.readouterr().out)
    assert (document["schema"], document["exit_status"]) == ("exogpu.slim/1", 1)
    (found,) = document["kernels"]
    verdicts = {(a["location"]["line"], a["edit"]): a["verdict"] for a in found["alone"]}
    assert verdicts == {
        (11, "no Fence()"): "killed",
        (11, "Fence() by 2 warps"): "killed",
        (14, "no Fence()"): "still proved",
        (14, "Fence() by 2 warps"): "still proved",
    }
    (taken,) = found["taken"]
    assert (taken["edit"], taken["location"]["line"]) == ("no Fence()", 14)
    assert found["slim"]["status"] == "PROVED"
    removed = [line for line in found["slim"]["diff"] if line.startswith("-") and not line.startswith("---")]
    assert removed == ["-        Fence()"]
    kernel.write_text(found["slim"]["source"], encoding="utf-8")
    assert verify(load(kernel)["copy"]).status is Status.PROVED


def test_each_weakening_is_told_once_and_the_diff_is_of_the_file(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel.write_text("# my kernel\n" + WASTEFUL, encoding="utf-8")
    assert main(["slim", "copy.py", "--deterministic"]) == 1
    alone, _, together = capsys.readouterr().out.partition("\n\n")
    assert [line.split()[0] for line in alone.splitlines()] == ["12", "12", "15", "15"]
    assert together.startswith("copy: 1 edit is still proved for all sizes\n   15  no Fence()\n\n--- copy.py\n")


@pytest.mark.parametrize(("text", "left"), [(SAME_WARP, "for u0 in threads(2, unit=warp):"), (SAME_THREAD, "")])
def test_a_barrier_shrinks_to_what_is_needed(
    kernel: Path, text: str, left: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel.write_text(text, encoding="utf-8")
    assert main(["slim", "copy.py", "--format", "json"]) == 1
    source = valid(capsys.readouterr().out)["kernels"][0]["slim"]["source"]
    assert ("Fence()" in source) == bool(left) and left in source


def test_mutants_of_a_barrier(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_text(WASTEFUL, encoding="utf-8")
    assert main(["mutate", "copy.py", "--format", "json", "--deterministic"]) == 0
    document = valid(capsys.readouterr().out)
    assert (document["schema"], document["exit_status"]) == ("exogpu.mutate/1", 0)
    (found,) = document["kernels"]
    table = [(m["location"]["line"], m["kind"], m["verdict"], m["cause"]) for m in found["mutants"]]
    assert (11, "drop", "killed", "race.raw") in table
    assert (11, "move", "killed", "race.raw") in table
    assert (14, "drop", "still proved", "") in table
    assert all("seconds" not in m for m in found["mutants"])
    assert main(["mutate", "copy.py", "--format", "json", "--deterministic"]) == 0
    assert valid(capsys.readouterr().out) == document
    assert main(["mutate", "copy.py", "--format", "json", "--strict"]) == 0
    timed = valid(capsys.readouterr().out)
    assert timed["axiom_policy"]["strict"] and all("seconds" in m for m in timed["kernels"][0]["mutants"])


@pytest.mark.parametrize("command", ["slim", "mutate"])
def test_only_proved_kernels_are_edited(kernel: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_text(KERNEL.replace("        Fence()\n", ""), encoding="utf-8")
    assert main([command, "copy.py"]) == 2
    assert "copy is not proved" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["slim", "mutate"])
def test_bad_input_exits_2(kernel: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "nothing.py"]) == 2
    assert "error[input.file]" in capsys.readouterr().out
    kernel.write_text(KERNEL.replace("f32[64] @ SMEM", "f32[64000] @ SMEM"), encoding="utf-8")
    assert main([command, "copy.py", "--format", "json"]) == 2
    document = valid(capsys.readouterr().out)
    assert (document["exit_status"], [p["code"] for p in document["problems"]]) == (2, ["smem.capacity"])
