"""`exogpu sync`: the change of the user's file, written on demand, or why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.cli.app import main
from tests.report.schemas import valid

BARE = """\
\"\"\"Two kernels, with comments and constants.\"\"\"

from exogpu.lang import *

T = 64  # threads


@proc
def reverse(M: size, X: f32[M, T] @ GMEM, Y: f32[M, T] @ GMEM):
    block(T)
    for i in tasks(0, M):
        s: f32[T] @ SMEM
        for t in threads(T):
            s[t] = X[i, t]  # fill
        for t in threads(T):
            Y[i, t] = s[T - 1 - t]


@proc
def handed_over(M: size, X: f32[M, T] @ GMEM, Y: f32[M, T] @ GMEM):
    require(M >= 1)
    block(p=warps(1), c=warps(2), persistent=True)
    for i in tasks(0, M):
        s: f32[1, T] @ SMEM(ring=2)
        with role(p):
            for q in threads(1):
                tma_load(
                    s[:, :],  # the row
                    X[i : i + 1, 0:T],
                )
        with role(c):
            for t in threads(T):
                Y[i, t] = s[0, T - 1 - t]
"""
DIFF = """\
--- bare.py
+++ bare.py, sync
@@ -12,6 +12,7 @@
         s: f32[T] @ SMEM
         for t in threads(T):
             s[t] = X[i, t]  # fill
+        Fence()
         for t in threads(T):
             Y[i, t] = s[T - 1 - t]
"""
DIFF += " \n"
WRITTEN = """\
    require(M >= 1)
    block(p=warps(1), c=warps(2), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=2)
    for i in tasks(0, M):
        s: f32[1, T] @ SMEM(ring=2)
        with role(p):
            for q in threads(1):
                Await(empty, lag=2)
                tma_load(
                    s[:, :],  # the row
                    X[i : i + 1, 0:T],
                    full,
                )
                Arrive(full, tx=256)
        with role(c):
            Await(full)
            for t in threads(T):
                Y[i, t] = s[0, T - 1 - t]
            fence_proxy_async()
            for v in threads(2, unit=warp):
                Fence()
                Arrive(empty)
"""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bare.py"
    path.write_text(BARE, encoding="utf-8")
    return path


def test_the_change_is_printed_as_a_diff_of_the_file(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sync", "bare.py:reverse", "--deterministic"]) == 1
    head = "reverse: synchronised, and proved for all sizes with this change\n\n"
    out = capsys.readouterr().out
    assert out.startswith(head + DIFF)
    assert "bare.py::reverse   PROVED" in out
    assert bare.read_text(encoding="utf-8") == BARE


def test_every_kernel_of_the_file_is_written(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sync", "bare.py", "--write"]) == 0
    text = bare.read_text(encoding="utf-8")
    assert WRITTEN in text and "= X[i, t]  # fill\n        Fence()\n" in text
    assert "written to bare.py" in capsys.readouterr().out
    assert main(["sync", "bare.py"]) == 0
    assert "reverse: proved as it stands" in capsys.readouterr().out


def test_the_document_obeys_its_schema(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BARE.replace("Y[i, t] = s[T - 1 - t]", "Y[i + 1, t] = s[T - 1 - t]")
    bare.write_text(text[: text.index("@proc\ndef handed_over")], encoding="utf-8")
    assert main(["sync", "bare.py", "--format", "json", "--deterministic"]) == 3
    document = valid(capsys.readouterr().out)
    (found,) = document["kernels"]
    assert (document["exit_status"], found["result"], found["status"]) == (3, "not found", "REFUTED")
    assert [d["code"] for d in found["remaining"]] == ["bounds"]
    assert (found["source"], found["diff"], found["written"]) == ("", [], False)


def test_a_found_change_is_in_the_document(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sync", "bare.py:reverse", "--format", "json"]) == 1
    (found,) = valid(capsys.readouterr().out)["kernels"]
    assert (found["result"], found["status"], found["written"]) == ("found", "PROVED", False)
    assert found["diff"] == DIFF.splitlines()
    assert "        Fence()\n" in found["source"]


def test_a_file_that_cannot_be_edited_is_left_alone(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, end = BARE.index("for q in threads(1):"), BARE.index("        with role(c):")
    text = BARE[:start] + "for q in threads(1): tma_load(s[:, :], X[i : i + 1, 0:T])\n" + BARE[end:]
    bare.write_text(text, encoding="utf-8")
    assert main(["sync", "bare.py:handed_over", "--write"]) == 1
    out, err = capsys.readouterr()
    assert "--- handed_over, reprinted\n" in out and "written" not in out
    assert err == "exogpu sync: bare.py cannot be changed statement by statement, so nothing is written\n"
    assert bare.read_text(encoding="utf-8") == text


def test_what_is_not_acceptable_exits_2(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare.write_text(BARE.replace("f32[T] @ SMEM", "f32[1000 * T] @ SMEM"), encoding="utf-8")
    assert main(["sync", "bare.py:reverse"]) == 2
    assert "smem.capacity" in capsys.readouterr().out
