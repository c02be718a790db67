"""Rings that only some tasks of a walk use: guards on coordinates of the task, with twins that differ in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.verify.result import Status
from tests.texts import verdict

KERNEL = """from exogpu.lang import *

@proc
def k(T: size, U: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, U, 32] @ GMEM):
    require(T >= 1)
    require(U >= 1)
    block(producer=warps(1), consumer=warps(1){walk})
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for t in tasks(0, T):
        for u in tasks(0, U):
            if {given}:
                for k in seq(0, K):
                    s: f32[1, 32] @ SMEM(ring=2)
                    with role(producer):
                        if {produced}:
                            for p in threads(1):
                                Await(empty, lag={lag})
                                tma_load(s[:, :], X[t : t + 1, 0:32], full)
                                Arrive(full, tx=128)
                    with role(consumer):
                        if {consumed}:
                            Await(full)
                            for l in threads(32):
                                Y[{row}, u, l] = s[0, l]
                            {fence}
                            {join}
                            Arrive(empty)
"""


def kernel(**changed: str) -> str:
    parts = {"walk": ", persistent=True", "given": "t % 2 == 0", "produced": "K > 0", "consumed": "K > 0", "lag": "2"}
    parts |= {"row": "t", "fence": "fence_proxy_async()", "join": "Fence()"}
    return KERNEL.format(**{**parts, **changed})


GUARDS = ["t % 2 == 0", "t != 0", "u < t", "t > 0 and u % 3 == 1", "t < K"]
GOOD = [kernel(given=g) for g in GUARDS] + [kernel(given=g, walk="") for g in GUARDS[:3]]
BAD = [
    ("race.war", kernel(lag="3")),
    ("mbar.lane_release", kernel(join="pass")),
    ("proxy.generic_to_async", kernel(fence="pass")),
    ("proxy.generic_to_async", kernel(given="u < t", fence="pass")),
    ("deadlock.cycle", kernel(given="K > 0", produced="t % 2 == 0", consumed="t % 3 == 0")),
    ("deadlock.cycle", kernel(given="K > 0", produced="t % 2 == 0", consumed="t % 3 == 0", walk="")),
    ("deadlock.cycle", kernel(given="K > 0", produced="t != 0")),
    ("race.waw", kernel(row="0")),
    ("race.waw", kernel(row="0", walk="")),
]


@pytest.mark.parametrize("text", GOOD, ids=map(str, range(len(GOOD))))
def test_a_ring_of_some_tasks_is_proved(tmp_path: Path, text: str) -> None:
    report = verdict(tmp_path, text)
    assert [(o.name, o.reason) for o in report.obligations if o.status is not Status.PROVED] == []


@pytest.mark.parametrize(("rule", "text"), BAD, ids=[f"{n}-{rule}" for n, (rule, _) in enumerate(BAD)])
def test_a_fault_in_some_tasks_is_refuted(tmp_path: Path, rule: str, text: str) -> None:
    report = verdict(tmp_path, text)
    broken = [o for o in report.obligations if o.status is Status.REFUTED]
    assert rule in {o.rule for o in broken}
    assert all(o.counterexample is not None for o in broken)


STAGES = """from exogpu.lang import *

@proc
def k(T: size, U: size, X: f32[T + U + 8, 32] @ GMEM, Z: f32[8 * T + 8, 32] @ GMEM):
    require(T >= 1)
    require(T <= 1000)
    require(U <= 8)
    block(32, persistent=True)
    for t in tasks(0, T):
        for u in tasks(0, U):
            if u < t:
                s: f32[1, 32] @ SMEM(ring=2)
                for p in threads(1):
                    bulk_wait_read(2)
                Fence()
                for l in threads(32):
                    s[0, l] = X[t + u, l]
                fence_proxy_async()
                Fence()
                for p in threads(1):
                    tma_store(Z[8 * t + u : 8 * t + u + 1, 0:32], s[:, :])
                    bulk_commit()
    for p in threads(1):
        bulk_wait_read(0)
"""


def test_a_witness_says_which_tasks_the_cta_walks_and_nothing_of_places_outside_the_walk(tmp_path: Path) -> None:
    report = verdict(tmp_path, STAGES)
    (broken,) = (o for o in report.obligations if o.status is Status.REFUTED)
    assert broken.rule == "race.war" and broken.counterexample is not None
    sizes = dict(broken.counterexample.sizes)
    walked = [name for name in sizes if " of task " in name]
    assert walked == [f"{name} of task {place}" for place in range(sizes["tasks of the CTA"]) for name in ("t", "u")]
