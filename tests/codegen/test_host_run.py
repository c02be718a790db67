"""The generated code runs on the CPU, with TMA, mbarriers, wgmma and stmatrix imitated, and computes what it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exogpu.codegen.emit import emit
from exogpu.ir.interp import interpret
from exogpu.ir.proc import Proc
from tests.codegen.host.build import COMPILER, HostKernel, build, empty, surroundings
from tests.codegen.proofs import ROOT, kernels, parse, proven
from tests.codegen.test_compile import TINY

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no g++ on this machine")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Proc], HostKernel]:
    return lambda proc: build(emit(proven(proc)), tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def shipped(host: Callable[[Proc], HostKernel]) -> Callable[..., HostKernel]:
    """`shipped(path, name)`: a kernel of the repository; without a name, the first of its file."""
    known: dict[str, HostKernel] = {}

    def load(path: str, name: str | None = None) -> HostKernel:
        key = f"{path}:{name}"
        if key not in known:
            found = kernels(ROOT / path)
            known[key] = host(found[name] if name else next(iter(found.values())))
        return known[key]

    return load


def normal(bundle: Any, name: str, shape: tuple[int, int], rng: np.random.Generator) -> Any:
    matrix = empty(bundle, name, shape, pad=int(rng.integers(0, 5)))
    matrix[...] = rng.standard_normal(shape)
    return matrix


@pytest.mark.parametrize(
    "m, n, k, grid",
    [(1, 1, 1, 1), (129, 257, 65, 1), (128, 248, 48, 1), (300, 520, 330, 2), (500, 100, 40, 3)],
)
def test_bf16_gemm(shipped: Callable[[str], HostKernel], m: int, n: int, k: int, grid: int) -> None:
    multiply(shipped("exogpu/kernels/gemm_bf16.py"), m, n, k, grid)


@pytest.mark.parametrize(
    "m, n, k, grid", [(1, 1, 1, 1), (129, 257, 65, 1), (300, 520, 330, 2), (500, 100, 40, 3), (700, 300, 500, 1)]
)
def test_ping_pong_gemm(shipped: Callable[[str], HostKernel], m: int, n: int, k: int, grid: int) -> None:
    multiply(shipped("exogpu/kernels/gemm_pingpong.py"), m, n, k, grid)


def multiply(gemm: HostKernel, m: int, n: int, k: int, grid: int) -> None:
    """Every element of A B^T, and nothing outside C is written."""
    rng = np.random.default_rng(m * n * k)
    a, b = normal(gemm.bundle, "A", (m, k), rng), normal(gemm.bundle, "B", (n, k), rng)
    c = empty(gemm.bundle, "C", (m, n), pad=3)
    gemm(grid=grid, A=a, B=b, C=c, M=m, N=n, K=k)
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(c.astype(np.float64), wanted, rtol=2**-8, atol=1e-5 * k)
    assert np.isnan(surroundings(c).astype(np.float32)).all(), "something outside C was written"


@pytest.mark.parametrize("m, n, k, grid", [(1, 1, 1, 1), (129, 260, 300, 2), (70, 258, 130, 3)])
def test_split_k_gemm(shipped: Callable[[str], HostKernel], m: int, n: int, k: int, grid: int) -> None:
    gemm, rng = shipped("exogpu/kernels/gemm_splitk.py"), np.random.default_rng(m * n * k)
    a, b = normal(gemm.bundle, "A", (m, k), rng), normal(gemm.bundle, "B", (n, k), rng)
    c = normal(gemm.bundle, "C", (m, n), rng)
    wanted = c + a.astype(np.float64) @ b.astype(np.float64).T
    gemm(grid=grid, A=a, B=b, C=c, M=m, N=n, K=k)
    np.testing.assert_allclose(c, wanted, rtol=1e-5, atol=1e-5 * k**0.5)
    assert np.isnan(surroundings(c)).all(), "something outside C was written"


def test_atomic_sums(shipped: Callable[..., HostKernel]) -> None:
    sums, rng = shipped("tests/codegen/cases/reductions.py", "column_sums"), np.random.default_rng(8)
    x = normal(sums.bundle, "X", (9, 128), rng)
    totals: dict[str, Any] = {name: np.ones(128, np.float32) for name in "SPQ"}
    sums(X=x, M=9, N=128, **totals)
    for total in totals.values():
        np.testing.assert_allclose(total, 1 + x.sum(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["chained", "overlapped"])
@pytest.mark.parametrize("m, n, grid", [(1, 8, 1), (130, 200, 2)])
def test_operands_in_registers(shipped: Callable[..., HostKernel], name: str, m: int, n: int, grid: int) -> None:
    products, rng = shipped("tests/codegen/cases/registers.py", name), np.random.default_rng(m + n)
    q, k, v = (
        normal(products.bundle, letter, shape, rng)
        for letter, shape in (("Q", (m, 64)), ("K", (n, 64)), ("V", (64, n)))
    )
    y = empty(products.bundle, "Y", (m, 64), pad=1)
    products(grid=grid, Q=q, K=k, V=v, Y=y, M=m, N=n)
    first = q.astype(np.float32) @ k.astype(np.float32).T
    bent = (first / (1 + np.exp(-first))).astype(v.dtype)
    wanted = bent.astype(np.float64) @ v.astype(np.float64).T
    np.testing.assert_allclose(y, wanted, rtol=1e-2, atol=2e-3 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["rows_along_n", "rows_along_m"])
@pytest.mark.parametrize("m, n, k", [(1, 8, 8), (70, 300, 130)])
def test_rows_across_k(shipped: Callable[..., HostKernel], name: str, m: int, n: int, k: int) -> None:
    gemm, rng = shipped("tests/codegen/cases/registers.py", name), np.random.default_rng(m)
    turned = name == "rows_along_m"
    a = normal(gemm.bundle, "A", (k, m) if turned else (m, k), rng)
    b = normal(gemm.bundle, "B", (n, k) if turned else (k, n), rng)
    c = empty(gemm.bundle, "C", (m, n), pad=1)
    gemm(A=a, B=b, C=c, M=m, N=n, K=k)
    left, right = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_allclose(c, left.T @ right.T if turned else left @ right, rtol=1e-5, atol=1e-5 * k)
    assert np.isnan(surroundings(c)).all(), "something outside C was written"


@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (130, 257, 19), (65, 3, 0), (200, 140, 33)])
def test_f32_gemm(shipped: Callable[[str], HostKernel], m: int, n: int, k: int) -> None:
    gemm, rng = shipped("exogpu/kernels/gemm_f32.py"), np.random.default_rng(m * n)
    a, b = normal(gemm.bundle, "A", (m, k), rng), normal(gemm.bundle, "B", (k, n), rng)
    c = empty(gemm.bundle, "C", (m, n), pad=2)
    gemm(A=a, B=b, C=c, M=m, N=n, K=k)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)
    assert np.isnan(surroundings(c)).all(), "something outside C was written"


@pytest.mark.parametrize("m, n, grid", [(1, 1, 1), (4, 32, 1), (21, 100, 1), (21, 100, 3), (50, 33, 5)])
def test_roles_rings_and_raster(host: Callable[[Proc], HostKernel], tmp_path: Path, m: int, n: int, grid: int) -> None:
    tiny, rng = host(parse(TINY, tmp_path)), np.random.default_rng(m * n)
    a = normal(tiny.bundle, "A", (m, n), rng)
    b = empty(tiny.bundle, "B", (m, n), pad=1)
    tiny(grid=grid, A=a, B=b, M=m, N=n)
    np.testing.assert_allclose(b.astype(np.float32), np.exp(a) * 0.5, rtol=2**-8)


def test_transpose(shipped: Callable[[str], HostKernel]) -> None:
    transpose, rng = shipped("examples/transpose.py"), np.random.default_rng(5)
    a = normal(transpose.bundle, "A", (70, 33), rng)
    b = empty(transpose.bundle, "B", (33, 70), pad=1)
    transpose(A=a, B=b, M=70, N=33)
    np.testing.assert_array_equal(b, a.T)


def test_softmax(shipped: Callable[[str], HostKernel]) -> None:
    softmax, rng = shipped("examples/softmax.py"), np.random.default_rng(6)
    x = normal(softmax.bundle, "X", (5, 300), rng)
    y = empty(softmax.bundle, "Y", (5, 300))
    softmax(X=x, Y=y, M=5, N=300)
    e = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)


NUMBERS = """
@proc
def numbers(M: size, Y: f32[M, 32] @ GMEM):
    block(32)
    for b in tasks(0, M):
        for t in threads(32):
            Y[b, t] = index(t) / index(b + 1) + index(b) * 3000000000.0 + (index(t) - 7) / 2
