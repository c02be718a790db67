"""`exogpu verify FOLDER --scheduler`: the same report from the workers of a Dask cluster."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from exogpu.cli.app import main

KERNEL = """from exogpu.lang import *

@proc
def NAME(N: size, X: f32[N, 32] @ GMEM, Y: f32[N, 32] @ GMEM):
    block(32)
    for n in tasks(0, N):
        for l in threads(32):
            Y[n, l] = X[n, LANE]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    good = KERNEL.replace("NAME", "good").replace("LANE", "l")
    bad = KERNEL.replace("NAME", "bad").replace("LANE", "l + 1").partition("\n\n")[2]
    (tmp_path / "kernels" / "two.py").write_text(f"{good}\n{bad}", encoding="utf-8")
    (tmp_path / "kernels" / "one.py").write_text(good, encoding="utf-8")
    (tmp_path / "kernels" / "helper.py").write_text("WIDTH = 32\n", encoding="utf-8")
    return tmp_path / "kernels"


class Client:
    """A cluster of this process alone, for machines without Dask."""

    def __init__(self, address: str) -> None:
        if address != "tcp://here":
            raise OSError("nobody answers")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, call: Callable[..., Any], *arguments: Any, pure: bool) -> Callable[[], Any]:
        return lambda: call(*arguments)

    def gather(self, futures: list[Callable[[], Any]]) -> list[Any]:
        return [future() for future in futures]


@contextmanager
def local_cluster() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def report(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    status = main(["verify", "kernels", "--format", "json", "--deterministic", *options])
    return status, capsys.readouterr().out


def test_a_folder_stands_for_its_kernels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "kernels", "--format", "short"]) == 1
    out = capsys.readouterr().out
    assert "one.py:4:5: note: good PROVED" in out and "two.py:4:5: note: good PROVED" in out
    assert "two.py:15:23: error: " in out


def test_workers_give_the_same_report(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = ModuleType("distributed")
    vars(stub)["Client"] = Client
    monkeypatch.setitem(sys.modules, "distributed", stub)
    assert report(capsys, "--scheduler", "tcp://here") == report(capsys)
    assert main(["verify", "kernels", "--scheduler", "tcp://nowhere"]) == 2
    assert "there is no Dask scheduler at tcp://nowhere: nobody answers" in capsys.readouterr().err


class Elsewhere(Client):
    """A cluster whose only worker has another text at the same place, which is right."""

    def submit(self, call: Callable[..., Any], *arguments: Any, pure: bool) -> Callable[[], Any]:
        file = Path(arguments[0])
        mine = file.read_text(encoding="utf-8")

        def run() -> Any:
            file.write_text(mine.replace("l + 1", "l"), encoding="utf-8")
            try:
                return call(*arguments)
            finally:
                file.write_text(mine, encoding="utf-8")

        return run


def test_a_worker_decides_what_was_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = ModuleType("distributed")
    vars(stub)["Client"] = Elsewhere
    monkeypatch.setitem(sys.modules, "distributed", stub)
    assert main(["verify", "kernels/one.py", "--scheduler", "tcp://here"]) == 0
    assert main(["verify", "kernels/two.py", "--scheduler", "tcp://here"]) == 2
    assert "a worker has another text of" in capsys.readouterr().err


def test_what_workers_say_is_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXOGPU_CACHE", str(folder / "cache"))
    stub = ModuleType("distributed")
    vars(stub)["Client"] = Client
    monkeypatch.setitem(sys.modules, "distributed", stub)
    said = []
    for option in (["--scheduler", "tcp://here"], [], []):
        assert main(["verify", "kernels/one.py", *option]) == 0
        said.append("from cache" in capsys.readouterr().out)
    assert said == [False, False, True]


def test_without_dask_it_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["verify", "kernels", "--scheduler", "tcp://here"]) == 2
    assert "pip install 'exogpu[dask]'" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="Dask is not installed")
def test_a_real_cluster_gives_the_same_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with local_cluster() as address:
        remote = report(capsys, "--scheduler", address)
    assert remote == report(capsys)
