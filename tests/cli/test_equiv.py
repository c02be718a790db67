"""`exogpu equiv` from the command line: verdicts, exit statuses, formats, the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.cli.app import main
from exogpu.equiv import equivalent as module
from tests.report.schemas import valid

PAIR = """\
from exogpu.lang import *


@algorithm
def copy(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    for i in seq(0, N):
        Y[i] = X[i]


@proc
def tiled(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    require(N >= 1)
    block(128)
    for b in tasks(0, ceildiv(N, 128)):
        for t in threads(128):
            if 128 * b + t < N:
                Y[128 * b + t] = X[128 * b + t]


@proc
def short(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    block(128)
    for b in tasks(0, N // 128):
        for t in threads(128):
            Y[128 * b + t] = X[128 * b + t]


@algorithm
def total(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    for i in seq(0, N):
        Y[0] += X[i]


@algorithm
def backwards(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    for i in seq(0, N):
        Y[0] += X[N - 1 - i]


@algorithm
def recurrence(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    for i in seq(1, N):
        Y[i] = Y[i - 1] * X[i]


@algorithm
def halves(N: size, X: f16[N] @ GMEM, Z: f32[N] @ GMEM):
    for i in seq(0, N):
        Z[i] = X[i]


@algorithm
def nothing(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    require(N < 1)
    for i in seq(0, N):
        Y[i] = 0.0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXOGPU_CACHE", str(tmp_path / "cache"))
    (tmp_path / "pair.py").write_text(PAIR, encoding="utf-8")
    return tmp_path


def equiv(a: str, b: str, *options: str) -> int:
    return main(["equiv", f"pair.py:{a}", f"pair.py:{b}", "--deterministic", *options])


def test_proved_exits_0_and_says_for_which_sizes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert equiv("tiled", "copy") == 0
    assert capsys.readouterr().out == (
        "pair.py::tiled == pair.py::copy   PROVED\n  every element of Y is the same, for all sizes with N >= 1\n"
    )


def test_another_order_of_sums_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert equiv("total", "backwards") == 0
    assert capsys.readouterr().out == (
        "pair.py::total == pair.py::backwards   PROVED up to reassociation\n"
        "  every element of Y is the same, for all sizes\n"
        "  up to the order of the sums in Y\n"
    )


def test_refuted_exits_1_with_sizes_and_values(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert equiv("copy", "short") == 1
    out = capsys.readouterr().out
    assert out.startswith("error[equiv.different]: `Y[0]` is ")
    assert "= witness: N = 1\n" in out and "= inputs: integers from -" in out
    assert out.endswith("pair.py::copy == pair.py::short   REFUTED\n")


@pytest.mark.parametrize(
    ("a", "b", "verdict", "reason"),
    [
        ("recurrence", "recurrence", "UNKNOWN", "the values of `Y` are a recurrence that is no sum"),
        ("nothing", "tiled", "VACUOUS", "no sizes are allowed by both"),
    ],
)
def test_undecided_exits_3_with_the_reason(
    folder: Path, a: str, b: str, verdict: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert equiv(a, b) == 3
    out = capsys.readouterr().out
    assert out.startswith(f"{verdict.lower()}[equiv.unknown]: {reason}")
    assert out.endswith(f"pair.py::{a} == pair.py::{b}   {verdict}\n")


def test_other_arguments_are_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert equiv("copy", "halves", "--format", "json") == 2
    document = valid(capsys.readouterr().out)
    assert document["comparison"] is None
    assert [p["message"] for p in document["problems"]] == [
        "the type of `X` is not the same in `copy` and `halves`",
        "`halves` has no argument `Y`",
        "`copy` has no argument `Z`",
    ]


def test_several_procedures_in_a_file_are_bad_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equiv", "pair.py", "pair.py:copy"]) == 2
    assert "give PATH:NAME" in capsys.readouterr().err


def test_a_missing_file_is_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equiv", "none.py", "pair.py:copy"]) == 2
    assert capsys.readouterr().out.startswith("error[input.file]: ")


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [("copy", "tiled", 0), ("copy", "short", 1), ("recurrence", "copy", 1), ("nothing", "tiled", 3)],
)
def test_json_obeys_its_schema(folder: Path, a: str, b: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equiv", f"pair.py:{a}", f"pair.py:{b}", "--format", "json"]) == status
    document = valid(capsys.readouterr().out)
    comparison = document["comparison"]
    assert document["exit_status"] == status
    assert (comparison["a"]["name"], comparison["b"]["name"]) == (a, b)
    assert comparison["tensors"] == ["Y"] and (comparison["difference"] is not None) == (status == 1)


def test_an_outcome_is_found_again_until_a_procedure_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert equiv("copy", "tiled") == equiv("copy", "short") - 1 == 0
    first = capsys.readouterr().out

    def unexpected(*_: object) -> None:
        raise AssertionError("it is decided again")

    with monkeypatch.context() as patched:
        patched.setattr(module, "equivalent", unexpected)
        assert equiv("copy", "tiled") == equiv("copy", "short") - 1 == 0
        assert capsys.readouterr().out == first
        assert equiv("tiled", "copy", "--no-cache") == 4
    (folder / "pair.py").write_text(PAIR.replace("Y[128 * b + t] = X[128 * b + t]", "Y[128 * b + t] = X[0]"))
    assert equiv("copy", "tiled") == 1
    (folder / "pair.py").write_text(PAIR)
    assert equiv("copy", "tiled", "--no-cache") == 0


def test_what_is_unknown_is_not_kept(folder: Path) -> None:
    assert equiv("recurrence", "recurrence") == 3
    assert not (folder / "cache").exists()
