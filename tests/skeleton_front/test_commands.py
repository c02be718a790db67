"""Skeletons on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import exogpu.verify.skeleton.verdict as entry
from exogpu.cli.app import main
from exogpu.cli.decide import decide
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.lang.load import definitions
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.cache import skeleton_key
from exogpu.verify.result import Obligation, Report, Status

BOTH = """\
from exogpu.lang import *
from exogpu.skeleton import *


@proc
def double(N: size, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    block(128)
    for b in tasks(0, ceildiv(N, 128)):
        for t in threads(128):
            if 128 * b + t < N:
                Y[128 * b + t] = X[128 * b + t] + X[128 * b + t]


@skeleton
def handover(n: size):
    x = smem()
    with role("all", threads=128):
        for i in range(n):
            store(x)
            cta_sync()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of a kernel and a skeleton, and one of a skeleton alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "both.py").write_text(BOTH, encoding="utf-8")
    head, _, tail = BOTH.partition("@proc")
    (tmp_path / "alone.py").write_text(head + "@skeleton" + tail.partition("@skeleton")[2], encoding="utf-8")
    (tmp_path / "plain.py").write_text("x = 1\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Policy, int]]:
    """What the verifier of skeletons is asked with; it proves everything."""
    calls: list[tuple[Policy, int]] = []

    def prove(skeleton: Skeleton, policy: Policy, *, jobs: int) -> Report:
        calls.append((policy, jobs))
        obligation = Obligation("race/x", "race.waw", "stores are ordered", Status.PROVED, skeleton.span)
        return Report(skeleton.name, skeleton.span, Status.PROVED, (obligation,), "z3", 0.0)

    monkeypatch.setattr(entry, "verify_skeleton", prove)
    return calls


def _kernels(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    document: Any = json.loads(capsys.readouterr().out)
    return [(k["name"], k["status"]) for k in document["kernels"]]


def test_kernels_and_skeletons_of_a_file(
    folder: Path, asked: list[tuple[Policy, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "both.py", "--format", "json"]) == 0
    assert _kernels(capsys) == [("double", "PROVED"), ("handover", "PROVED")]


def test_one_skeleton_with_a_policy_and_processes(
    folder: Path, asked: list[tuple[Policy, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "both.py:handover", "--strict", "--without", "L1", "--jobs", "3"]) == 0
    assert "both.py::handover   PROVED" in capsys.readouterr().out
    assert asked == [(Policy(strict=True, without=frozenset({"L1"})), 3)]


def test_the_files_of_a_folder_that_hold_skeletons(
    folder: Path, asked: list[tuple[Policy, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "both.py").unlink()
    assert main(["verify", ".", "--format", "json"]) == 0
    assert _kernels(capsys) == [("handover", "PROVED")]


def test_a_proof_is_kept_and_found_again(
    folder: Path, asked: list[tuple[Policy, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXOGPU_CACHE", str(folder / "cache"))
    for arguments in ([], [], ["--no-cache"], ["--strict"]):
        assert main(["verify", "alone.py", *arguments]) == 0
    assert len(asked) == 3


def test_the_key_depends_on_text_place_and_policy(folder: Path) -> None:
    def key(text: str, policy: Policy = DEFAULT) -> str:
        (folder / "keyed.py").write_text(text, encoding="utf-8")
        found = definitions(folder / "keyed.py")["handover"]
        assert isinstance(found, Skeleton)
        return skeleton_key(found, policy)

    assert key(BOTH) == key(BOTH)
    edits = [BOTH.replace("threads=128):", "threads=64):"), BOTH.replace("cta_sync", "warp_sync"), "\n" + BOTH]
    keys = {key(BOTH), key(BOTH, Policy(strict=True)), *map(key, edits)}
    assert len(keys) == 5


@pytest.mark.parametrize("command", ["compile", "slim", "sync", "bench verify", "equiv"])
@pytest.mark.parametrize("target", ["alone.py", "both.py:handover"])
def test_other_commands_say_that_a_skeleton_is_none_of_theirs(
    folder: Path, command: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), *[target] * (2 if command == "equiv" else 1)]) == 2
    out = capsys.readouterr().out
    first, *rest = out.splitlines()
    assert first.startswith("error[input.skeleton]: `handover` is a sync skeleton, which `verify` and `mutate` take; ")
    assert f"`{command.split()[0]}`" in first and first.endswith("a skeleton has none")
    assert any("def handover" in line for line in rest)


def test_a_missing_name_lists_skeletons_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "both.py:hand"]) == 2
    assert "kernels of the file: double, handover" in capsys.readouterr().out


def test_a_feature_without_a_model_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BOTH.replace(
        "            store(x)\n", "            store(x)\n            mma5(T, x)\n            pdl_wait()\n"
    )
    (folder / "tcgen.py").write_text(text, encoding="utf-8")
    assert main(["verify", "tcgen.py:handover"]) == 3
    out = capsys.readouterr().out
    assert "tcgen.py::handover   UNSUPPORTED" in out and "mma5" in out and "pdl_wait" in out


def test_a_skeleton_is_decided_as_a_skeleton(folder: Path, asked: list[tuple[Policy, int]]) -> None:
    found = definitions("alone.py")["handover"]
    assert decide(found, DEFAULT).kernel == "handover" and asked == [(DEFAULT, 1)]
