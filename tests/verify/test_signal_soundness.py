"""What an arrive, a copy or a fence orders: kernels that once got a wrong verdict, beside twins that differ in one
annotation."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.verify.axioms import Policy
from exogpu.verify.result import Status
from tests.texts import broken, verdict

UNITS_IN_TURN = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(2), consumer=warps(2), persistent=True)
    full = mbarrier(ring={full}, count=1)
    empty = mbarrier(ring={empty}, count=1)
    for m in tasks(0, M):
        s: f32[32] @ SMEM(ring={ring})
        with role(producer[ordinal % 2]):
            Await(empty, lag=2)
            for l in threads(32):
                s[l] = X[m, l]
            Fence()
            Arrive(full)
        with role(consumer[ordinal % 2]):
            Await(full)
            for l in threads(32):
                Y[m, l] = s[31 - l]
            Fence()
            Arrive(empty)
"""


@pytest.mark.parametrize(
    ("depths", "rules"),
    [
        ((2, 2, 2), set()),
        ((3, 2, 2), {"mbar.parity_alias", "mbar.unobserved_phase"}),
        ((2, 3, 2), {"mbar.parity_alias", "mbar.unobserved_phase"}),
        ((2, 2, 3), {"race.waw", "race.war", "race.raw"}),
    ],
)
def test_an_arrive_says_nothing_about_another_slot(
    tmp_path: Path, depths: tuple[int, int, int], rules: set[str]
) -> None:
    """The units are independent, so each must find its own earlier phases in the slots that it uses."""
    report = verdict(tmp_path, UNITS_IN_TURN.format(**dict(zip(("full", "empty", "ring"), depths, strict=True))))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


HANDED_ON = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(2), consumer=warps(2))
    full = mbarrier(ring=2, count=1)
    for m in tasks(0, M):
        s: f32[32] @ SMEM
        for k in seq(0, 2):
            with role(producer[{unit}]):
                if k == 0:
                    for l in threads(32):
                        s[l] = X[m, l]
                Fence()
                Arrive(full)
            with role(consumer[k % 2]):
                Await(full)
                if k == 1:
                    for l in threads(32):
                        Y[m, l] = s[l]
"""


@pytest.mark.parametrize(("unit", "rules"), [("0", set()), ("k % 2", {"race.raw"})])
def test_a_later_arrive_publishes_what_its_own_thread_did(tmp_path: Path, unit: str, rules: set[str]) -> None:
    report = verdict(tmp_path, HANDED_ON.format(unit=unit))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


HELD = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(2), consumer=warps(1))
    full = mbarrier(ring=1, count=32)
    for m in tasks(0, M):
        s: f32[32] @ SMEM
        with role(producer[0]):
            for t in threads(32):
                cp_async(s[t : t + 1], X[m, t : t + 1])
                cp_async_hold(full)
            cp_async_commit()
        {meet}
        with role(producer[{unit}]):
            for t in threads(32):
                Arrive(full)
        with role(consumer):
            Await(full)
            for l in threads(32):
                Y[m, l] = s[31 - l]
        with role(producer):
            cp_async_wait_all()
"""


@pytest.mark.parametrize(
    ("unit", "meet", "rules"),
    [(0, "", set()), (1, "", {"mbar.count"}), (1, "with role(producer):\n            Fence()", set())],
)
def test_a_hold_comes_before_the_arrive_that_ends_its_phase(
    tmp_path: Path, unit: int, meet: str, rules: set[str]
) -> None:
    """The arrive of another unit waits for nothing, unless the two have met."""
    report = verdict(tmp_path, HELD.format(unit=unit, meet=meet))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


FENCED_BY = """def k(A: bf16[64, 64] @ GMEM, B: bf16[8, 64] @ GMEM, C: f32[64, 8] @ GMEM):
    block(256)
    full = mbarrier(ring=1, count=1)
    for task in tasks(0, 1):
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        acc: f32[1, 64, 8] @ WGMMA_D
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:8, 0:64], full)
            Arrive(full, tx=9216)
        Await(full)
        Fence()
        for w in threads(2, unit=warpgroup):
            if w == {warpgroup}:
                wgmma_fence()
        Fence()
        for w in threads(1, unit=warpgroup):
            wgmma(acc[w, :, :], a[0:64, 0:16], b[:, 0:16], accumulate=False)
            wgmma_commit()
            wgmma_wait(0)
            acc_store(C[0:64, 0:8], acc[w, :, :])
"""