"""


def test_indices_as_numbers_are_floats_as_in_the_interpreter(
    host: Callable[[Proc], HostKernel], tmp_path: Path
) -> None:
    proc = parse(NUMBERS, tmp_path)
    numbers = host(proc)
    y = empty(numbers.bundle, "Y", (5, 32))
    numbers(Y=y, M=5)
    assert y[0, 3] == 3 - 2 and y[1, 3] == np.float32(1.5 + 3e9 - 2)
    np.testing.assert_array_equal(y, interpret(proc, {"M": 5, "Y": np.zeros((5, 32), np.float32)})["Y"])


AWAITS = """
@proc
def awaits(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(p=warps(1), c=warps(2), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=1, count=1)
    for task in tasks(0, M):
        s: f32[2, 32] @ SMEM
        with role(p):
            Await(empty, lag=1)
            for t in threads(32):
                s[0, t] = X[task, t]
            Fence()
            Arrive(full)
            for t2 in threads(32):
                s[1, t2] = X[task, 32 + t2]
            Fence()
            Arrive(full)
        with role(c):
            Await(full)
            for w in threads(1, unit=64):
                Await(full)
            for l in threads(64):
                Y[task, l] = s[l // 32, l % 32]
            Fence()
            Arrive(empty)
"""

PARTS = """
@proc
def parts(M: size, Y: f32[M, 160] @ GMEM):
    block(160)
    for task in tasks(0, M):
        for w in threads(2, unit=80):
            for v in threads(2, unit=32):
                for l in threads(32):
                    Y[task, 80 * w + 32 * v + l] = index(1000 * w + 100 * v + l)
"""


def test_awaits_in_different_thread_loops(host: Callable[[Proc], HostKernel], tmp_path: Path) -> None:
    awaits, rng = host(parse(AWAITS, tmp_path)), np.random.default_rng(3)
    x = normal(awaits.bundle, "X", (50, 64), rng)
    y = empty(awaits.bundle, "Y", (50, 64))
    awaits(grid=2, X=x, Y=y, M=50)
    np.testing.assert_array_equal(y, x)


def test_warps_inside_groups_that_are_not_whole_warps(host: Callable[[Proc], HostKernel], tmp_path: Path) -> None:
    proc = parse(PARTS, tmp_path)
    parts = host(proc)
    y = empty(parts.bundle, "Y", (2, 160))
    untouched = y.copy()
    parts(Y=y, M=2)
    np.testing.assert_array_equal(y, interpret(proc, {"M": 2, "Y": untouched})["Y"])
    assert y[1, 80 + 32 + 5] == 1105


TURNS = """
@proc
def turns(M: size, K: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(p=warps(1), c=warps(3), persistent=True)
    full = mbarrier(ring=3, count=1)
    empty = mbarrier(ring=2, count=1)
    turn = mbarrier(ring=1, count=1)
    for task in tasks(0, M):
        for k in seq(0, K):
            for half in unroll(0, 2):
                s: f32[32] @ SMEM(ring=2)
                with role(p):
                    Await(empty, lag=2)
                    for t in threads(32):
                        s[t] = X[task, 32 * half + t]
                    Fence()
                    Arrive(full)
                with role(c[(ordinal + k) % 3]):
                    Await(turn, lag=1)
                    Await(full)
                    own: f32[32] @ SMEM(ring=2)
                    for l in threads(32):
                        own[l] = s[31 - l]
                    Fence()
                    if k + 1 < K:
                        Arrive(empty)
                    else:
                        Arrive(empty)
                    for l2 in threads(32):
                        Y[task, 32 * half + l2] = own[31 - l2]
                    Fence()
                    Arrive(turn)
            with role(c):
                Fence()
"""


def test_units_that_take_turns_count_for_each_other(host: Callable[[Proc], HostKernel], tmp_path: Path) -> None:
    turns, rng = host(parse(TURNS, tmp_path)), np.random.default_rng(4)
    x = normal(turns.bundle, "X", (23, 64), rng)
    for k, grid in ((1, 1), (2, 2), (4, 1), (5, 3)):
        y = empty(turns.bundle, "Y", (23, 64))
        turns(grid=grid, X=x, Y=y, M=23, K=k)
        np.testing.assert_array_equal(y, x)
