"""Non-bulk asynchronous copies: what completes them, for whom, and in which proxy they are (rules B1 and C1 to C6)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exogpu.ir.interp import interpret
from exogpu.lang import load
from exogpu.verify.explicit import faults
from exogpu.verify.lower import lower
from exogpu.verify.program import TASKS
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status

CASES = Path(__file__).parents[1] / "codegen" / "cases" / "copies.py"
WHOLE = CASES.read_text()
TEXT = WHOLE[: WHOLE.index("@proc\ndef copied_gemm")].replace("128", "64").replace("127", "63")
"""Few threads: lanes are not bundled, so witnesses cost their number."""

HANDOFF = """from exogpu.lang import *

@proc
def handoff(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(64)
    for m in tasks(0, M):
        s: f32[1, 64] @ SMEM
        for t in threads(16):
            cp_async(s[0, 4 * t : 4 * t + 4], X[m, 4 * t : 4 * t + 4])
        cp_async_commit()
        {first}
        {second}
        {use}
        cp_async_wait_all()
"""
LOADS = """for t in threads(64):
            Y[m, t] = s[0, 63 - t]"""
STORE = """for t in threads(1):
            tma_store(Y[m : m + 1, 0:64], s[:, :])
            bulk_commit()
            bulk_wait_read(0)"""


def handoff(first: str = "cp_async_wait(0)", second: str = "Fence()", use: str = LOADS) -> str:
    return HANDOFF.format(first=first, second=second, use=use)


def verdict(path: Path, text: str, name: str) -> Report:
    path.write_text(text)
    return verify(load(path)[name])


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


GROUPS = [
    ("race.raw", handoff("Fence()", "cp_async_wait(0)"), handoff(), "handoff"),
    ("race.raw", handoff("cp_async_wait(1)"), handoff(), "handoff"),
    ("race.raw", handoff("bulk_wait(0)".join(("for o in threads(1):\n            ", ""))), handoff(), "handoff"),
    (
        "race.war",
        handoff(use="for t in threads(64):\n            X[m, t] = 0.0", first="Fence()"),
        handoff(use="for t in threads(64):\n            X[m, t] = 0.0"),
        "handoff",
    ),
    (
        "race.async_inflight",
        handoff()
        .replace("Fence()", "pass")
        .replace("cp_async_wait(0)", "pass")
        .replace("cp_async_wait_all()", "cp_async_wait(0)")
        .replace("cp_async_commit()", "pass")
        .replace(LOADS, "pass"),
        handoff().replace("Fence()", "pass").replace("cp_async_wait(0)", "pass").replace(LOADS, "pass"),
        "handoff",
    ),
    (
        "proxy.generic_to_async",
        handoff(use=STORE),
        handoff(use=STORE, first="cp_async_wait(0)\n        fence_proxy_async()"),
        "handoff",
    ),
    (
        "proxy.generic_to_async",
        handoff(use=STORE, first="fence_proxy_async()\n        cp_async_wait(0)"),
        handoff(use=STORE, first="cp_async_wait(0)\n        fence_proxy_async()"),
        "handoff",
    ),
    (
        "race.raw",
        changed("cp_async_wait(1)\n            Fence()", "Fence()\n            cp_async_wait(1)"),
        TEXT,
        "copy_groups",
    ),
    ("race.raw", changed("cp_async_wait(1)", "cp_async_wait(2)"), TEXT, "copy_groups"),
    ("race.war", changed("cp_async_wait(1)\n            Fence()", "cp_async_wait(1)"), TEXT, "copy_groups"),
    ("race.raw", changed("cp_async_arrive(full)", "Arrive(full)"), TEXT, "copy_arrivals"),
    ("mbar.count", changed("count=32", "count=31"), TEXT, "copy_arrivals"),
]


@pytest.mark.parametrize(("rule", "bad", "good", "name"), GROUPS, ids=[f"{n}-{c[0]}" for n, c in enumerate(GROUPS)])
def test_bad_twin_is_refuted_and_good_twin_proved(tmp_path: Path, rule: str, bad: str, good: str, name: str) -> None:
    refuted = verdict(tmp_path / "bad.py", bad, name)
    broken = [o for o in refuted.obligations if o.status is Status.REFUTED]
    assert rule in {o.rule for o in broken}
    assert all(o.counterexample is not None and o.counterexample.replay for o in broken)
    proved = verdict(tmp_path / "good.py", good, name)
    assert proved.status is Status.PROVED, [
        (o.name, o.reason) for o in proved.obligations if o.status is not Status.PROVED
    ]


def test_an_arrive_behind_copies_publishes_only_the_copies(tmp_path: Path) -> None:
    """What the thread has stored itself is not released by the arrival that its copies make (PTX ISA, test_wait)."""
    text = changed(
        "                    cp_async_arrive(full)",
        "                    s[t, 0] = 1.0\n                    cp_async_arrive(full)",
    )
    text = text.replace("8 * k + 2 * v + 2])", "8 * k + 2 * v + 2])\n                    cp_async_wait_all()")
    report = verdict(tmp_path / "own.py", text, "copy_arrivals")
    assert {o.rule for o in report.obligations if o.status is Status.REFUTED} == {"race.raw"}


def test_wgmma_reads_copies_behind_a_proxy_fence(tmp_path: Path) -> None:
    text = CASES.read_text()
    fence = "                fence_proxy_async()\n                Fence()\n"
    early = fence.replace("                Fence()\n", "") + "                Await(full)\n"
    assert verdict(tmp_path / "good.py", text, "copied_gemm").status is Status.PROVED
    for name, bad in (
        ("none", text.replace(fence, "")),
        ("early", text.replace("                Await(full)\n" + fence, early)),
    ):
        report = verdict(tmp_path / f"{name}.py", bad, "copied_gemm")
        assert {o.rule for o in report.obligations if o.status is Status.REFUTED} == {"proxy.generic_to_async"}


@pytest.mark.parametrize("name", ["copy_groups", "copy_arrivals"])
def test_the_explicit_engine_agrees(tmp_path: Path, name: str) -> None:
    (tmp_path / "small.py").write_text(TEXT)
    program = lower(load(tmp_path / "small.py")[name])
    for k in (0, 12):
        assert not list(faults(program, {"M": 3, "K": k, TASKS: 1}))


def test_partial_sources_are_filled_with_zeros() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((130, 12)).astype(np.float32)
    found = interpret(load(CASES)["copy_groups"], {"M": 130, "K": 12, "X": x, "Y": np.zeros(130, np.float32)})
    padded = np.zeros((256, 12), np.float32)
    padded[:130] = x
    wanted = padded.reshape(2, 128, 12)[:, ::-1].sum(axis=2).reshape(-1)[:130]
    np.testing.assert_allclose(found["Y"], wanted, rtol=1e-5, atol=1e-5)