@pytest.mark.parametrize(("warpgroup", "rules"), [(0, set()), (1, {"wgmma.reg_fence"})])
def test_a_wgmma_fence_is_of_its_own_warpgroup(tmp_path: Path, warpgroup: int, rules: set[str]) -> None:
    report = verdict(tmp_path, FENCED_BY.format(warpgroup=warpgroup))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


READ_THEN_REFILLED = """def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 2, 32] @ GMEM):
    block(p=warps(1), q=warps(1), cluster=2, persistent=True)
    full = mbarrier(ring=1, count=1)
    empty = mbarrier(ring=1, count=2)
    for m in tasks(0, M):
        s: f32[2, 2, 32] @ SMEM
        for c in threads(2, unit=cta):
            with role(p):
                for t in threads(1):
                    Await(empty, lag=1)
                    fence_proxy_async_all()
                    tma_load_multicast(s[0:2, c : c + 1, :], X[m : m + 1, 32 * c : 32 * c + 32], full)
                    Arrive(full, tx=256)
            with role(q):
                Await(full)
                for t in threads(32):
                    Y[m, c, t] = s[c, 0, t]
                {reader}
                Fence()
                for r in threads(2):
                    Arrive(empty[r])
    Fence()
"""


@pytest.mark.parametrize(("reader", "rules"), [("fence_proxy_async()", set()), ("", {"proxy.generic_to_async"})])
def test_fences_on_both_sides_need_no_axiom_across_ctas(tmp_path: Path, reader: str, rules: set[str]) -> None:
    text = READ_THEN_REFILLED.format(reader=reader)
    assert verdict(tmp_path, text).status is Status.PROVED
    assert broken(verdict(tmp_path, text, policy=Policy(strict=True))) == rules


LAST_ARRIVE = """def k(M: size):
    block(32, cluster=2)
    bar = mbarrier(count=1)
    for m in tasks(0, M):
        for c in threads(2, unit=cta):
            Arrive(bar[1 - c], relaxed={relaxed})
        {join}()
        {waits}
"""
JOINED, AWAITED = "cluster_wait()", "cluster_wait()\n        Await(bar)"


@pytest.mark.parametrize(
    ("relaxed", "join", "waits", "rules"),
    [
        (False, "cluster_arrive", JOINED, set()),
        (False, "cluster_arrive_relaxed", JOINED, {"cluster.exit"}),
        (True, "cluster_arrive_relaxed", JOINED, {"cluster.exit"}),
        (True, "cluster_arrive_relaxed", AWAITED, set()),
    ],
)
def test_an_arrive_on_another_ctas_barrier_is_performed_before_it_ends(
    tmp_path: Path, relaxed: bool, join: str, waits: str, rules: set[str]
) -> None:
    """That it was issued before a barrier that publishes nothing says nothing about when it arrives."""
    report = verdict(tmp_path, LAST_ARRIVE.format(relaxed=relaxed, join=join, waits=waits))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


NOBODY_WAITS = """def k(M: size):
    block(32{persistent})
    bar = mbarrier(ring=1, count=1)
    for m in tasks(0, M):
        for t in threads(1):
            Arrive(bar)
            {wait}
"""


@pytest.mark.parametrize(
    ("persistent", "wait", "used"),
    [("", "", ()), (", persistent=True", "Await(bar)", ()), (", persistent=True", "", ("L10",))],
)
def test_a_phase_that_nobody_waits_for_is_observed_by_an_axiom(
    tmp_path: Path, persistent: str, wait: str, used: tuple[str, ...]
) -> None:
    """Where there is no phase before in the slot, there is nothing to observe."""
    text = NOBODY_WAITS.format(persistent=persistent, wait=wait)
    report = verdict(tmp_path, text)
    assert report.status is Status.PROVED and report.axioms == used
    assert verdict(tmp_path, text, policy=Policy(strict=True)).status is (Status.UNKNOWN if used else Status.PROVED)


