"""The users' kernels of examples/: their sequential meaning against NumPy, and their verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.proc import Proc
from exogpu.lang import load
from exogpu.verify.prove import verify
from exogpu.verify.result import Status

FOLDER = Path(__file__).resolve().parents[2] / "examples"
Array = NDArray[Any]


def _proc(name: str) -> Proc:
    return load(FOLDER / f"{name}.py")[name]


def _transpose(args: dict[str, Any]) -> Array:
    return np.asarray(args["A"].T)


def _softmax(args: dict[str, Any]) -> Array:
    x = args["X"].astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def _stencil(args: dict[str, Any]) -> Array:
    return np.convolve(args["X"].astype(np.float64), args["W"][::-1].astype(np.float64))[3:-3]


def _reversed(args: dict[str, Any]) -> Array:
    return np.asarray(args["X"][:, ::-1])


@pytest.mark.parametrize(
    ("name", "out", "sizes", "reference"),
    [
        ("transpose", "B", {"M": 1, "N": 1}, _transpose),
        ("transpose", "B", {"M": 33, "N": 70}, _transpose),
        ("softmax", "Y", {"M": 3, "N": 1}, _softmax),
        ("softmax", "Y", {"M": 2, "N": 300}, _softmax),
        ("stencil", "Y", {"N": 7}, _stencil),
        ("stencil", "Y", {"N": 600}, _stencil),
        ("cluster_reverse", "Y", {"M": 3}, _reversed),
    ],
)
def test_meaning(name: str, out: str, sizes: dict[str, int], reference: Callable[[dict[str, Any]], Array]) -> None:
    proc = _proc(name)
    args = random_inputs(proc, sizes, seed=1)
    np.testing.assert_allclose(interpret(proc, args)[out], reference(args), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["transpose", "softmax", "stencil", "cluster_reverse"])
def test_proved_for_all_sizes(name: str) -> None:
    report = verify(_proc(name))
    assert report.status is Status.PROVED, [o for o in report.obligations if o.status is not Status.PROVED]


@pytest.mark.parametrize("name", ["transpose", "softmax", "stencil"])
def test_refuted_without_any_one_of_its_fences(name: str, tmp_path: Path) -> None:
    lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines(keepends=True)
    fences = [n for n, line in enumerate(lines) if line.strip() == "Fence()"]
    assert fences
    for n in fences:
        path = tmp_path / f"{name}_{n}.py"
        path.write_text("".join(lines[:n] + lines[n + 1 :]), encoding="utf-8")
        report = verify(load(path)[name])
        assert report.status is Status.REFUTED
        assert {o.rule for o in report.obligations if o.status is Status.REFUTED} == {"race.raw"}
