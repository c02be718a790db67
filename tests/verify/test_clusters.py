"""Clusters: per rule a bad kernel and its good twin, which differ in one place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.axioms import Policy
from exogpu.verify.prepare import prepare
from exogpu.verify.program import LoopKind
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status
from tests.texts import verdict

DSMEM = """from exogpu.lang import *

@proc
def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(32, persistent=True, cluster=2)
    for m in tasks(0, M):
        parts: f32[2, 32] @ SMEM
        for c in threads(2, unit=cta):
            for t in threads(32):
                parts[c, t] = X[m, 32 * c + t]
            {cta_fence}
        {fence}
        for c in threads(2, unit=cta):
            for t in threads(32):
                Y[m, 32 * c + t] = parts[1 - c, 31 - t]
        {last}
"""

RING = """from exogpu.lang import *

@proc
def k(M: size, K: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(1), consumer=warps(1), persistent=True, cluster={cluster})
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count={count})
    for m in tasks(0, ceildiv(M, {cluster})):
        for k in seq(0, K):
            s: f32[{cluster}, {cluster}, 32] @ SMEM(ring=2)
            for c in threads({cluster}, unit=cta):
                with role(producer):
                    for p in threads(1):
                        Await(empty, lag={lag})
                        {issuer}
                        {copy}
                        Arrive(full, tx={tx})
            for c in threads({cluster}, unit=cta):
                with role(consumer):
                    Await(full)
                    for l in threads(32):
                        if {cluster} * m + c < M:
                            Y[{cluster} * m + c, l] = s[c, {cluster} - 1 - c, l]
                    {reader}
                    {join}
                    for r in threads({cluster}):
                        Arrive(empty[{target}]{order})
    {last}
"""

MULTICAST = "tma_load_multicast(s[:, c : c + 1, :], X[{cluster} * m + c : {cluster} * m + c + 1, :], full)"


def dsmem(**changed: str) -> str:
    """The exchange through the peer's shared memory, with some places changed."""
    return DSMEM.format(**{"cta_fence": "pass", "fence": "Fence()", "last": "Fence()"} | changed)


def ring(cluster: int = 2, **changed: str) -> str:
    """The multicast ring whose slots are read by ordinary loads."""
    holes = {
        "count": str(cluster),
        "lag": "2",
        "copy": MULTICAST.format(cluster=cluster),
        "tx": str(128 * cluster),
        "reader": "pass",
        "issuer": "fence_proxy_async_all()",
        "join": "Fence()",
        "target": "r",
        "order": "",
        "last": "Fence()",
    }
    return RING.format(cluster=cluster, **(holes | changed))


def broken(report: Report) -> set[str]:
    """Refuted rules; nothing may be left open."""
    assert report.status is Status.REFUTED, [(o.name, o.status, o.reason) for o in report.obligations]
    assert all(o.counterexample is not None for o in report.obligations if o.status is Status.REFUTED)
    return {o.rule for o in report.obligations if o.status is Status.REFUTED}


@pytest.mark.parametrize("text", [dsmem(), ring(), ring(3), ring(lag="1")], ids=["dsmem", "ring", "three", "lag1"])
def test_good(text: str, tmp_path: Path) -> None:
    report = verdict(tmp_path, text)
    assert report.status is Status.PROVED, [(o.name, o.status, o.reason) for o in report.obligations]


def test_loops_over_ctas_may_have_any_name(tmp_path: Path) -> None:
    """The loop over the CTAs that a multicast reaches is none of the text, however those are called."""
    path = tmp_path / "ring.py"
    path.write_text(ring())
    found = next(e for e in prepare(load(path)["k"]).events if any(loop.kind is LoopKind.CTAS for loop in e.loops))
    path.write_text(re.sub(r"\bc\b", f"cta{found.id}", ring()))
    for event in prepare(load(path)["k"]).events:
        names = [loop.var for loop in event.loops]
        assert len({*names}) == len(names)


def test_axioms_of_a_multicast_ring(tmp_path: Path) -> None:
    assert {"L1", "L7", "L11"} <= set(verdict(tmp_path, ring()).axioms)


@pytest.mark.parametrize(("axiom", "status"), [("L4", Status.PROVED), ("L11", Status.UNKNOWN)])
def test_a_multicast_ring_without_an_axiom(axiom: str, status: Status, tmp_path: Path) -> None:
    """Its copies into one row are issued by one CTA, so L4 is not needed; counting its phases needs L11."""
    path = tmp_path / "ring.py"
    path.write_text(ring())
    report = verify(load(path)["k"], Policy(without=frozenset((axiom,))))
    assert report.status is status and axiom not in report.axioms
    open_ = [o for o in report.obligations if o.status is not Status.PROVED]
    assert all(o.reason.startswith(f"only axiom {axiom}, which is not accepted, orders the two") for o in open_)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("race.raw", dsmem(fence="pass")),
        ("race.raw", dsmem(fence="pass", cta_fence="Fence()")),
        ("race.war", dsmem(last="pass")),
        ("cluster.exit", dsmem(last="pass")),
        ("cluster.exit", ring(last="pass")),
        ("mbar.count", ring(count="1")),
        ("mbar.tx_bytes", ring(tx="128")),
        ("mbar.tx_bytes", ring(copy="tma_load_multicast(s[0:1, c : c + 1, :], X[2 * m + c : 2 * m + c + 1, :], full)")),
        ("race.war", ring(lag="2", join="pass")),
        ("proxy.generic_to_async", ring(issuer="pass")),
        ("proxy.generic_to_async", ring(issuer="pass", reader="fence_proxy_async_all()")),
        ("fence.state_space", ring(issuer="fence_proxy_async()")),
        ("race.war", ring(order=", relaxed=True")),
        ("race.war", ring(target="c")),
        ("mbar.count", ring(target="0")),
        ("cluster.remote_op", ring(target="r + 1")),
        ("cluster.remote_op", ring(copy="tma_load(s[1 - c, c : c + 1, :], X[2 * m + c : 2 * m + c + 1, :], full)")),
    ],
)
def test_bad(rule: str, text: str, tmp_path: Path) -> None:
    assert rule in broken(verdict(tmp_path, text))


