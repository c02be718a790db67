"""`exogpu compile` and `exogpu run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exogpu.cli import run_command
from exogpu.cli.app import main
from exogpu.codegen.bundle import read
from exogpu.codegen.manifest import SizeArgument
from exogpu.codegen.runtime import Kernel, LaunchError
from exogpu.ir.interp import interpret

SCALE = """\
from exogpu.lang import *


@proc
def scale(N: size, s: f32, X: f32[N] @ GMEM, Y: f32[N] @ GMEM):
    require(N >= 1)
    block(128)
    for b in tasks(0, ceildiv(N, 128)):
        for t in threads(128):
            if 128 * b + t < N:
                Y[128 * b + t] = s * exp(X[128 * b + t])
"""


SUMS = """\
from exogpu.lang import *


@proc
def sums(M: size, X: bf16[M, 64] @ GMEM, S: bf16[64] @ GMEM):
    block(64)
    for m in tasks(0, M):
        for t in threads(64):
            r: bf16[1] @ RMEM
            r[0] = X[m, t]
            atomic_add(S[t : t + 1], r[0:1])
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "scale.py").write_text(SCALE, encoding="utf-8")
    assert main(["compile", str(folder / "scale.py"), "-o", str(folder / "scale.exogpu")]) == 0
    return folder / "scale.exogpu"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_bundle_holds_source_code_cubin_and_certificate(bundle: Path) -> None:
    content = read(bundle)
    assert content.manifest.kernel == "scale" and content.manifest.arguments[0] == SizeArgument("N")
    assert content.cubin.startswith(b"\x7fELF")
    assert {o["status"] for o in content.certificate["obligations"]} == {"PROVED"}


def test_compile_says_what_it_wrote(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.py").write_text(SCALE, encoding="utf-8")
    assert main(["compile", "k.py:scale"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("k.py::scale   PROVED") and out[1].startswith("wrote scale.exogpu: 128 threads a CTA, ")
    assert (folder / "scale.exogpu").exists()


def test_a_refuted_kernel_is_not_compiled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.py").write_text(SCALE.replace("+ t < N", "+ t <= N"), encoding="utf-8")
    assert main(["compile", "k.py", "-o", "k.exogpu"]) == 1
    assert "REFUTED" in capsys.readouterr().out
    assert not (folder / "k.exogpu").exists()


def test_bad_input_exits_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.py").write_text(SCALE.replace("exp(X", "exp(Z"), encoding="utf-8")
    assert main(["compile", "k.py"]) == 2
    assert "error[lang.unknown_name]" in capsys.readouterr().out


def test_one_kernel_must_be_picked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = SCALE.partition("*\n")[2].replace("def scale", "def other")
    (folder / "k.py").write_text(SCALE + second, encoding="utf-8")
    assert main(["compile", "k.py"]) == 2
    assert "one of scale, other" in capsys.readouterr().err


def test_output_that_cannot_be_written_exits_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.py").write_text(SCALE, encoding="utf-8")
    assert main(["compile", "k.py", "-o", "no/such/folder/k.exogpu"]) == 2
    assert "cannot write no/such/folder/k.exogpu" in capsys.readouterr().err


def _without_gpu(change: float) -> Any:
    """Stands for a launch: the sequential program's results, off by `change` at one element."""

    def call(kernel: Kernel, **arguments: Any) -> None:
        arguments["Y"][:] = interpret(run_command.source(kernel), arguments)["Y"]
        arguments["Y"][0] += np.float32(change)

    return call


def test_run_agrees_with_the_sequential_program(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Kernel, "__call__", _without_gpu(0.0))
    assert main(["run", str(bundle), "--size", "N=1000"]) == 0
    assert capsys.readouterr().out.startswith("agrees  Y: ")


def test_run_reports_a_difference(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Kernel, "__call__", _without_gpu(0.1))
    assert main(["run", str(bundle)]) == 1
    assert capsys.readouterr().out.startswith("DIFFERS  Y: ")


@pytest.mark.parametrize(("change", "status"), [(0.0, 0), (4.0, 1)])
def test_sums_may_happen_in_another_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: float, status: int
) -> None:
    def backwards(kernel: Kernel, **arguments: Any) -> None:
        turned = {**arguments, "X": arguments["X"][::-1]}
        arguments["S"][:] = interpret(run_command.source(kernel), turned)["S"]
        arguments["S"][:] += np.asarray(change, arguments["S"].dtype)

    (folder / "sums.py").write_text(SUMS, encoding="utf-8")
    assert main(["compile", "sums.py"]) == 0
    assert read(folder / "sums.exogpu").certificate["reassociated"] == ["S"]
    assert "PROVED up to reassociation" in capsys.readouterr().out
    monkeypatch.setattr(Kernel, "__call__", backwards)
    assert main(["run", "sums.exogpu", "--size", "M=500"]) == status


@pytest.mark.parametrize(("size", "text"), [("K=3", "no size `K`"), ("N", "NAME=VALUE"), ("N=-1", "NAME=VALUE")])
def test_wrong_sizes_exit_2(bundle: Path, size: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(bundle), "--size", size]) == 2
    assert text in capsys.readouterr().err


def test_violated_precondition_exits_2(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(bundle), "--size", "N=0"]) == 2
    assert "error[interp.require]" in capsys.readouterr().out


def test_a_file_that_is_no_bundle_exits_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.exogpu").write_bytes(b"not a bundle")
    assert main(["run", "x.exogpu"]) == 2
    assert "error[input.file]" in capsys.readouterr().out


def test_a_launch_that_is_refused_exits_2_with_the_reason(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(kernel: Kernel, **arguments: Any) -> None:
        raise LaunchError("there is no CUDA driver")

    monkeypatch.setattr(Kernel, "__call__", refused)
    assert main(["run", str(bundle)]) == 2
    assert "exogpu run: error: there is no CUDA driver" in capsys.readouterr().err


@pytest.mark.gpu
@pytest.mark.parametrize("example", ["transpose", "softmax", "stencil"])
def test_example_runs_on_the_gpu(example: str, compiled_example: Callable[[str], Path]) -> None:
    path = compiled_example(example)
    sizes = [a.name for a in read(path).manifest.arguments if isinstance(a, SizeArgument)]
    for base in (1, 37, 300, 1000):
        options = [part for n, name in enumerate(sizes) for part in ("--size", f"{name}={base + n}")]
        assert main(["run", str(path), *options]) == 0
