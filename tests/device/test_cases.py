"""The kernels of tests/codegen/cases on the device, against the sequential interpreter and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from exogpu.codegen.runtime import Kernel
from exogpu.ir.interp import interpret
from exogpu.ir.proc import Proc
from exogpu.lang import load

pytestmark = pytest.mark.gpu

SPECIAL = [0.0, -0.0, 1e-45, 1e-8, 6e-5, 0.5, 1.5, 2.5, 127.5, 255.5, 300.0, -300.0, 448.0, 464.0, 57344.0, 65504.0]
SPECIAL += [65520.0, 1e9, -1e9, 3e38, float("inf"), float("-inf"), float("nan"), 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11]


def proc_of(kernel: Kernel, folder: Path) -> Proc:
    """The procedure whose text is in the bundle."""
    path = folder / "kernel.py"
    path.write_text(kernel.bundle.proc, encoding="utf-8")
    return load(path)[kernel.manifest.kernel]


def test_conversions_are_those_of_the_interpreter(kernel: Callable[[str], Kernel], tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    convert = kernel("convert")
    rng = np.random.default_rng(3)
    scales = 10.0 ** rng.integers(-12, 12, 5000)
    x = np.concatenate([np.array(SPECIAL), rng.standard_normal(5000) * scales]).astype(np.float32)
    types = {
        "H": np.float16,
        "B": ml_dtypes.bfloat16,
        "T": np.float32,
        "E4": ml_dtypes.float8_e4m3fn,
        "E5": ml_dtypes.float8_e5m2,
        "D": np.float64,
        "I4": np.int32,
        "S": np.int8,
        "U": np.uint8,
    }
    arrays = {"X": x, **{name: np.zeros(x.size, dtype) for name, dtype in types.items()}}
    wanted = interpret(proc_of(convert, tmp_path), {"N": x.size, "float": 1.5, **arrays})
    convert(float=1.5, **arrays)
    for name in ("B", "T", "E4", "E5", "I4", "S", "U"):
        np.testing.assert_array_equal(arrays[name].astype(np.float64), np.asarray(wanted[name]).astype(np.float64))
    for name, tolerance in (("D", 1e-12), ("H", 2e-3), ("X", 1e-5)):
        found, exact = (np.asarray(v[name]).astype(np.float64) for v in (arrays, wanted))
        np.testing.assert_allclose(found, exact, rtol=tolerance, atol=1e-6)


@pytest.mark.parametrize("length", [1, 95, 96, 1000])
def test_barriers_of_small_groups(kernel: Callable[[str], Kernel], length: int) -> None:
    x = np.arange(1, length + 1, dtype=np.float32)
    y = np.full(length, np.nan, np.float32)
    kernel("groups")(x, y)
    padded = np.zeros(-(-length // 8) * 8, np.float32)
    padded[:length] = x
    np.testing.assert_array_equal(y, padded.reshape(-1, 8)[:, ::-1].reshape(-1)[:length])


@pytest.mark.parametrize("m, n, k", [(1, 1, 8), (64, 200, 64), (65, 201, 72), (1000, 1000, 520), (4000, 1720, 264)])
def test_f16_gemm_with_gelu(kernel: Callable[[str], Kernel], m: int, n: int, k: int) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(k)
    a, b = (torch.randn(rows, k, device="cuda").half() for rows in (m, n))
    c = torch.full((m, n), float("nan"), device="cuda")
    kernel("gemm_gelu")(a, b, c)
    product = a.double() @ b.double().T
    column = torch.arange(n, device="cuda") % 200 < 160
    wanted = torch.where(column, torch.nn.functional.gelu(product, approximate="tanh"), product)
    torch.testing.assert_close(c.double(), wanted, rtol=1e-3, atol=k * 1e-5)


@pytest.mark.parametrize("rows", [1, 133, 5000])
def test_ordinary_loads_see_a_bulk_store(kernel: Callable[[str], Kernel], rows: int) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(rows)
    x, old = (torch.randn(rows, 64, device="cuda") for _ in range(2))
    y, z, w = old.clone(), torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
    kernel("reread")(x, y, z, w)
    for got, wanted in ((w, old), (y, x), (z, x)):
        assert bool((got == wanted).all())


@pytest.mark.parametrize(("rows", "columns"), [(1, 64), (1000, 128)])
def test_atomic_sums_of_every_width(kernel: Callable[[str], Kernel], rows: int, columns: int) -> None:
    """Small integers, so that every order gives the same sums. Run: pytest tests/device/test_cases.py -k sums"""
    torch = pytest.importorskip("torch")
    torch.manual_seed(rows)
    x = torch.randint(-3, 4, (rows, columns), device="cuda").float()
    sums = [torch.ones(columns, device="cuda") for _ in range(3)]
    kernel("column_sums")(x, *sums)
    for s in sums:
        assert bool((s == 1 + x.sum(0)).all())


def test_atomic_sums_of_other_types(kernel: Callable[[str], Kernel]) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randint(-1, 2, (50, 32), device="cuda").float()
    b, h = (torch.zeros(4, 32, device="cuda", dtype=t) for t in (torch.bfloat16, torch.float16))
    d = torch.zeros(32, device="cuda", dtype=torch.float64)
    w = torch.zeros(32, device="cuda", dtype=torch.int32)
    kernel("narrow_sums")(x, b, h, d, w)
    wanted = x.sum(0)
    for got in (*b, *h, d, w):
        assert bool((got.float() == wanted).all())


@pytest.mark.parametrize(("rows", "columns"), [(7, 32), (8, 33), (803, 64)])
def test_bulk_sums(kernel: Callable[[str], Kernel], rows: int, columns: int) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randint(-1, 2, (rows, columns), device="cuda").float()
    y = torch.ones(8, 32, device="cuda")
    z = torch.ones(8, 64, device="cuda", dtype=torch.bfloat16)
    kernel("tile_sums")(x, y, z)
    wanted = x[: rows // 8 * 8, :32].reshape(-1, 8, 32).sum(0)
    assert bool((y == 1 + wanted).all())
    assert bool((z.float() == 1 + torch.cat([wanted, 2 * wanted], 1)).all())


@pytest.mark.parametrize("name", ["chained", "overlapped"])
@pytest.mark.parametrize(("m", "n"), [(1, 8), (64, 64), (200, 1000), (4000, 72)])
def test_chained_products(kernel: Callable[[str], Kernel], name: str, m: int, n: int) -> None:
    """The rounded first product is the second one's operand. Run: pytest tests/device/test_cases.py -k products"""
    torch = pytest.importorskip("torch")
    torch.manual_seed(m + n)
    q, k = (torch.randn(rows, 64, device="cuda").bfloat16() for rows in (m, n))
    v = torch.randn(64, n, device="cuda").bfloat16()
    y = torch.full((m, 64), float("nan"), device="cuda")
    kernel(name)(q, k, v, y)
    wanted = torch.nn.functional.silu(q.double() @ k.double().T).bfloat16().double() @ v.double().T
    scale = wanted.abs().max()
    torch.testing.assert_close(y.double() / scale, wanted / scale, rtol=0, atol=4e-3)


