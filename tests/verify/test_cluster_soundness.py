"""Faults that were once missed, or correct kernels once refused, in kernels for clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput
from exogpu.lang import load
from exogpu.verify.explicit import faults
from exogpu.verify.prepare import prepare
from exogpu.verify.result import Status
from tests.texts import broken, verdict

WAITS_BEFORE_IT_IS_SENT = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(32, cluster=2)
    full = mbarrier(count=1)
    for m in tasks(0, M):
        s: f32[2, 1, 32] @ SMEM
        for c in threads(2, unit=cta):
            if c == 1:
                Arrive(full, tx=128)
                {early}
        Fence()
        for c in threads(2, unit=cta):
            if c == 0:
                for p in threads(1):
                    tma_load_multicast(s[1:2, :, :], X[m : m + 1, :], full)
                    Arrive(full)
                Await(full)
        for c in threads(2, unit=cta):
            if c == 1:
                {late}
                for t in threads(32):
                    Y[m, t] = s[1, 0, t]
        Fence()
"""

RELAY = """def k(M: size, X: f32[M, 32] @ GMEM, Z: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(32, cluster=2)
    full = mbarrier(ring=1, count=1)
    for m in tasks(0, M):
        s: f32[2, 1, 32] @ SMEM
        for c in threads(2, unit=cta):
            for p in threads(1):
                if c == 0:
                    tma_load(s[c, :, :], X[m : m + 1, :], full)
                    Arrive(full, tx=128)
                    Await(full)
                    tma_store(Z[m : m + 1, :], s[c, :, :])
                    bulk_commit()
                    bulk_wait(0)
        {arrive}
        cluster_wait()
        for c in threads(2, unit=cta):
            for p in threads(1):
                if c == 1:
                    tma_load(s[c, :, :], Z[m : m + 1, :], full)
                    Arrive(full, tx=128)
                    Await(full)
                    tma_store(Y[m : m + 1, :], s[c, :, :])
                    bulk_commit()
                    bulk_wait(0)
        Fence()
"""

AWAITED_ARRIVE = """def k(M: size, X: f32[M, 32] @ GMEM):
    block(32, cluster=2)
    bar = mbarrier(count=1)
    for m in tasks(0, M):
        for c in threads(2, unit=cta):
            if c == 0:
                Arrive(bar[1])
            if c == {waiting}:
                Await(bar, lag={lag})
"""

AWAIT_OF_THE_CLUSTER = """def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(32, cluster=2)
    full = mbarrier(ring=1, count=32)
    for m in tasks(0, M):
        s: f32[2, 32] @ SMEM
        for t in threads(64):
            s[1 - t // 32, t % 32] = X[m, t]
            Arrive(full[1 - t // 32])
        {wait}
        for t in threads(64):
            Y[m, t] = s[t // 32, 31 - t % 32]
        Fence()
"""


def test_bytes_of_another_cta_come_before_the_wait_for_them(tmp_path: Path) -> None:
    good = verdict(tmp_path, WAITS_BEFORE_IT_IS_SENT.format(early="pass", late="Await(full)"))
    assert good.status is Status.PROVED, [(o.name, o.reason) for o in good.obligations]
    assert "deadlock.cycle" in broken(
        verdict(tmp_path, WAITS_BEFORE_IT_IS_SENT.format(early="Await(full)", late="pass"))
    )


def test_a_relaxed_arrive_does_not_hand_on_what_was_written(tmp_path: Path) -> None:
    good = verdict(tmp_path, RELAY.format(arrive="cluster_arrive()"))
    assert good.status is Status.PROVED and "L4" in good.axioms, "bulk operations of two CTAs meet in Z"
    assert "race.raw" in broken(verdict(tmp_path, RELAY.format(arrive="cluster_arrive_relaxed()")))


def test_an_arrive_that_the_cta_awaits_comes_before_its_end(tmp_path: Path) -> None:
    assert verdict(tmp_path, AWAITED_ARRIVE.format(waiting=1, lag=0)).status is Status.PROVED
    assert "cluster.exit" in broken(verdict(tmp_path, AWAITED_ARRIVE.format(waiting=1, lag=1)))


def test_each_cta_of_a_common_await_waits_on_its_own_barrier(tmp_path: Path) -> None:
    good = verdict(tmp_path, AWAIT_OF_THE_CLUSTER.format(wait="Await(full)"))
    assert good.status is Status.PROVED, [(o.name, o.reason) for o in good.obligations]
    one = "for c in threads(1, unit=cta):\n            Await(full)"
    assert "race.raw" in broken(verdict(tmp_path, AWAIT_OF_THE_CLUSTER.format(wait=one)))


def test_no_barrier_joins_parts_of_two_ctas(tmp_path: Path) -> None:
    text = """def k(M: size, Y: f32[M, 64] @ GMEM):
    block(32, cluster=3)
    for m in tasks(0, M):
        for h in threads(1, unit=64):
            Fence()
"""
    with pytest.raises(BadInput) as found:
        verdict(tmp_path, text)
    assert [d.code for d in found.value.diagnostics] == ["lang.fence"]


def test_huge_preconditions_do_not_make_the_sequential_program_run(tmp_path: Path) -> None:
    text = """def k(K: size, Y: f32[32] @ GMEM):
    require(K >= 1000000)
    block(32)
    for m in tasks(0, 1):
        for t in threads(32):
            a: f32[1] @ RMEM
            a[0] = 0.0
            for k in seq(0, K):
                a[0] = a[0] + 1.0
            Y[t] = a[0]
"""
    assert verdict(tmp_path, text).status is Status.PROVED


RING_OF_THE_CLUSTER = """def k(T: size, Y: f32[T, 2, 32] @ GMEM, X: f32[T + 4, 32] @ GMEM):
    block(32, persistent=True, cluster=2)
    for t in tasks(0, T):
        for k in seq(0, 2):
            s: f32[2, 32] @ SMEM(ring={ring})
            for c in threads(2, unit=cta):
                for l in threads(32):
                    s[c, l] = X[t + k + c, l]
            Fence()
            for c in threads(2, unit=cta):
                for l in threads(32):
                    Y[t, c, l] += s[c, (l + 16) % 32]
        Fence()
"""


@pytest.mark.parametrize("ring", [1, 2])
def test_the_ring_of_a_cluster_turns_once_for_all_its_ctas(ring: int, tmp_path: Path) -> None:
    text = RING_OF_THE_CLUSTER.format(ring=ring)
    report = verdict(tmp_path, text)
    found = list(faults(prepare(load(tmp_path / "k.py")["k"]), {"T": 2, "$tasks": 1}))
    if ring == 2:
        assert report.status is Status.PROVED and not found
    else:
        assert "race.war" in broken(report) and "race.war" in {f.rule for f in found}
