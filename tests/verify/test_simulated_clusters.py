"""The simulator on clusters: the kernels that the prover's cluster rules are tested with show the same faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.verify.simulator import Agrees, Broken, Outcome, Race, Stuck, Undefined, simulate
from tests.texts import kernel
from tests.verify.test_clusters import STORES, dsmem, ring
from tests.verify.test_signal_soundness import LAST_ARRIVE

PART = "tma_load_multicast(s[0:1, c : c + 1, :], X[2 * m + c : 2 * m + c + 1, :], full)"
GOOD = {
    "dsmem": dsmem(),
    "ring": ring(),
    "three CTAs": ring(3),
    "lag 1": ring(lag="1"),
    "stores": STORES.format(pending=0),
}
BAD = {
    "no fence": dsmem(fence="pass"),
    "a fence of each CTA": dsmem(fence="pass", cta_fence="Fence()"),
    "no fence at the end": dsmem(last="pass"),
    "a CTA ends early": ring(last="pass"),
    "too few arrivals": ring(count="1"),
    "too few bytes": ring(tx="128"),
    "one CTA gets nothing": ring(copy=PART),
    "lanes that still read": ring(join="pass"),
    "no proxy fence": ring(issuer="pass"),
    "released in the own CTA alone": ring(target="c"),
    "released in the first CTA alone": ring(target="0"),
    "a CTA that is not there": ring(target="r + 1"),
    "stores that still read": STORES.format(pending=1),
}


def run(tmp_path: Path, text: str, *, watch: bool) -> Outcome:
    return simulate(kernel(tmp_path, text), {"M": 5, **({"K": 3} if "K: size" in text else {})}, watch=watch)


@pytest.mark.parametrize("name", GOOD)
def test_good(name: str, tmp_path: Path) -> None:
    assert isinstance(run(tmp_path, GOOD[name], watch=True), Agrees)


@pytest.mark.parametrize("watch", [False, True], ids=["values", "accesses"])
@pytest.mark.parametrize("name", BAD)
def test_bad(name: str, watch: bool, tmp_path: Path) -> None:
    assert not isinstance(run(tmp_path, BAD[name], watch=watch), Agrees | Undefined)


@pytest.mark.parametrize(
    "text",
    [ring(issuer="pass", reader="fence_proxy_async_all()"), ring(issuer="fence_proxy_async()")],
    ids=["in another CTA", "for the own shared memory"],
)
def test_proxy_fences_that_do_not_reach_the_other_cta(text: str, tmp_path: Path) -> None:
    assert isinstance(run(tmp_path, text, watch=True), Race)


def test_relaxed_arrives_publish_no_ordinary_read(tmp_path: Path) -> None:
    assert isinstance(run(tmp_path, ring(order=", relaxed=True"), watch=True), Race)


SPLIT = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 2, 32] @ GMEM):
    block(32, persistent=True, cluster=2)
    for m in tasks(0, M):
        s: f32[2, 32] @ SMEM(ring=2)
        for c in threads(2, unit=cta):
            for t in threads(32):
                s[1 - c, t] = X[m, t]
        {arrive}
        {wait}
        for c in threads(2, unit=cta):
            for t in threads(32):
                Y[m, c, t] = s[c, 31 - t]
    cluster_arrive()
    cluster_wait()
"""


@pytest.mark.parametrize(
    ("arrive", "wait", "outcome"),
    [
        ("cluster_arrive()", "cluster_wait()", Agrees),
        ("cluster_arrive_relaxed()", "cluster_wait()", Race),
        ("cluster_arrive()", "pass", Race),
        ("cluster_arrive()\n        cluster_arrive()", "cluster_wait()", Broken),
        ("pass", "cluster_wait()", Stuck),
    ],
)
def test_the_clusters_barrier_in_two_steps(tmp_path: Path, arrive: str, wait: str, outcome: type[Outcome]) -> None:
    """A relaxed arrive publishes nothing; every thread arrives, then waits."""
    assert isinstance(run(tmp_path, SPLIT.format(arrive=arrive, wait=wait), watch=True), outcome)


@pytest.mark.parametrize(
    ("join", "waits", "outcome"),
    [
        ("cluster_arrive", "cluster_wait()", Agrees),
        ("cluster_arrive_relaxed", "cluster_wait()", Race),
        ("cluster_arrive_relaxed", "cluster_wait()\n        Await(bar)", Agrees),
    ],
)
def test_arrives_at_a_cta_that_may_have_ended(tmp_path: Path, join: str, waits: str, outcome: type[Outcome]) -> None:
    assert isinstance(run(tmp_path, LAST_ARRIVE.format(relaxed=True, join=join, waits=waits), watch=True), outcome)
