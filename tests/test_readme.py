"""The README's kernels and outputs are real: its commands are run and their output is compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from exogpu.cli.app import main
from tests.pages import Shown, comparison, texts
from tests.skeletons.__main__ import main as judged

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
_blocks = partial(texts, README)


@pytest.fixture
def shown(request: pytest.FixtureRequest) -> Shown:
    return comparison(README, request)


@pytest.fixture
def reverse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The README's first kernel in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "reverse.py"
    path.write_text(_blocks("python")[0], encoding="utf-8")
    return path


def test_first_kernel_is_refuted_as_shown(reverse: Path, shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", reverse.name]) == 1
    shown("exogpu verify reverse.py", 0, capsys.readouterr().out)


def test_repaired_kernel_is_proved_as_shown(reverse: Path, shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    head = reverse.read_text(encoding="utf-8").partition("        for t in threads")[0]
    reverse.write_text(head + _blocks("python")[1], encoding="utf-8")
    assert main(["verify", reverse.name]) == 0
    shown("exogpu verify reverse.py", 1, capsys.readouterr().out)


def test_users_kernel_is_proved_and_compiled_as_shown(
    tmp_path: Path, shown: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (ROOT / "examples" / "transpose.py").read_text(encoding="utf-8")
    assert source in _blocks("python")
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "transpose.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command in ("exogpu verify examples/transpose.py", "exogpu compile examples/transpose.py -o transpose.exogpu"):
        assert main(command.split()[1:]) == 0
        shown(command, 0, capsys.readouterr().out)


def test_flagship_is_the_product_as_shown(
    tmp_path: Path, shown: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").mkdir()
    source = (ROOT / "examples" / "product.py").read_text(encoding="utf-8")
    (tmp_path / "examples" / "product.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = "exogpu equiv gemm_bf16 examples/product.py --deterministic"
    assert main(command.split()[1:]) == 0
    shown(command, 0, capsys.readouterr().out)


def test_corpus_is_judged_as_shown(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    command = "python -m tests.skeletons --class cp-async"
    assert judged(command.split()[3:]) == 0
    shown(command, 0, capsys.readouterr().out)


@pytest.mark.gpu
def test_users_kernel_runs_as_shown(
    compiled_example: Callable[[str], Path], shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    path = compiled_example("transpose")
    capsys.readouterr()
    command = "exogpu run transpose.exogpu --size M=1000 --size N=777"
    assert main(["run", str(path), *command.split()[3:]]) == 0
    shown(command, 0, capsys.readouterr().out)


def test_the_two_commands_are_those_of_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert any(".[dev]' && exogpu verify gemm_f32\n" in block for block in _blocks("console"))
    assert "$ python -m tests\n" in _blocks("console")
    assert "python -m tests\n" in script and "pip install" in script
