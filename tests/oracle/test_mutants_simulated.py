"""Single edits of the shipped kernels' protocols, at tiny tiles: what the prover refutes shows in the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.edits import Edit
from exogpu.verify.mutants import mutants
from exogpu.verify.simulator import Agrees, Broken, Outcome, Race, Stuck, WrongValue, simulate

KERNELS = load(Path(__file__).parent / "cases" / "small.py")
SIZES = {"product": {"M": 140, "K": 200}, "scalar_product": {"M": 10, "K": 14}}


def outcome(name: str, what: str, nth: int = 0, *, watch: bool = True) -> Outcome:
    found: list[Edit] = [m for m in mutants(KERNELS[name]) if m.what == what]
    return simulate(found[nth].proc, SIZES[name], schedules=3, watch=watch)


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_agree(name: str) -> None:
    assert simulate(KERNELS[name], SIZES[name], schedules=3) == Agrees(3)


SHOWN = {
    "full: count 2": Stuck,
    "empty: count 3": Broken,
    "sA: ring 1": WrongValue,
    "no Await(empty, lag=STAGES)": Broken,
    "Await(empty, lag=STAGES): lag 1": Stuck,
    "Await(empty, lag=STAGES): lag 3": Broken,
    "no Await(full)": Broken,
    "Arrive(full, tx=2 * (BM + BN) * BK): tx 16368": Stuck,
    "Arrive(full, tx=2 * (BM + BN) * BK): tx 16400": Stuck,
    "no wgmma_fence()": Race,
    "no wgmma_commit()": Race,
    "wgmma_wait(1): 2 pending": WrongValue,
    "wgmma_wait(1) after if k > 0: Arrive(empty) at line 38": WrongValue,
    "no fence_proxy_async()": WrongValue,
    "no Arrive(empty)": Stuck,
}


@pytest.mark.parametrize("what", SHOWN)
def test_faults_show_in_values_or_progress(what: str) -> None:
    assert isinstance(outcome("product", what, watch=False), SHOWN[what])


@pytest.mark.parametrize(
    "what", ["stage: ring 1", "bulk_wait_read(1): 2 pending", "no bulk_wait_read(1)", "no Fence()"]
)
def test_rare_faults_show_in_accesses(what: str) -> None:
    assert isinstance(outcome("product", what), Race)


@pytest.mark.parametrize(
    "what", ["wgmma_wait(1): 0 pending", "bulk_wait_read(1): 0 pending", "fence_proxy_async() after Fence() at line 51"]
)
def test_equivalent_edits_agree(what: str) -> None:
    assert outcome("product", what) == Agrees(3)


def test_every_fence_of_the_scalar_kernel_matters() -> None:
    edited = [m.proc for m in mutants(KERNELS["scalar_product"]) if "Fence" in m.what]
    assert len(edited) > 4
    assert all(isinstance(simulate(p, SIZES["scalar_product"], watch=False), WrongValue) for p in edited)
