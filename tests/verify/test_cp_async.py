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
from exogpu.verify.result import Status
from tests.texts import verdict

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
    refuted = verdict(tmp_path, bad, name)
    broken = [o for o in refuted.obligations if o.status is Status.REFUTED]
    assert rule in {o.rule for o in broken}
    assert all(o.counterexample is not None and o.counterexample.replay for o in broken)
    proved = verdict(tmp_path, good, name)
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
    report = verdict(tmp_path, text, "copy_arrivals")
    assert {o.rule for o in report.obligations if o.status is Status.REFUTED} == {"race.raw"}


HOLD = "                    cp_async_hold(full)\n                    Arrive(full)"
HELD = changed("                    cp_async_arrive(full)", HOLD)


def test_a_held_phase_completes_behind_the_copies(tmp_path: Path) -> None:
    """The arrive of cp.async without noinc adds nothing to the count: the thread's own Arrive does."""
    assert verdict(tmp_path, HELD, "copy_arrivals").status is Status.PROVED
    late = "                    Arrive(full)\n                    cp_async_hold(full)"
    for text in (HELD.replace(HOLD, late), HELD.replace("cp_async_hold(full)", "pass")):
        report = verdict(tmp_path, text, "copy_arrivals")
        assert "race.raw" in {o.rule for o in report.obligations if o.status is Status.REFUTED}
    counted = verdict(tmp_path, HELD.replace("count=32", "count=64"), "copy_arrivals")
    assert "mbar.count" in {o.rule for o in counted.obligations if o.status is Status.REFUTED}


def test_only_an_arriving_thread_holds_a_phase(tmp_path: Path) -> None:
    text = HELD.replace("                    Arrive(full)", "                Fence()\n                Arrive(full)")
    report = verdict(tmp_path, text.replace("count=32", "count=1"), "copy_arrivals")
    assert report.status is not Status.PROVED


def test_the_explicit_engine_agrees_on_held_phases(tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(HELD)
    program = lower(load(tmp_path / "held.py")["copy_arrivals"])
    assert not list(faults(program, {"M": 3, "K": 12, TASKS: 1}))


def test_wgmma_reads_copies_behind_a_proxy_fence(tmp_path: Path) -> None:
    fence = "                fence_proxy_async()\n"
    assert verdict(tmp_path, WHOLE, "copied_gemm").status is Status.PROVED
    report = verdict(tmp_path, WHOLE.replace(fence, ""), "copied_gemm")
    assert {o.rule for o in report.obligations if o.status is Status.REFUTED} == {"proxy.generic_to_async"}


@pytest.mark.parametrize("name", ["copy_groups", "copy_arrivals"])
def test_the_explicit_engine_agrees(tmp_path: Path, name: str) -> None:
    (tmp_path / "small.py").write_text(TEXT)
    program = lower(load(tmp_path / "small.py")[name])
    for k in (0, 8):
        assert not list(faults(program, {"M": 3, "K": k, TASKS: 1}))


AHEAD = """from exogpu.lang import *

@proc
def ahead(M: size, K: size, X: f32[M, K] @ GMEM, Y: f32[M, K] @ GMEM):
    block(32)
    for m in tasks(0, M):
        s: f32[{slots}, 32] @ SMEM
        for p in unroll(0, {prefetched}):
            for t in threads(8):
                cp_async(s[p, 4 * t : 4 * t + 4], X[m, 32 * p + 4 * t : 32 * p + 4 * t + 4])
            cp_async_commit()
        for k in seq(0, K // 32):
            cp_async_wait({pending})
            Fence()
            for t in threads(32):
                Y[m, 32 * k + t] = s[k % {slots}, 31 - t]
            {fence}
            for t in threads(8):
                cp_async(
                    s[(k + {prefetched}) % {slots}, 4 * t : 4 * t + 4],
                    X[m, 32 * (k + {prefetched}) + 4 * t : 32 * (k + {prefetched}) + 4 * t + 4],
                )
            cp_async_commit()
        cp_async_wait_all()
"""


@pytest.mark.parametrize("fence", ["pass", "Fence()"])
@pytest.mark.parametrize(("slots", "prefetched", "pending"), [(2, 1, 0), (2, 2, 1), (2, 2, 2), (3, 2, 1), (3, 2, 2)])
def test_depths_of_ring_and_wait_agree_with_the_explicit_engine(
    tmp_path: Path, slots: int, prefetched: int, pending: int, fence: str
) -> None:
    text = AHEAD.format(slots=slots, prefetched=prefetched, pending=pending, fence=fence)
    (tmp_path / "ahead.py").write_text(text)
    proc = load(tmp_path / "ahead.py")["ahead"]
    status = verify(proc).status
    wrong = [f.rule for k in (32, 96) for f in faults(lower(proc), {"M": 1, "K": k, TASKS: 1})]
    assert status is (Status.REFUTED if wrong else Status.PROVED)
    assert (status is Status.PROVED) == (pending < prefetched and (slots > prefetched or fence == "Fence()"))


def test_a_copy_stays_in_the_shared_memory_of_its_cta(tmp_path: Path) -> None:
    text = """from exogpu.lang import *

@proc
def pair(M: size, X: f32[M, 128] @ GMEM, Y: f32[M, 128] @ GMEM):
    block(64, cluster=2)
    for m in tasks(0, M):
        s: f32[2, 64] @ SMEM
        for c in threads(2, unit=cta):
            for t in threads(64):
                cp_async(s[@@, t : t + 1], X[m, 64 * c + t : 64 * c + t + 1])
        cp_async_wait_all()
        Fence()
        for c in threads(2, unit=cta):
            for t in threads(64):
                Y[m, 64 * c + t] = s[1 - c, 63 - t]
        Fence()
"""
    assert verdict(tmp_path, text.replace("@@", "c"), "pair").status is Status.PROVED
    remote = verdict(tmp_path, text.replace("@@", "1 - c"), "pair")
    assert {o.rule for o in remote.obligations if o.status is Status.REFUTED} == {"cluster.remote_op"}


def test_partial_sources_are_filled_with_zeros() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((130, 12)).astype(np.float32)
    found = interpret(load(CASES)["copy_groups"], {"M": 130, "K": 12, "X": x, "Y": np.zeros(130, np.float32)})
    padded = np.zeros((256, 12), np.float32)
    padded[:130] = x
    wanted = padded.reshape(2, 128, 12)[:, ::-1].sum(axis=2).reshape(-1)[:130]
    np.testing.assert_allclose(found["Y"], wanted, rtol=1e-5, atol=1e-5)
