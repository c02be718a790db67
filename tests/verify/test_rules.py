"""Per rule the smallest bad kernel and its good twin, which differ in one annotation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from exogpu.verify.result import Status
from tests.texts import mma, ring, store, verdict


@dataclass(frozen=True)
class Pair:
    """A kernel with a hole `@@`: filled with `bad` it breaks `rule`, with `good` it is proved."""

    rule: str
    bad: str
    good: str
    text: str


SIMT = """from exogpu.lang import *

@proc
def k(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    require(N == 64)
    block(64)
    for m in tasks(0, M):
"""


PAIRS = [
    Pair(
        "race.raw",
        "",
        "Fence()",
        SIMT
        + """        s: f32[64] @ SMEM
        for t in threads(64):
            s[t] = X[m, t]
        @@
        for t in threads(64):
            Y[m, t] = s[63 - t]
""",
    ),
    Pair(
        "race.war",
        "",
        "Fence()",
        SIMT
        + """        s: f32[64] @ SMEM
        for t in threads(64):
            s[t] = X[m, t]
        Fence()
        for t in threads(64):
            Y[m, t] = s[63 - t]
        @@
        for t in threads(64):
            s[t] = 0.0
""",
    ),
    Pair(
        "race.waw",
        "63 - t",
        "t",
        SIMT
        + """        s: f32[64] @ SMEM
        for t in threads(64):
            s[t] = X[m, t]
        for t in threads(64):
            s[@@] = 0.0
""",
    ),
    Pair(
        "race.waw",
        "0",
        "m",
        SIMT
        + """        for t in threads(64):
            Y[@@, t] = 1.0
""",
    ),
    Pair(
        "bounds",
        "65",
        "64",
        SIMT + "        for t in threads(64):\n            if t + 1 < @@:\n                Y[m, t + 1] = 0.0\n",
    ),
    Pair(
        "ownership",
        "63 - t",
        "t",
        SIMT
        + """        r: f32[64, 1] @ RMEM(threads=1)
        for t in threads(64):
            r[t, 0] = X[m, t]
        for t in threads(64):
            Y[m, t] = r[@@, 0]
""",
    ),
    Pair(
        "contract.alignment",
        "2 * t",
        "4 * t",
        SIMT
        + """        for t in threads(16):
            r: f32[4] @ RMEM
            if @@ + 4 <= N:
                vec_copy(r[0:4], X[m, @@ : @@ + 4])
                vec_copy(Y[m, 4 * t : 4 * t + 4], r[0:4])
""",
    ),
    Pair(
        "index.overflow",
        "8 * m",
        "m",
        SIMT
        + """        for t in threads(64):
            if @@ < M:
                Y[m, t] = X[m, t]
""",
    ),
]

FORMATS = [
    ("mbar.tx_bytes", ring(tx="64"), ring()),
    ("mbar.tx_bytes", ring(tx="256"), ring()),
    ("race.war", ring(lag="3"), ring()),
    ("deadlock.cycle", ring(lag="0"), ring(lag="1")),
    ("race.raw", ring(wait="fence_proxy_async()"), ring()),
    ("proxy.generic_to_async", ring(proxy="Fence()"), ring()),
    ("mbar.lane_release", ring(fence="fence_proxy_async()"), ring()),
    ("mbar.count", ring().replace("empty = mbarrier(ring=2, count=1)", "empty = mbarrier(ring=2, count=2)"), ring()),
    ("wgmma.reg_fence", mma(fence="Fence()"), mma()),
    ("wgmma.reg_inflight", mma(commit="Fence()"), mma()),
    ("wgmma.reg_inflight", mma(wait="wgmma_wait(1)"), mma()),
    ("contract.partial_store", store(require="require(N % 2 == 0)"), store()),
    ("race.async_inflight", store(wait="bulk_wait_read(1)"), store()),
]

CASES = [(p.rule, p.text.replace("@@", p.bad), p.text.replace("@@", p.good)) for p in PAIRS] + FORMATS


@pytest.mark.parametrize(("rule", "bad", "good"), CASES, ids=[f"{n}-{c[0]}" for n, c in enumerate(CASES)])
def test_bad_twin_is_refuted_and_good_twin_proved(tmp_path: Path, rule: str, bad: str, good: str) -> None:
    refuted = verdict(tmp_path, bad)
    assert refuted.status is Status.REFUTED
    broken = [o for o in refuted.obligations if o.status is Status.REFUTED]
    assert rule in {o.rule for o in broken}
    for obligation in broken:
        assert obligation.message
        assert obligation.counterexample is not None
        assert obligation.counterexample.replay
    proved = verdict(tmp_path, good)
    assert proved.status is Status.PROVED, [
        (o.name, o.status, o.reason) for o in proved.obligations if o.status is not Status.PROVED
    ]


def test_contradictory_requires_are_vacuous(tmp_path: Path) -> None:
    text = SIMT.replace("    block(64)\n", "    require(N < 64)\n    block(64)\n")
    text += "        for t in threads(64):\n            Y[m, t] = 0.0\n"
    assert verdict(tmp_path, text).status is Status.VACUOUS


def test_preconditions_without_any_task_are_vacuous(tmp_path: Path) -> None:
    text = SIMT.replace("    block(64)\n", "    require(M < 1)\n    block(64)\n")
    text += "        for t in threads(64):\n            Y[m, t] = 0.0\n"
    assert verdict(tmp_path, text).status is Status.VACUOUS


def test_a_lane_releases_only_what_it_has_read_itself(tmp_path: Path) -> None:
    """The elected arrive of a warp does not publish the reads of the other lanes."""
    report = verdict(tmp_path, ring(fence="fence_proxy_async()"))
    war = next(o for o in report.obligations if o.status is Status.REFUTED)
    assert war.rule == "mbar.lane_release"
    assert war.counterexample is not None
    facts = dict(war.counterexample.facts)
    assert "lane 0" not in facts["first"]


def test_a_proxy_fence_of_shared_memory_does_not_cover_global_memory(tmp_path: Path) -> None:
    text = """from exogpu.lang import *

@proc
def k(T: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    block(32)
    full = mbarrier(ring=1, count=1)
    for t in tasks(0, T):
        s: f32[1, 32] @ SMEM
        for l in threads(32):
            X[t, l] = 1.0
        @@
        Fence()
        for o in threads(1):
            tma_load(s[:, :], X[t : t + 1, 0:32], full)
            Arrive(full, tx=128)
        Await(full)
        for l in threads(32):
            Y[t, l] = s[0, l]
"""
    found = {
        fence: verdict(tmp_path, text.replace("@@", fence))
        for fence in ("fence_proxy_async_all()", "fence_proxy_async()", "Fence()")
    }
    assert found["fence_proxy_async_all()"].status is Status.PROVED
    assert {o.rule for o in found["fence_proxy_async()"].obligations if o.status is Status.REFUTED} == {
        "fence.state_space"
    }
    assert {o.rule for o in found["Fence()"].obligations if o.status is Status.REFUTED} == {"proxy.generic_to_async"}


def test_a_copy_must_not_signal_into_an_open_phase(tmp_path: Path) -> None:
    """A barrier with fewer phases than the data ring: the second copy's bytes can reach the first phase."""
    text = ring().replace("full = mbarrier(ring=2, count=1)", "full = mbarrier(ring=1, count=1)")
    text = text.replace("Arrive(full, tx=128)", "Await(full, lag=1)\n                    Arrive(full, tx=128)")
    report = verdict(tmp_path, text)
    assert report.status is Status.REFUTED
    copy = next(o for o in report.obligations if o.rule == "mbar.unobserved_phase" and "tma_load" in o.title)
    assert copy.status is not Status.PROVED
