"""The GEMMs against f64 on random shapes, odd ones included: every element, and nothing outside C is written."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from exogpu.codegen.runtime import Kernel

pytestmark = pytest.mark.gpu

SHAPES = 60
BF16 = ("gemm_bf16", "gemm_bf16_cluster", "gemm_pingpong")


def shapes(seed: int, largest: int) -> list[tuple[int, int, int]]:
    """Tiny, tile-edge, odd and larger problems."""
    rng = random.Random(seed)
    edges = [1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513]
    found = [(1, 1, 1), (128, 256, 64), (129, 257, 65), (1, 300, 9), (300, 1, 513)]
    while len(found) < SHAPES:
        pick = [rng.choice(edges) if rng.random() < 0.4 else rng.randint(1, largest) for _ in range(3)]
        found.append((pick[0], pick[1], pick[2]))
    return found


def padded(torch: Any, rows: int, columns: int, dtype: Any, unit: int, fill: str) -> tuple[Any, Any]:
    """A matrix inside a larger allocation: rows padded to a multiple of `unit`, all poisoned with NaN."""
    pitch = -(-columns // unit) * unit + unit * random.randint(0, 2)
    whole = torch.full((rows + 2, pitch), float("nan"), dtype=dtype, device="cuda")
    inside = whole[1 : rows + 1, :columns]
    if fill == "normal":
        inside.copy_(torch.randn(rows, columns, device="cuda", dtype=torch.float32))
    return whole, inside


def check(torch: Any, product: Any, bound: Any, whole: Any, c: Any) -> None:
    """Every element is within its bound of the f64 product, and the surroundings are still NaN."""
    error = (c.double() - product).abs()
    assert torch.isfinite(c).all()
    assert bool((error <= bound).all()), f"largest error over bound: {(error / bound).max().item()}"
    around = torch.ones_like(whole, dtype=torch.bool)
    around[1 : c.shape[0] + 1, : c.shape[1]] = False
    assert bool(torch.isnan(whole[around]).all()), "something outside C was written"


@pytest.mark.parametrize("name", BF16)
@pytest.mark.parametrize("m, n, k", shapes(1, 900))
def test_gemm_bf16(kernel: Callable[[str], Kernel], name: str, m: int, n: int, k: int) -> None:
    torch = pytest.importorskip("torch")
    gemm = kernel(name)
    torch.manual_seed(m * 1_000_003 + n * 1009 + k)
    a, b = (padded(torch, rows, k, torch.bfloat16, 8, "normal")[1] for rows in (m, n))
    whole, c = padded(torch, m, n, torch.bfloat16, 8, "poison")
    gemm(a, b, c)
    torch.cuda.synchronize()
    product = a.double() @ b.double().T
    size = a.double().abs() @ b.double().abs().T
    check(torch, product, product.abs() * 2**-8 + size * 1e-5 + 1e-30, whole, c)


@pytest.mark.parametrize("m, n, k", shapes(2, 500))
def test_gemm_f32(kernel: Callable[[str], Kernel], m: int, n: int, k: int) -> None:
    torch = pytest.importorskip("torch")
    gemm = kernel("gemm_f32")
    torch.manual_seed(m * 1_000_003 + n * 1009 + k)
    a = padded(torch, m, k, torch.float32, 1, "normal")[1]
    b = padded(torch, k, n, torch.float32, 1, "normal")[1]
    whole, c = padded(torch, m, n, torch.float32, 1, "poison")
    gemm(a, b, c)
    torch.cuda.synchronize()
    size = a.double().abs() @ b.double().abs()
    check(torch, a.double() @ b.double(), size * (k + 2) * 2**-24 + 1e-30, whole, c)


@pytest.mark.parametrize("m, n, k", [(64, 4096, 16384), (128, 256, 100_000), (300, 301, 63), *shapes(3, 900)])
def test_gemm_splitk(kernel: Callable[[str], Kernel], m: int, n: int, k: int) -> None:
    """C += A B^T. Run: pytest tests/device/test_gemm.py -k splitk"""
    torch = pytest.importorskip("torch")
    gemm = kernel("gemm_splitk")
    torch.manual_seed(m * 1_000_003 + n * 1009 + k)
    a, b = (padded(torch, rows, k, torch.bfloat16, 8, "normal")[1] for rows in (m, n))
    whole, c = padded(torch, m, n, torch.float32, 4, "normal")
    old = c.double()
    gemm(a, b, c)
    torch.cuda.synchronize()
    size = a.double().abs() @ b.double().abs().T
    check(torch, old + a.double() @ b.double().T, old.abs() * 2**-22 + size * 1e-5 + 1e-30, whole, c)


@pytest.mark.parametrize("name", BF16)
@pytest.mark.parametrize("m, n, k", [(4096, 4096, 4096), (2000, 3000, 8192), (8192, 520, 1000), (136, 20000, 72)])
def test_gemm_bf16_large(kernel: Callable[[str], Kernel], name: str, m: int, n: int, k: int) -> None:
    torch = pytest.importorskip("torch")
    gemm = kernel(name)
    a, b = (padded(torch, rows, k, torch.bfloat16, 8, "normal")[1] for rows in (m, n))
    whole, c = padded(torch, m, n, torch.bfloat16, 8, "poison")
    for _ in range(3):
        c.fill_(float("nan"))
        gemm(a, b, c)
        product, size = a.double() @ b.double().T, a.double().abs() @ b.double().abs().T
        check(torch, product, product.abs() * 2**-8 + size * 1e-5, whole, c)


def test_empty_problem_launches_nothing(kernel: Callable[[str], Kernel]) -> None:
    torch = pytest.importorskip("torch")
    a, b, c = (torch.empty(shape, device="cuda") for shape in ((0, 8), (8, 16), (0, 16)))
    kernel("gemm_f32")(a, b, c)
    torch.cuda.synchronize()


def test_no_columns_in_a_gives_zeros(kernel: Callable[[str], Kernel]) -> None:
    torch = pytest.importorskip("torch")
    c = torch.full((130, 70), float("nan"), device="cuda")
    kernel("gemm_f32")(torch.empty(130, 0, device="cuda"), torch.empty(0, 70, device="cuda"), c)
    assert bool((c == 0).all())
