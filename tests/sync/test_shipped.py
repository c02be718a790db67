"""The shipped kernels without their synchronisation get it back, and so do mutants of the flagship."""

from __future__ import annotations

import pytest

from exogpu.sync import infer_sync
from exogpu.sync.bare import bare
from exogpu.sync.propose import proposals
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.mutants import mutants
from exogpu.verify.prove import attempt
from exogpu.verify.result import Status
from tests.sync.repairs import Result, canonical, repaired, shipped


@pytest.mark.parametrize("name", ["gemm_f32", "gemm_bf16_cluster"])
def test_bare_kernels_get_their_synchronisation_back(name: str) -> None:
    proc = shipped(name)
    found = infer_sync(bare(proc))
    assert found.changed is not None
    assert canonical(found.changed) == canonical(proc)
    assert found.report is not None
    assert found.report.status is Status.PROVED


@pytest.mark.parametrize("name", ["gemm_bf16", "gemm_splitk"])
def test_the_first_proposal_is_the_kernel_itself(name: str) -> None:
    proc = shipped(name)
    assert canonical(next(proposals(bare(proc), []))) == canonical(proc)


def test_the_first_proposal_for_turns_is_proved() -> None:
    proposed = next(proposals(bare(shipped("gemm_pingpong")), []))
    assert attempt(proposed, DEFAULT, frozenset()).status is Status.PROVED


@pytest.mark.parametrize(
    "what", ["full: count 2", "Await(full): lag 1", "no wgmma_commit()", "bulk_wait_read(1): 2 pending"]
)
def test_mutants_of_the_flagship_are_repaired(what: str) -> None:
    """The rest of them: `python -m tests.sync`."""
    original = shipped("gemm_bf16_cluster")
    edit = next(m for m in mutants(original) if m.what == what)
    assert repaired(original, edit).result is Result.ORIGINAL


def test_a_smaller_ring_is_repaired_as_such() -> None:
    original = shipped("gemm_bf16_cluster")
    edit = next(m for m in mutants(original) if m.what == "stage: ring 1")
    assert repaired(original, edit).result is Result.OTHER
