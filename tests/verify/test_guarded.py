"""Guards that mix threads and sizes are ordinary in data statements, also when the kernel is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.prove import verify
from exogpu.verify.result import Status

TEXT = """from exogpu.lang import *

@proc
def k(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    require(N <= 64)
    block(64)
    for m in tasks(0, M):
        s: f32[64] @ SMEM
        for t in threads(64):
            if t < N:
                s[t] = X[m, t]
        {fence}
        for t in threads(64):
            if t + 1 < N:
                Y[m, t] = s[t + 1]
"""


@pytest.mark.parametrize(("fence", "status"), [("Fence()", Status.PROVED), ("", Status.REFUTED)])
def test_thread_and_size_guards(tmp_path: Path, fence: str, status: Status) -> None:
    path = tmp_path / "guarded.py"
    path.write_text(TEXT.format(fence=fence))
    report = verify(load(path)["k"])
    assert report.status is status
    assert {o.rule for o in report.obligations if o.status is Status.REFUTED} <= {"race.raw"}