STORES = """from exogpu.lang import *

@proc
def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(1), consumer=warps(1), persistent=True, cluster=2)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=2)
    for m in tasks(0, ceildiv(M, 2)):
        s: f32[2, 2, 32] @ SMEM(ring=2)
        for c in threads(2, unit=cta):
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=2)
                    tma_load_multicast(s[:, c : c + 1, :], X[2 * m + c : 2 * m + c + 1, :], full)
                    Arrive(full, tx=256)
        for c in threads(2, unit=cta):
            with role(consumer):
                for p in threads(1):
                    Await(full)
                    tma_store(Y[2 * m + c : 2 * m + c + 1, :], s[c, 1 - c : 2 - c, :])
                    bulk_commit()
                    bulk_wait_read({pending})
                    Arrive(empty[0:2], relaxed=True)
    for c in threads(2, unit=cta):
        with role(consumer):
            for p in threads(1):
                bulk_wait_read(0)
    Fence()
"""


def test_relaxed_arrives_hand_on_asynchronous_reads_only(tmp_path: Path) -> None:
    """Bulk stores read the slot, so nothing ordinary has to be published; the same with loads is refuted above."""
    report = verdict(tmp_path, STORES.format(pending=0))
    assert report.status is Status.PROVED, [(o.name, o.status, o.reason) for o in report.obligations]
    assert "L4" in report.axioms
    assert "race.war" in broken(verdict(tmp_path, STORES.format(pending=1)))


def test_a_lane_that_only_waits_can_be_overtaken(tmp_path: Path) -> None:
    """Lanes are not in lock-step: the lanes that arrive do not speak for those that still wait."""
    text = ring(issuer="pass", join="pass").replace("for l in threads(32):", "for l in threads(1):")
    text = text.replace("for r in threads(2):", "for r in threads(1):").replace("empty[r]", "empty[0:2]")
    report = verdict(tmp_path, text)
    assert "mbar.parity_alias" in broken(report)


def test_a_loop_over_one_cta_changes_nothing(tmp_path: Path) -> None:
    lines: list[str] = []
    for line in ring().splitlines():
        inside = lines and lines[-1].startswith(" " * 16) and line.startswith(" " * 16)
        if line.endswith("in threads(2, unit=cta):"):
            lines += [line, " " * 16 + "for q in threads(1, unit=cta):"]
        else:
            lines.append(" " * 4 * bool(inside) + line)
    report = verdict(tmp_path, "\n".join(lines))
    assert report.status is Status.PROVED and len(report.obligations) == len(verdict(tmp_path, ring()).obligations)


SPLIT = """from exogpu.lang import *

@proc
def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(32, persistent=True, cluster=2)
    for m in tasks(0, M):
        parts: f32[2, 32] @ SMEM
        for c in threads(2, unit=cta):
            for t in threads(32):
                parts[c, t] = X[m, 32 * c + t]
        {first}
        {second}
        for c in threads(2, unit=cta):
            for t in threads(32):
                Y[m, 32 * c + t] = parts[1 - c, 31 - t]
        {third}
        {last}
"""


def split(**changed: str) -> str:
    """The exchange with the cluster's barrier in two parts."""
    names = ("cluster_arrive()", "cluster_wait()", "cluster_arrive()", "cluster_wait()")
    return SPLIT.format(**(dict(zip(("first", "second", "third", "last"), names, strict=True)) | changed))


@pytest.mark.parametrize("text", [split(), split(third="Fence()", last="pass")])
def test_split_cluster_barrier(text: str, tmp_path: Path) -> None:
    report = verdict(tmp_path, text)
    assert report.status is Status.PROVED, [(o.name, o.status, o.reason) for o in report.obligations]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("race.raw", split(second="pass", third="cluster_wait()", last="Fence()")),
        ("race.raw", split(first="cluster_arrive_relaxed()")),
        ("bar.recycle", split(second="cluster_arrive()", third="cluster_wait()", last="cluster_wait()")),
        ("bar.recycle", split(second="Fence()", third="cluster_wait()", last="pass")),
        (
            "deadlock.cycle",
            split(first="cluster_wait()", second="cluster_arrive()", third="pass", last="cluster_wait()"),
        ),
        ("bar.count", split(first="for c in threads(1, unit=cta):\n            cluster_arrive()")),
    ],
)
def test_split_cluster_barrier_misused(rule: str, text: str, tmp_path: Path) -> None:
    assert rule in broken(verdict(tmp_path, text))