TILES = """def k(A: bf16[64, 64] @ GMEM, B: bf16[16, 64] @ GMEM, C: f32[64, 24] @ GMEM):
    block(128)
    full = mbarrier(ring=1, count=1)
    for task in tasks(0, 1):
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[16, 64] @ SMEM(swizzle=128)
        r: bf16[1, 64, 16] @ WGMMA_A
        acc: f32[1, 64, 24] @ WGMMA_D
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:16, 0:64], full)
            Arrive(full, tx=10240)
        Await(full)
        ldmatrix(r[0, :, :], a[:, 0:16])
        wgmma_fence()
        {first}
        for h in unroll(0, 2):
            wgmma(acc[0, :, 8 * h : 8 * h + 8], a[:, 16:32], b[0:8, 0:16], accumulate=False)
        for g in unroll(0, 2):
            wgmma(acc[0, :, 8 * g : 8 * g + {n}], a[:, 32:48], b[0:{n}, 0:16])
        wgmma_commit()
        wgmma_wait(0)
        acc_store(C[0:64, 0:16], acc[0, :, 0:16])
"""


@pytest.mark.parametrize(
    ("first", "n", "rules"),
    [
        ("", 8, set()),
        ("wgmma_rs(acc[0, :, 8:16], r[0, :, :], b[0:8, 0:16], accumulate=False)", 8, set()),
        ("wgmma_rs(acc[0, :, 0:16], r[0, :, :], b[0:16, 0:16], accumulate=False)", 8, {"wgmma.reg_fence"}),
        ("", 16, {"wgmma.reg_fence", "wgmma.reg_inflight"}),
    ],
)
def test_wgmmas_of_one_shape_on_one_tile_run_in_order(tmp_path: Path, first: str, n: int, rules: set[str]) -> None:
    """Whichever form they have and however the tile is written, but not if tiles overlap in part."""
    report = verdict(tmp_path, TILES.format(first=first, n=n))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


TWO_KINDS = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(1), consumer=warps(1))
    full = mbarrier(ring=2, count=32)
    for m in tasks(0, M):
        u: f32[32] @ SMEM
        with role(producer):
            for t in threads(32):
                cp_async(u[t : t + 1], X[m, t : t + 1])
                {first}(full)
                {second}(full)
        with role(consumer):
            Await(full)
            for l in threads(32):
                Y[m, l] = u[31 - l]
            Await(full)
        with role(producer):
            cp_async_wait_all()
"""


@pytest.mark.parametrize(
    ("first", "second", "rules"), [("cp_async_arrive", "Arrive", set()), ("Arrive", "cp_async_arrive", {"race.raw"})]
)
def test_the_arrive_that_waits_for_copies_says_that_they_have_landed(
    tmp_path: Path, first: str, second: str, rules: set[str]
) -> None:
    """Phase by phase, whatever other arrives of its thread wait for."""
    report = verdict(tmp_path, TWO_KINDS.format(first=first, second=second))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


HANDED_BACK = """def k(M: size):
    block(a=warps(1), b=warps(1), persistent=True)
    n = named_barrier(count=64)
    g = mbarrier(ring=2, count=1)
    for m in tasks(0, M):
        with role(a):
            for t in threads(1):
                {wait}
            bar_arrive(n)
        with role(b):
            bar_sync(n)
            Arrive(g)
"""


@pytest.mark.parametrize(("wait", "rules"), [("Await(g, lag=1)", set()), ("Await(g, lag=2)", {"bar.recycle"})])
def test_a_warp_arrives_when_all_its_lanes_have_come(tmp_path: Path, wait: str, rules: set[str]) -> None:
    """So what one lane has waited for comes before the arrival of the warp."""
    report = verdict(tmp_path, HANDED_BACK.format(wait=wait))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


THEN_RELAXED = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(32, cluster=2)
    full = mbarrier(ring=2, count=32)
    for m in tasks(0, M):
        s: f32[2, 32] @ SMEM
        for c in threads(2, unit=cta):
            if c == 1:
                Await(full, lag=1)
        Fence()
        for c in threads(2, unit=cta):
            for t in threads(32):
                if c == 0:
                    s[1, t] = X[m, t]
                    Arrive(full[1])
                    Arrive(full[1], relaxed={relaxed})
        for c in threads(2, unit=cta):
            if c == 1:
                Await(full)
                for t in threads(32):
                    Y[m, t] = s[1, 31 - t]
        Fence()
"""


@pytest.mark.parametrize(("relaxed", "rules"), [(False, set()), (True, {"race.raw"})])
def test_a_later_arrive_hands_on_only_if_it_publishes(tmp_path: Path, relaxed: bool, rules: set[str]) -> None:
    """The await is for the second arrive's phase, which is in another slot than the first one's."""
    report = verdict(tmp_path, THEN_RELAXED.format(relaxed=relaxed))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)
