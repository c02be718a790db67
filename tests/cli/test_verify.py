"""`exogpu verify` from the command line: targets, verdicts, exit statuses, formats, files of queries."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from exogpu.cli.app import main
from exogpu.ir.proc import Proc
from exogpu.verify import prove
from exogpu.verify.result import Obligation, Report, Status
from tests.report.schemas import valid

ROOT = Path(__file__).resolve().parents[2]

GOOD = """\
from exogpu.lang import *


@proc
def double(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    block(128)
    for b in tasks(0, ceildiv(N, 128)):
        for t in threads(128):
            if 128 * b + t < N:
                Y[128 * b + t] = X[128 * b + t] + X[128 * b + t]
"""

BAD = GOOD.replace("128 * b + t < N", "128 * b + t <= N").replace("double", "too_far")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "both.py").write_text(GOOD + BAD.partition("*\n")[2], encoding="utf-8")
    (tmp_path / "wrong.py").write_text(GOOD.replace("X[128 * b + t] +", "Z[b] +"), encoding="utf-8")
    return tmp_path


def test_proved_kernel_exits_0_and_says_what_was_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "good.py"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("good.py::double   PROVED   ")
    assert "bounds" in out and "every access lies inside its buffer" in out
    assert err == ""


def test_refuted_kernel_exits_1_with_the_smallest_sizes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "both.py"]) == 1
    out = capsys.readouterr().out
    assert "both.py::double   PROVED" in out and "both.py::too_far   REFUTED" in out
    assert "error[bounds]: " in out and "both.py:" in out
    assert "witness: N = " in out and "(no smaller sizes fail)" in out


def test_one_kernel_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "both.py:double"]) == 0
    assert "too_far" not in capsys.readouterr().out


def test_a_folder_without_kernels_exits_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert main(["verify", "empty"]) == 2
    assert capsys.readouterr().out.startswith("error[input.file]: the folder `empty` holds no kernel")


@pytest.mark.parametrize(
    ("target", "code"),
    [("none.py", "input.file"), ("no.such.module", "input.file"), ("both.py:none", "input.name")],
)
def test_missing_target_exits_2(folder: Path, target: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", target, "--format", "json"]) == 2
    assert [p["code"] for p in valid(capsys.readouterr().out)["problems"]] == [code]


def test_bad_input_exits_2_but_the_other_kernels_are_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "wrong.py", "both.py"]) == 2
    out = capsys.readouterr().out
    assert out.startswith("error[lang.unknown_name]: ") and "wrong.py:10:" in out and "^" in out
    assert "too_far   REFUTED" in out


def test_a_kernel_that_fits_no_cta_is_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allocation = "        big: f32[100000] @ SMEM\n        for t in threads(128):"
    (folder / "big.py").write_text(GOOD.replace("        for t in threads(128):", allocation), encoding="utf-8")
    assert main(["verify", "big.py", "both.py"]) == 2
    out = capsys.readouterr().out
    assert "error[smem.capacity]" in out and "both.py::double   PROVED" in out


@pytest.mark.parametrize("target", ["exogpu.kernels.gemm_f32", "gemm_f32", "gemm_f32:gemm_f32"])
def test_shipped_kernel_by_module_and_by_name(
    target: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "verify", lambda proc, *_, **__: _report(proc, Status.PROVED))
    assert main(["verify", target, "--format", "short"]) == 0
    assert capsys.readouterr().out.endswith("gemm_f32.py:15:5: note: gemm_f32 PROVED\n")


def test_a_module_is_looked_for_in_the_folder_of_the_call_first(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The installed command has that folder on no path, and Python's own modules are imported already."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", ".", str(folder))])
    (folder / "inner").mkdir()
    for file in ("copy.py", "inner/mine.py"):
        (folder / file).write_text(GOOD, encoding="utf-8")
    assert main(["verify", "copy", "inner.mine", "--format", "short"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == ["copy.py", "inner/mine.py"]


def test_all_verifies_every_shipped_kernel(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "verify", lambda proc, *_, **__: _report(proc, Status.PROVED))
    assert main(["verify", "--all", "--format", "json"]) == 0
    shipped = {path.stem for path in (ROOT / "exogpu" / "kernels").glob("*.py")} - {"__init__"}
    assert {kernel["name"] for kernel in valid(capsys.readouterr().out)["kernels"]} == shipped


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.VACUOUS, Status.UNSUPPORTED])
def test_undecided_exits_3(
    folder: Path, status: Status, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prove, "verify", lambda proc, *_, **__: _report(proc, status))
    assert main(["verify", "good.py"]) == 3
    assert f"good.py::double   {status.value}" in capsys.readouterr().out
    assert main(["verify", "good.py", "--allow-unknown"]) == (0 if status is Status.UNKNOWN else 3)


def _report(proc: Proc, status: Status) -> Report:
    obligation = Obligation("bounds/X", "bounds", "X is accessed inside", status, proc.span, reason="budget")
    return Report(proc.name, proc.span, status, (obligation,), "z3", 0.0)


def test_queries_are_written_as_files_that_match_their_hashes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "good.py", "--smt-dir", "queries", "--format", "json"]) == 0
    (kernel,) = valid(capsys.readouterr().out)["kernels"]
    hashes = sorted(q["sha256"] for o in kernel["obligations"] for q in o["queries"])
    written = [path.read_bytes() for path in (folder / "queries" / "double").glob("*.smt2")]
    assert hashes and sorted(hashlib.sha256(text).hexdigest() for text in written) == hashes
    assert all(b"(check-sat)" in text for text in written)


def test_folder_for_queries_that_cannot_be_made_exits_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "good.py", "--smt-dir", "good.py"]) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "short", "json", "sarif", "junit", "github"])
def test_deterministic_reports_are_equal(folder: Path, form: str) -> None:
    command = [sys.executable, "-m", "exogpu", "verify", "both.py", "--deterministic", "--chains", "--format", form]

    def once(seed: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    first = once("1")
    assert "bounds" in first
    assert first == once("2")
    assert str(folder) not in first


def test_failed_proof_is_not_hidden_by_another_kernels_success(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fake(proc: Proc, *_: object, **__: object) -> Report:
        return _report(proc, Status.REFUTED if proc.name == "too_far" else Status.PROVED)

    monkeypatch.setattr(prove, "verify", fake)
    assert main(["verify", "both.py"]) == 1
    assert "1 refuted" in capsys.readouterr().out
