"""Synchronisation under periodic guards, per thread, with different lags, and without a waiter: good and bad twins."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.verify.result import Status
from tests.texts import verdict

RING = """from exogpu.lang import *

@proc
def k(T: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    require(T >= 1)
    block(producer=warps(1), consumer=warps(1), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for t in tasks(0, T):
        for k in seq(0, K):
            s: f32[1, 32] @ SMEM(ring={slots})
            with role(producer):
                for p in threads(1):
                    if {fill}:
                        Await(empty, lag={lag})
                        tma_load(s[:, :], X[t : t + 1, 0:32], full)
                        Arrive(full, tx=128)
            with role(consumer):
                if {drain}:
                    Await(full)
                    for l in threads(32):
                        Y[t, l] = s[0, l]
                    fence_proxy_async()
                    Fence()
                    Arrive(empty)
    with role(producer):
        for p in threads(1):
            {tail}
"""


def ring(fill: str, drain: str | None = None, slots: int = 2, lag: int = 1, tail: str = "pass") -> str:
    return RING.format(fill=fill, drain=drain or fill, slots=slots, lag=lag, tail=tail)


PAIRS = """from exogpu.lang import *

@proc
def k(T: size, K: size, Y: f32[T, 64] @ GMEM):
    require(T >= 1 and T < 1000000 and K < 1000000)
    block(64, persistent=True)
    both = mbarrier(ring=1, count=2)
    for t in tasks(0, T):
        for k in seq(0, {trips}):
            s: f32[32] @ SMEM
            for w in threads(2, unit=warp):
                if {mine}:
                    for l in threads(32):
                        s[l] = 1.0
                    Fence()
                    Arrive(both)
            if k % 2 == {when}:
                Await(both)
            Fence()
            for w in threads(2, unit=warp):
                for l in threads(32):
                    Y[t, 32 * w + l] = s[l]
            Fence()
"""


def pairs(trips: str = "2 * K", mine: str = "k % 2 == w", when: int = 1) -> str:
    return PAIRS.format(trips=trips, mine=mine, when=when)


SIGNAL = """from exogpu.lang import *

@proc
def k(T: size, K: size, Y: f32[T, 32] @ GMEM):
    block(32, persistent=True)
    seen = mbarrier(ring=2, count={count})
    for t in tasks(0, T):
        for k in seq(0, K):
            for l in threads({count}):
                Arrive(seen)
            {join}
        for l in threads(32):
            Y[t, l] = 0.0
"""

GOOD = {
    "every third iteration": ring("k % 3 == 1"),
    "a shifted and negated residue": ring("(k + 5) % 4 != 2"),
    "several residues": ring("k % 5 < 2"),
    "a quotient that alternates": ring("k // 2 % 2 == 0"),
    "residues of an interval": ring("k > 2 and k % 2 == 0"),
    "different text, one meaning": ring("k % 2 == 1", "(k + 1) % 2 == 0"),
    "a lag of the whole ring": ring("k >= 0", lag=2, slots=4),
    "a tail with another lag": ring("k % 2 == 0", lag=2, slots=4, tail="Await(empty, lag=1)"),
    "warps that alternate": pairs(),
    "warps in the other order": pairs(mine="(k + w) % 2 == 1"),
    "arrives that nobody awaits": SIGNAL.format(count=1, join="pass"),
    "arrives of two threads that nobody awaits": SIGNAL.format(count=2, join="Fence()"),
}

BAD = {
    "a slot is filled in every iteration": (ring("k % 2 == 0", slots=1, lag=2), "race.war"),
    "a tail that waits for too much": (ring("k % 2 == 0", slots=4, lag=2, tail="Await(empty)"), "deadlock.cycle"),
    "a lag of more than the ring": (ring("k >= 0", lag=3, slots=4), "mbar.lag"),
    "an odd number of turns": (pairs(trips="K"), "mbar.unobserved_phase"),
    "a wait before the second half": (pairs(when=0), "deadlock.cycle"),
    "arrives that overtake each other": (SIGNAL.format(count=2, join="pass"), "mbar.unobserved_phase"),
}


@pytest.mark.parametrize("name", GOOD)
def test_is_proved(tmp_path: Path, name: str) -> None:
    report = verdict(tmp_path, GOOD[name])
    assert [(o.name, o.reason) for o in report.obligations if o.status is not Status.PROVED] == []
    assert report.status is Status.PROVED


@pytest.mark.parametrize("name", BAD)
def test_is_refuted(tmp_path: Path, name: str) -> None:
    text, rule = BAD[name]
    report = verdict(tmp_path, text)
    broken = [o for o in report.obligations if o.status is Status.REFUTED]
    assert rule in {o.rule for o in broken}
    assert all(o.counterexample is not None and o.counterexample.replay for o in broken)


def test_a_long_period_is_left_open(tmp_path: Path) -> None:
    report = verdict(tmp_path, ring("k % 1000 == 0"))
    assert report.status is Status.UNKNOWN
    assert any("repeat only after 1000 iterations" in o.reason for o in report.obligations)


def test_trips_that_depend_on_the_task_are_left_open(tmp_path: Path) -> None:
    report = verdict(tmp_path, ring("k >= 0", lag=2).replace("seq(0, K)", "seq(0, t + 1)"))
    assert report.status is Status.UNKNOWN
    assert any("the bounds of loop k depend on t" in o.reason for o in report.obligations)
