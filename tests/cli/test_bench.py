"""`exogpu bench verify`: the table has the numbers of the report, and nothing waits longer than it may."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from exogpu.cli.app import main
from exogpu.cli.bench_command import scaling
from exogpu.verify.prepare import prepare

SUM = """from exogpu.lang import *

@proc
def total(M: size, N: size, K: size, A: f32[M, K] @ GMEM, B: f32[N, K] @ GMEM, C: f32[M, N] @ GMEM):
    block(32)
    for m in tasks(0, M):
        for n in tasks(0, ceildiv(N, 32)):
            for l in threads(32):
                if 32 * n + l < N:
                    C[m, 32 * n + l] = 0.0
                    for k in seq(0, K):
                        C[m, 32 * n + l] += A[m, k] * B[32 * n + l, k]
"""


def test_a_row_per_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "total.py").write_text(SUM, encoding="utf-8")
    started = time.monotonic()
    assert main(["bench", "verify", str(tmp_path / "total.py"), "--limit", "1", "--jobs", "1"]) == 0
    assert time.monotonic() - started < 60
    head, _, row = capsys.readouterr().out.splitlines()
    cells = dict(zip(head.strip("| ").split(" | "), row.strip("|").split("|"), strict=True))
    assert cells["kernel"].strip() == "total"
    assert int(cells["obligations"]) >= int(cells["queries"]) > 0
    seconds = {name: re.fullmatch(r"(\d+\.\d\d) s", cells[name].strip()) for name in ("cold", "CPU", "cached")}
    assert all(seconds.values())
    assert re.fullmatch(r"\d{2,3} MB", cells["memory"].strip())
    assert cells["explicit 512"].strip() == "> 1 s" and cells["explicit 1024"].strip() == "-"


def test_a_kernel_that_is_not_proved_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "total.py").write_text(SUM.replace("< N", "<= N"), encoding="utf-8")
    assert main(["bench", "verify", str(tmp_path / "total.py"), "--limit", "0"]) == 3
    assert "total (REFUTED)" in capsys.readouterr().out


def test_bad_input_is_reported_and_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "verify", "no_such_kernel"]) == 2
    assert "there is no file" in capsys.readouterr().out
    assert main(["bench", "verify"]) == 2


def test_the_shapes_of_the_scaling_rows_are_kernels() -> None:
    assert len([prepare(proc) for _, proc in scaling()]) == 12
