"""`exogpu list`."""

from __future__ import annotations

import pytest

from exogpu.cli.app import main


def test_every_shipped_kernel_with_its_signature(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "gemm_f32(M: size, N: size, K: size, A: f32[M, K] @ GMEM, B: f32[K, N] @ GMEM, C: f32[M, N] @ GMEM)" in out
    assert (
        "gemm_bf16(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: bf16[M, N] @ GMEM)" in out
    )
    assert (
        "gemm_splitk(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: f32[M, N] @ GMEM)" in out
    )
