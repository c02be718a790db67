"""The simulator on clusters: the kernels that the prover's cluster rules are tested with show the same faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.simulator import Agrees, Outcome, Race, Undefined, simulate
from tests.verify.test_clusters import STORES, dsmem, ring

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
    path = tmp_path / "k.py"
    path.write_text(text)
    kernel = load(path)["k"]
    return simulate(kernel, {"M": 5, **({"K": 3} if "K: size" in text else {})}, watch=watch)


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