@pytest.mark.parametrize("name", ["rows_along_n", "rows_along_m"])
@pytest.mark.parametrize("m, n, k", [(8, 8, 8), (64, 256, 64), (72, 264, 72), (1000, 1000, 520)])
def test_rows_across_k(kernel: Callable[[str], Kernel], name: str, m: int, n: int, k: int) -> None:
    """A B, and A^T B^T. Run: pytest tests/device/test_cases.py -k rows_across"""
    torch = pytest.importorskip("torch")
    torch.manual_seed(m + n + k)
    turned = name == "rows_along_m"
    a = torch.randn((k, m) if turned else (m, k), device="cuda").bfloat16()
    b = torch.randn((n, k) if turned else (k, n), device="cuda").bfloat16()
    c = torch.full((m, n), float("nan"), device="cuda")
    kernel(name)(a, b, c)
    wanted = a.double().T @ b.double().T if turned else a.double() @ b.double()
    torch.testing.assert_close(c.double(), wanted, rtol=1e-4, atol=k * 1e-5)


@pytest.mark.parametrize("times", [1, 7])
def test_accumulator_sums(kernel: Callable[[str], Kernel], times: int) -> None:
    """Products of small integers, exact in every type. Run: pytest tests/device/test_cases.py -k accumulator"""
    torch = pytest.importorskip("torch")
    a, b = (torch.randint(-1, 2, (rows, 16), device="cuda").bfloat16() for rows in (64, 8))
    sums = [torch.ones(64, 8, device="cuda", dtype=t) for t in (torch.float32, torch.bfloat16, torch.float16)]
    kernel("product_sums")(a, b, *sums, T=times)
    wanted = 1 + times * (a.float() @ b.float().T)
    for got in sums:
        assert bool((got.float() == wanted).all())


