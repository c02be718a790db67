"""Reductions to global memory: what commutes, what races, and when a verdict is up to reassociation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exogpu.ir.interp import interpret, random_inputs
from exogpu.lang import load
from exogpu.verify.result import Status
from tests.texts import verdict

ATOMIC = """from exogpu.lang import *

@proc
def k(M: size, N: size, X: {type}[M, N] @ GMEM, S: {type}[N] @ GMEM, Y: {type}[M, N] @ GMEM):
    require(N == 64)
    block(64)
    for m in tasks(0, M):
        for t in threads(64):
            r: {type}[1] @ RMEM
            r[0] = X[m, t]
            {sum}
            {use}
"""


def atomic(sum: str, use: str = "", type: str = "f32") -> str:
    return ATOMIC.format(type=type, sum=sum, use=use)


TILE = """from exogpu.lang import *

@proc
def k(M: size, N: size, X: f32[M, N] @ GMEM, S: f32[8, N] @ GMEM, Y: f32[M, N] @ GMEM):
    require(N >= 32 and M <= 65536)
    {require}
    block(32)
    for m in tasks(0, M):
        s: f32[8, 32] @ SMEM
        for l in threads(32):
            for r in seq(0, 8):
                s[r, l] = X[m, l]
        {fence}
        Fence()
        for o in threads(1):
            {sum}
            bulk_commit()
            {wait}
        {use}
"""

ROW_SUM = "tma_reduce_add(S[0:8, {at} : {at} + 32], s[:, :])"


def tile(**changed: str) -> str:
    parts = {
        "require": "require(N % 4 == 0)",
        "fence": "fence_proxy_async()",
        "sum": ROW_SUM.format(at="4 * m"),
        "wait": "bulk_wait_read(0)",
        "use": "",
    }
    return TILE.format(**{**parts, **changed})


def tile_use(text: str) -> str:
    return f"Fence()\n        for l in threads(32):\n            r: f32[1] @ RMEM\n            {text}"


TWINS = [
    ("race.waw", atomic("S[t] += r[0]"), atomic("atomic_add(S[t : t + 1], r[0:1])")),
    (
        "race.raw",
        atomic("atomic_add(S[t : t + 1], r[0:1])", "Y[m, t] = S[t]"),
        atomic("atomic_add(Y[m, t : t + 1], r[0:1])", "r[0] = Y[m, t]"),
    ),
    ("race.waw", tile(sum="tma_store(S[0:8, 0:32], s[:, :])"), tile(sum="tma_reduce_add(S[0:8, 0:32], s[:, :])")),
    ("proxy.generic_to_async", tile(fence="Fence()"), tile()),
    ("race.async_inflight", tile(wait="bulk_wait_read(1)"), tile()),
    ("contract.partial_store", tile(require="require(N % 2 == 0)"), tile()),
    (
        "race.waw",  # one location, two proxies: rules A2 and D7
        tile(use=tile_use("r[0] = 1.0\n            atomic_add(S[0, l : l + 1], r[0:1])")),
        tile(use=tile_use("r[0] = 1.0\n            atomic_add(Y[m, l : l + 1], r[0:1])")),
    ),
    (
        "race.raw",  # the source has been read, but the sums are not there yet: rule D6
        tile(
            sum="tma_reduce_add(Y[m : m + 8, 0:32], s[:, :])",
            require="require(M == 1 and N % 4 == 0)",
            use=tile_use("r[0] = Y[m, l]"),
        ),
        tile(
            sum="tma_reduce_add(Y[m : m + 8, 0:32], s[:, :])",
            require="require(M == 1 and N % 4 == 0)",
            wait="bulk_wait(0)",
            use=tile_use("r[0] = Y[m, l]"),
        ),
    ),
]


@pytest.mark.parametrize(("rule", "bad", "good"), TWINS, ids=[f"{n}-{t[0]}" for n, t in enumerate(TWINS)])
def test_bad_twin_is_refuted_and_good_twin_proved(tmp_path: Path, rule: str, bad: str, good: str) -> None:
    refuted = verdict(tmp_path, bad)
    broken = [o for o in refuted.obligations if o.status is not Status.PROVED]
    assert refuted.status is Status.REFUTED
    assert rule in {o.rule for o in broken if o.status is Status.REFUTED}, [(o.rule, o.title) for o in broken]
    proved = verdict(tmp_path, good)
    left = [(o.name, o.status, o.reason) for o in proved.obligations if o.status is not Status.PROVED]
    assert proved.status is Status.PROVED, left


ADD = "atomic_add(S[t : t + 1], r[0:1])"


@pytest.mark.parametrize(
    ("text", "tensors"),
    [
        (atomic(ADD), ("S",)),
        (atomic(ADD, type="i32"), ()),  # integers: the same sum in any order
        (atomic("atomic_add(Y[m, t : t + 1], r[0:1])"), ()),  # every element is added to once
        (atomic("atomic_add(Y[m, t : t + 1], r[0:1])\n            " * 2), ()),  # twice, by one thread
        (tile(), ("S",)),
        (tile(sum=ROW_SUM.format(at="32 * m")), ()),  # tasks with their own columns
        (tile(sum=ROW_SUM.format(at="32 * m") + "\n            " + ROW_SUM.format(at="32 * m")), ("S",)),
        (tile(require="require(M == 1 and N % 4 == 0)"), ()),
    ],
)
def test_verdict_is_up_to_reassociation_exactly_where_sums_meet(
    tmp_path: Path, text: str, tensors: tuple[str, ...]
) -> None:
    report = verdict(tmp_path, text)
    assert report.status is Status.PROVED
    assert report.reassociated == tensors


def test_the_sequential_meaning_is_a_sum(tmp_path: Path) -> None:
    (path := tmp_path / "sum.py").write_text(tile(require="require(N % 4 == 0)"))
    x = np.arange(3 * 40, dtype=np.float32).reshape(3, 40)
    s = np.ones((8, 40), np.float32)
    got = interpret(load(path)["k"], {"M": 3, "N": 40, "X": x, "S": s, "Y": np.zeros_like(x)})
    wanted = s.copy()
    for m in range(3):
        width = min(32, 40 - 4 * m)
        wanted[:, 4 * m : 4 * m + width] += x[m, :width]
    np.testing.assert_array_equal(got["S"], wanted)


ROUNDED = """from exogpu.lang import *

@scalar
def small(x: f32) -> f32:
    return 0.5009765625

@proc
def k(M: size, C: bf16[64, 8] @ GMEM):
    block(128)
    for m in tasks(0, 1):
        acc: f32[1, 64, 8] @ WGMMA_D
        acc_add(C[0:64, 0:8], acc[0, :, :], small)
"""


def test_a_narrow_sum_rounds_its_operand_first(tmp_path: Path) -> None:
    """128 + 0.501: 129 if the sum were rounded once, 128 since 0.5 is added, and ties go to even."""
    (path := tmp_path / "rounded.py").write_text(ROUNDED)
    proc = load(path)["k"]
    c = np.full((64, 8), 128.0, np.asarray(random_inputs(proc, {"M": 1}, 0)["C"]).dtype)
    assert (np.asarray(interpret(proc, {"M": 1, "C": c})["C"], np.float32) == 128).all()
