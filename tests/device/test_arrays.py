"""The array libraries that a kernel accepts, and what it refuses, on a real device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from exogpu.codegen.runtime import Kernel, LaunchError

pytestmark = pytest.mark.gpu


def test_numpy_arrays_are_copied(kernel: Callable[[str], Kernel]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((77, 33), np.float32), rng.standard_normal((33, 51), np.float32)
    c = np.full((77, 51), np.nan, np.float32)
    kernel("gemm_f32")(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-4)


def test_numpy_rows_are_padded_for_tma(kernel: Callable[[str], Kernel]) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((rows, 37)).astype(ml_dtypes.bfloat16) for rows in (70, 131))
    c = np.zeros((131, 70), ml_dtypes.bfloat16).T
    kernel("gemm_bf16")(a, b, c)
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(c.astype(np.float64), wanted, rtol=2**-8, atol=1e-4)


def test_cupy_arrays(kernel: Callable[[str], Kernel]) -> None:
    cupy = pytest.importorskip("cupy")
    a, b = cupy.random.standard_normal((65, 40), cupy.float32), cupy.random.standard_normal((40, 9), cupy.float32)
    c = cupy.full((65, 9), cupy.nan, cupy.float32)
    with cupy.cuda.Stream() as stream:
        kernel("gemm_f32")(a, b, c)
        stream.synchronize()
    cupy.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_jax_inputs(kernel: Callable[[str], Kernel]) -> None:
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    a, b = (jax.random.normal(jax.random.key(seed), shape) for seed, shape in ((0, (50, 20)), (1, (20, 30))))
    c = torch.full((50, 30), float("nan"), device="cuda")
    gemm = kernel("gemm_f32")
    gemm(a.block_until_ready(), b.block_until_ready(), c)
    np.testing.assert_allclose(c.cpu().numpy(), np.asarray(a) @ np.asarray(b), rtol=1e-4, atol=1e-4)
    with pytest.raises(LaunchError, match="read-only"):
        gemm(a, b, jax.numpy.zeros((50, 30)))


def test_streams_of_torch(kernel: Callable[[str], Kernel]) -> None:
    torch = pytest.importorskip("torch")
    a, b = torch.randn(300, 64, device="cuda"), torch.randn(64, 200, device="cuda")
    c = torch.zeros(300, 200, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        kernel("gemm_f32")(a, b, c)
        result = c.clone()
    stream.synchronize()
    torch.testing.assert_close(result, a @ b, rtol=1e-4, atol=1e-3)


def test_refused_arguments_launch_nothing(kernel: Callable[[str], Kernel]) -> None:
    torch = pytest.importorskip("torch")
    gemm = kernel("gemm_bf16")

    def matrix(rows: int, columns: int) -> object:
        return torch.zeros(rows, columns, dtype=torch.bfloat16, device="cuda")

    c = torch.full((64, 64), 7.0, dtype=torch.bfloat16, device="cuda")
    with pytest.raises(LaunchError, match="both must be `K`"):
        gemm(matrix(64, 64), matrix(64, 72), c)
    with pytest.raises(LaunchError, match="not a multiple of 16"):
        gemm(matrix(64, 63), matrix(64, 63), c)
    with pytest.raises(LaunchError, match="shares memory"):
        gemm(c, matrix(64, 64), c)
    with pytest.raises(LaunchError, match="contiguous"):
        gemm(matrix(64, 64).T, matrix(64, 64), c)  # type: ignore[attr-defined]
    torch.cuda.synchronize()
    assert bool((c == 7).all())


@pytest.mark.parametrize("rows, columns", [(1, 1), (33, 65), (512, 1000)])
def test_transpose(kernel: Callable[[str], Kernel], rows: int, columns: int) -> None:
    torch = pytest.importorskip("torch")
    a = torch.randn(rows, columns, device="cuda")
    b = torch.full((columns, rows), float("nan"), device="cuda")
    kernel("transpose")(a, b)
    assert bool((b == a.T).all())


@pytest.mark.parametrize("rows, columns", [(1, 1), (7, 127), (64, 1000)])
def test_softmax(kernel: Callable[[str], Kernel], rows: int, columns: int) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(rows, columns, device="cuda") * 5
    y = torch.full_like(x, float("nan"))
    kernel("softmax")(x, y)
    torch.testing.assert_close(y.double(), torch.softmax(x.double(), 1), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("length", [1, 255, 256, 100_003])
def test_stencil(kernel: Callable[[str], Kernel], length: int) -> None:
    torch = pytest.importorskip("torch")
    x, w = torch.randn(length, device="cuda"), torch.randn(7, device="cuda")
    y = torch.full_like(x, float("nan"))
    kernel("stencil")(x, w, y)
    wanted = torch.nn.functional.conv1d(x.double()[None, None], w.double()[None, None], padding=3)[0, 0]
    torch.testing.assert_close(y.double(), wanted, rtol=1e-5, atol=1e-5)
