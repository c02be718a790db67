"""The sequential meaning of the shipped kernels, against NumPy."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exogpu.ir.interp import compare, interpret, random_inputs, written_tensors
from exogpu.ir.proc import Proc
from exogpu.lang import load

ROOT = Path(__file__).resolve().parents[2]
KERNELS, EXAMPLES = ROOT / "exogpu" / "kernels", ROOT / "examples"
SHAPES = [(1, 1, 1), (128, 256, 64), (130, 257, 65), (5, 300, 17), (257, 3, 8), (64, 64, 1)]
F32_ERROR = 1e-6
BF16_ERROR = 4e-3
"""Half a unit in the last place of bf16, relative."""


def _kernel(name: str) -> Proc:
    return load(KERNELS / f"{name}.py")[name]


def _product(name: str, args: dict[str, Any]) -> Any:
    a, b = args["A"].astype(np.float64), args["B"].astype(np.float64)
    start = args["C"].astype(np.float64) if name == "gemm_splitk" else 0.0
    return start + a @ (b if name == "gemm_f32" else b.T)


ERRORS = {"gemm_f32": F32_ERROR, "gemm_bf16": BF16_ERROR, "gemm_pingpong": BF16_ERROR, "gemm_splitk": F32_ERROR}


@pytest.mark.parametrize(("name", "error"), ERRORS.items())
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gemm_multiplies(name: str, error: float, shape: tuple[int, int, int]) -> None:
    kernel = _kernel(name)
    args = random_inputs(kernel, dict(zip("MNK", shape, strict=True)), seed=3)
    (mismatch,) = compare(kernel, interpret(kernel, args), {"C": _product(name, args)})
    assert mismatch.tensor == "C"
    assert mismatch.relative < error


@pytest.mark.parametrize("name", ["gemm_f32", "gemm_bf16", "gemm_splitk"])
def test_gemm_in_f64_is_the_reference(name: str) -> None:
    kernel = _kernel(name)
    args = random_inputs(kernel, {"M": 70, "N": 90, "K": 33}, seed=4)
    result = interpret(kernel, args, precise=True)["C"]
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, _product(name, args), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "sizes"), [("transpose", {"M": 33, "N": 5}), ("stencil", {"N": 70})])
def test_one_iteration_at_a_time_is_the_same(name: str, sizes: dict[str, int]) -> None:
    kernel = load(EXAMPLES / f"{name}.py")[name]
    args = random_inputs(kernel, sizes, seed=5)
    (mismatch,) = compare(kernel, interpret(kernel, args), interpret(kernel, args, together=False))
    assert mismatch.relative < F32_ERROR


def test_an_empty_result() -> None:
    kernel = _kernel("gemm_f32")
    args = random_inputs(kernel, {"M": 4, "N": 0, "K": 4}, seed=0)
    assert interpret(kernel, args)["C"].shape == (4, 0)


def test_what_the_kernels_write() -> None:
    assert written_tensors(_kernel("gemm_f32")) == written_tensors(_kernel("gemm_bf16")) == ("C",)


@pytest.mark.parametrize("name", ["gemm_f32", "gemm_bf16", "gemm_splitk"])
def test_gemm_runs_many_iterations_at_once(name: str) -> None:
    """Well under a second on an idle machine; one iteration at a time would take an hour."""
    kernel = _kernel(name)
    args = random_inputs(kernel, {"M": 512, "N": 512, "K": 512}, seed=6)
    start = time.perf_counter()
    interpret(kernel, args)
    assert time.perf_counter() - start < 30
