"""Preconditions that leave only sizes too large to enumerate: proofs do not need to, and what has to be executed to be
shown is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.verify.prepare import prepare
from exogpu.verify.result import Status
from exogpu.verify.transactions import byte_obligations
from tests.texts import kernel, undecided, verdict

CLUSTER = Path(__file__).parents[2] / "exogpu" / "kernels" / "gemm_bf16_cluster.py"

RING = """
def k(K: size, X: f32[K, 32] @ GMEM, Y: f32[K, 32] @ GMEM):
    require(K >= {least})
    block(producer=warps(1), consumer=warps(1))
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for t in tasks(0, 1):
        for k in seq(0, K):
            s: f32[1, 32] @ SMEM(ring=2)
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=1)
                    tma_load(s[:, :], X[k : k + 1, 0:32], full)
                    Arrive(full, tx=128)
            with role(consumer):
                Await(full)
                for l in threads(32):
                    Y[k, l] = s[0, l]
                fence_proxy_async()
                Fence()
                if k > 0:
                    Arrive(empty)
"""


def test_bytes_of_other_ctas_are_compared_without_counting(tmp_path: Path) -> None:
    text = CLUSTER.read_text(encoding="utf-8")
    assert "require(K >= 1)" in text
    large = text.replace("require(K >= 1)", "require(K >= 40000000)")
    program = prepare(kernel(tmp_path, large, "gemm_bf16_cluster"))
    found = list(byte_obligations(program, program.barriers["full"]))
    assert found and all(o.status is Status.PROVED for o in found), found


def test_a_candidate_that_cannot_be_executed_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict(tmp_path, RING.format(least=5)).status is Status.REFUTED
    monkeypatch.setattr("exogpu.verify.nest.MOST_ITERATIONS", 2_000)
    report = verdict(tmp_path, RING.format(least=5_000))
    assert report.status is Status.UNKNOWN
    assert any("too large" in reason for _, _, reason, _ in undecided(report))
