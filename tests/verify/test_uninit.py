"""Results that depend on memory which nothing has written: the sizes that are tried, and what is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.prove import verify
from exogpu.verify.result import Obligation, Status

SUMS = """from exogpu.lang import *

@proc
def k(M: size, K: size, X: f32[M, K] @ GMEM, Y: f32[M] @ GMEM):
    {require}
    block(32)
    for i in tasks(0, M):
        for t in threads(1):
            acc: f32[1] @ RMEM
            one: f32[1] @ RMEM
            one[0] = 1.0
            for k in seq({lo}, K):
                if k == {lo}:
                    acc[0] = X[i, k] * one[0]
                else:
                    acc[0] += X[i, k] * one[0]
            Y[i] = acc[0] * one[0]
"""


def kernel(require: str = "require(M >= 0)", lo: int = 0) -> str:
    return SUMS.format(require=require, lo=lo)


def refuted(tmp_path: Path, text: str) -> list[Obligation]:
    path = tmp_path / "kernel.py"
    path.write_text(text)
    report = verify(load(path)["k"])
    assert report.status in (Status.PROVED, Status.REFUTED)
    return [o for o in report.obligations if o.status is Status.REFUTED]


@pytest.mark.parametrize(
    ("bad", "good", "trips"),
    [
        (kernel(), kernel("require(K >= 1)"), 0),
        (kernel("require(K % 4 == 0)"), kernel("require(K % 4 == 0 and K >= 1)"), 0),
        (kernel("require(K <= 0)"), kernel("require(K <= 1 and K >= 1)"), 0),
        (kernel("require(K >= 2)", lo=2), kernel("require(K >= 3)", lo=2), 2),
    ],
)
def test_a_loop_without_trips_is_tried(tmp_path: Path, bad: str, good: str, trips: int) -> None:
    assert refuted(tmp_path, good) == []
    (found,) = refuted(tmp_path, bad)
    assert found.rule == "uninit" and found.counterexample is not None
    assert dict(found.counterexample.sizes) == {"M": 1, "K": trips}


def test_the_buffer_and_its_first_read_are_named(tmp_path: Path) -> None:
    text = kernel()
    (found,) = refuted(tmp_path, text)
    assert found.message == "the contents of `Y` depend on elements of `acc` that nothing has written"
    lines = text.splitlines()
    line = lines[found.span.line - 1]
    assert line[found.span.col :].startswith("acc[0] * one[0]") and line.lstrip().startswith("Y[i]")
    assert [label.span.line for label in found.labels] == [1 + lines.index("            acc: f32[1] @ RMEM")]


def test_a_sum_into_fresh_memory_is_its_own_first_read(tmp_path: Path) -> None:
    text = kernel("require(K >= 1)").replace("acc[0] = X", "acc[0] += X")
    (found,) = refuted(tmp_path, text)
    assert "`acc`" in found.message
    assert text.splitlines()[found.span.line - 1].strip() == "acc[0] += X[i, k] * one[0]"


def test_unwritten_memory_that_no_result_depends_on_is_not_named(tmp_path: Path) -> None:
    """`spare` is read unwritten before `acc` is, but its value is overwritten."""
    indent = "\n            "
    first = f"{indent}spare: f32[1] @ RMEM{indent}one[0] = spare[0]"
    text = kernel().replace(f"{indent}one[0] = 1.0", f"{first}{indent}one[0] = 1.0")
    (found,) = refuted(tmp_path, text)
    assert "`acc`" in found.message


ACCUMULATORS = """from exogpu.lang import *

@proc
def k(K: size, A: bf16[64, K] @ GMEM, C: f32[64, 64] @ GMEM):
    {require}
    block(128)
    full = mbarrier(count=1)
    for task in tasks(0, 1):
        acc: f32[1, 64, 64] @ WGMMA_D
        for k in seq(0, ceildiv(K, 64)):
            a: bf16[64, 64] @ SMEM(swizzle=128)
            for t in threads(1):
                tma_load(a[:, :], A[0:64, 64 * k : 64 * k + 64], full)
                Arrive(full, tx=8192)
            Await(full)
            wgmma_fence()
            for j in unroll(0, 4):
                s = 16 * j
            wgmma_commit()
            wgmma_wait(0)
            Fence()
        acc_store(C[0:64, 0:64], acc[0, :, :])
""".replace(
    "s = 16 * j",
    "wgmma(acc[0, :, :], a[:, 16 * j : 16 * j + 16], a[:, 16 * j : 16 * j + 16], accumulate=k > 0 or j > 0)",
)


def test_inside_an_instruction_the_instruction_is_named(tmp_path: Path) -> None:
    assert refuted(tmp_path, ACCUMULATORS.format(require="require(K >= 1)")) == []
    text = ACCUMULATORS.format(require="require(K >= 0)")
    (found,) = refuted(tmp_path, text)
    assert found.message == "the contents of `C` depend on elements of `acc` that nothing has written"
    assert text.splitlines()[found.span.line - 1].lstrip().startswith("acc_store")