@pytest.mark.parametrize("name, block, m, k", [
    ("copy_groups", 128, 1, 4), ("copy_groups", 128, 300, 12), ("copy_groups", 128, 1000, 520),
    ("copy_arrivals", 32, 1, 2), ("copy_arrivals", 32, 300, 26), ("copy_arrivals", 32, 20000, 520),
])  # fmt: skip
def test_copies_land_before_they_are_read(
    kernel: Callable[[str], Kernel], name: str, block: int, m: int, k: int
) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(k)
    dtype = torch.float32 if name == "copy_groups" else torch.bfloat16
    x, y = torch.randn(m, k, device="cuda").to(dtype), torch.full((m,), float("nan"), device="cuda")
    kernel(name)(X=x, Y=y)
    padded = torch.zeros(-(-m // block) * block, device="cuda", dtype=torch.float64)
    padded[:m] = x.double().sum(1)
    wanted = padded.reshape(-1, block).flip(1).reshape(-1)[:m]
    torch.testing.assert_close(y.double(), wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("m, k", [(1, 8), (64, 64), (200, 72), (20000, 520)])
def test_copied_operands_of_wgmma(kernel: Callable[[str], Kernel], m: int, k: int) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(k)
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, 64))
    c = torch.full((m, 64), float("nan"), device="cuda")
    kernel("copied_gemm")(A=a, B=b, C=c)
    torch.testing.assert_close(c.double(), a.double() @ b.double().T, rtol=1e-3, atol=k * 1e-5)


@pytest.mark.parametrize("rows, columns", [(1, 4), (300, 100), (5000, 260)])
def test_storage_is_reused_by_a_staging_tile(kernel: Callable[[str], Kernel], rows: int, columns: int) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(rows)
    x, y = torch.randn(rows, columns, device="cuda"), torch.full((rows, 32), float("nan"), device="cuda")
    kernel("staged")(X=x, Y=y)
    padded = torch.nn.functional.pad(x.double(), (0, -columns % 32)).reshape(rows, -1, 32)
    torch.testing.assert_close(y.double(), padded.sum(1).flip(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("m, k", [(1, 8), (64, 64), (200, 72), (20000, 520)])
def test_the_epilogue_is_staged_in_the_ring(kernel: Callable[[str], Kernel], m: int, k: int) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(k)
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, 64))
    c = torch.full((m, 64), float("nan"), device="cuda", dtype=torch.bfloat16)
    kernel("staged_gemm")(A=a, B=b, C=c)
    torch.testing.assert_close(c.double(), a.double() @ b.double().T, rtol=1e-2, atol=k * 1e-3)


@pytest.mark.parametrize("rows", [1, 5000])
def test_tiles_of_two_types_in_turn(kernel: Callable[[str], Kernel], rows: int) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(rows, 64, device="cuda")
    y = torch.full((rows, 64), float("nan"), device="cuda", dtype=torch.bfloat16)
    kernel("in_turn")(X=x, Y=y)
    assert bool((y == x.bfloat16().flip(1).reshape(rows, 32, 2).flip(2).reshape(rows, 64)).all())


@pytest.mark.parametrize("rows, columns", [(1, 64), (300, 640), (5000, 192)])
def test_roles_hand_a_tile_over_by_named_barriers(kernel: Callable[[str], Kernel], rows: int, columns: int) -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.randn(rows, columns, device="cuda"), torch.full((rows, columns), float("nan"), device="cuda")
    kernel("hand_over")(X=x, Y=y)
    assert bool((y == x.reshape(rows, -1, 64).flip(2).reshape(rows, columns)).all())


@pytest.mark.parametrize("rows, columns", [(1, 1), (500, 300)])
def test_roles_take_turns_by_named_barriers(kernel: Callable[[str], Kernel], rows: int, columns: int) -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.randn(rows, columns, device="cuda"), torch.full((rows, 128), float("nan"), device="cuda")
    kernel("turns")(X=x, Y=y)
    total = torch.zeros(rows, device="cuda")
    for column in x.unbind(1):
        total = 0.5 * (total + column)
    torch.testing.assert_close(y, total[:, None].expand(-1, 128), rtol=1e-5, atol=1e-6)
