"""Axioms: what proofs use of them, what their withdrawal refutes, and the twins that do without."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from exogpu.kernels.gemm_bf16 import gemm_bf16
from exogpu.kernels.gemm_f32 import gemm_f32
from exogpu.verify.axioms import ASSUMED, AVOIDABLE, AXIOMS, DEFAULT, Policy, find_axiom
from exogpu.verify.explicit import faults
from exogpu.verify.lower import lower
from exogpu.verify.prove import prove
from exogpu.verify.result import Report, Status
from tests.texts import kernel, mma, ring, store, undecided, verdict

FENCE = "fence_proxy_async()"
STRICT = Policy(strict=True)


def fenced(folder: Path, *, issuer: bool, reader: bool, policy: Policy = DEFAULT) -> Report:
    """The ring with a fence before each copy, and one after each read."""
    return verdict(folder, ring(issuer=FENCE * issuer, proxy=FENCE * reader), policy=policy)


def test_fence_of_the_issuer_needs_l1(tmp_path: Path) -> None:
    report = fenced(tmp_path, issuer=True, reader=False)
    assert report.status is Status.PROVED
    assert report.axioms == ("L1", "L7")


def test_fence_of_the_issuer_is_refused_under_strict(tmp_path: Path) -> None:
    report = fenced(tmp_path, issuer=True, reader=False, policy=STRICT)
    assert report.status is Status.REFUTED
    (broken,) = [o for o in report.obligations if o.status is not Status.PROVED]
    assert broken.rule == "proxy.generic_to_async"
    assert broken.message.endswith("unless axiom L1 is accepted")
    assert broken.counterexample is not None and "without axiom L1" in broken.counterexample.replay
    advised = (find_axiom("L1") or AXIOMS[0]).alternative
    assert broken.help == advised.replace("Every", "every", 1).removesuffix(".")


def test_fence_of_the_reader_needs_no_avoidable_axiom(tmp_path: Path) -> None:
    report = fenced(tmp_path, issuer=False, reader=True, policy=STRICT)
    assert report.status is Status.PROVED
    assert report.axioms == ("L7",)


@pytest.mark.parametrize("policy", [Policy(), STRICT])
def test_an_axiom_is_not_used_where_another_fence_does_without(tmp_path: Path, policy: Policy) -> None:
    report = fenced(tmp_path, issuer=True, reader=True, policy=policy)
    assert report.status is Status.PROVED
    assert "L1" not in report.axioms


def test_no_fence_at_all_is_no_question_of_axioms(tmp_path: Path) -> None:
    report = fenced(tmp_path, issuer=False, reader=False, policy=STRICT)
    (broken,) = [o for o in report.obligations if o.status is not Status.PROVED]
    assert broken.rule == "proxy.generic_to_async" and "axiom" not in broken.message


def test_the_explicit_engine_obeys_the_policy(tmp_path: Path) -> None:
    program = lower(kernel(tmp_path, ring(issuer=FENCE, proxy="")))
    sizes = {"T": 1, "K": 3, "$tasks": 1}
    assert list(faults(program, sizes)) == []
    (found,) = faults(replace(program, axioms=STRICT.in_force), sizes)
    assert found.rule == "proxy.generic_to_async"


@pytest.mark.parametrize("kernel", [gemm_bf16, gemm_f32], ids=lambda k: k.name)
def test_shipped_kernels_are_proved_under_strict(kernel: object) -> None:
    proven, report = prove(kernel, STRICT)  # type: ignore[arg-type]
    assert proven is not None
    assert not AVOIDABLE & set(report.axioms)


@pytest.mark.parametrize(("axiom", "rule"), [("F6", "race.raw"), ("L5", "race.async_inflight"), ("L7", "race.raw")])
def test_an_axiom_without_alternative_is_withdrawn_by_name_only(tmp_path: Path, axiom: str, rule: str) -> None:
    text = mma(steps="1", last="")
    assert verdict(tmp_path, text, policy=STRICT).axioms == ("F6", "L5", "L7")
    report = verdict(tmp_path, text, policy=Policy(without=frozenset((axiom,))))
    broken = [o for o in report.obligations if o.status is not Status.PROVED]
    assert rule in {o.rule for o in broken}
    for obligation in broken:
        assert obligation.status is Status.REFUTED
        assert f"unless axiom {axiom} is accepted" in obligation.message
        assert obligation.help == f"the hardware offers no form that does without {axiom}"
    assert axiom not in report.axioms and axiom in report.policy.withdrawn


ELECTED = """from exogpu.lang import *

@proc
def k(T: size, K: size, A: bf16[T, 64] @ GMEM, B: bf16[8, 64] @ GMEM, C: f32[T, 8] @ GMEM):
    block(producer=warpgroups(1), consumer=warpgroups(1), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for t in tasks(0, ceildiv(T, 64)):
        acc: f32[1, 64, 8] @ WGMMA_D
        for k in seq(0, K):
            a: bf16[64, 64] @ SMEM(swizzle=128, ring=2)
            b: bf16[8, 64] @ SMEM(swizzle=128, ring=2)
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=2)
                    tma_load(a[:, :], A[64 * t : 64 * t + 64, 0:64], full)
                    tma_load(b[:, :], B[0:8, 0:64], full)
                    Arrive(full, tx=9216)
            with role(consumer):
                Await(full)
                wgmma_fence()
                wgmma(acc[0, :, :], a[:, 0:16], b[:, 0:16], accumulate=k > 0)
                wgmma_commit()
                wgmma_wait(0)
                @barrier@
                Arrive(empty)
"""


def elected(tmp_path: Path, policy: Policy, *, barrier: bool) -> Report:
    return verdict(tmp_path, ELECTED.replace("@barrier@", "Fence()" if barrier else ""), policy=policy)


def test_one_thread_releases_for_its_warpgroup_only_with_l12(tmp_path: Path) -> None:
    refuted = elected(tmp_path, Policy(), barrier=False)
    broken = {o.rule: o for o in refuted.obligations if o.status is not Status.PROVED}
    assert "mbar.lane_release" in broken
    assert broken["mbar.lane_release"].message.endswith("unless axiom L12 is accepted")
    assert (broken["mbar.lane_release"].help or "").endswith("or accept the axiom with --axiom L12")
    accepted = elected(tmp_path, Policy(accepted=frozenset(("L12",))), barrier=False)
    assert accepted.status is Status.PROVED, undecided(accepted)
    assert "L12" in accepted.axioms


def test_a_barrier_before_the_release_needs_no_l12(tmp_path: Path) -> None:
    for policy in (STRICT, Policy(accepted=frozenset(("L12",)))):
        report = elected(tmp_path, policy, barrier=True)
        assert report.status is Status.PROVED
        assert "L12" not in report.axioms


def test_a_store_in_flight_at_the_end_needs_l6(tmp_path: Path) -> None:
    drained = Policy(accepted=frozenset(("L6",)))
    for wait, policy, status in (
        ("", Policy(), Status.REFUTED),
        ("", drained, Status.PROVED),
        ("bulk_wait_read(0)", drained, Status.PROVED),
        ("bulk_wait_read(0)", Policy(), Status.PROVED),
    ):
        report = verdict(tmp_path, store(wait=wait), policy=policy)
        assert report.status is status
        assert ("L6" in report.axioms) == (status is Status.PROVED and not wait)
        for o in report.obligations:
            if o.status is Status.REFUTED:
                assert o.message.endswith("unless axiom L6 is accepted") and "bulk_wait_read" in (o.help or "")


def test_policy_by_name() -> None:
    assert Policy().in_force == ASSUMED
    assert STRICT.withdrawn == ("F1", "F5", "L1", "L10", "L13", "L14")
    assert Policy(strict=True, accepted=frozenset(STRICT.withdrawn)).in_force == ASSUMED
    assert "L12" in Policy(accepted=frozenset(("L12",))).in_force
    assert find_axiom("warpgroup-wait") is find_axiom("L12") and find_axiom("") is None


ROWS = """def k(A: bf16[64, 16] @ GMEM, C: f32[64, 8] @ GMEM):
    block(128)
    for task in tasks(0, 1):
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        x: f32[1, 64, 8] @ WGMMA_D
        for t in threads(128):
            for i in seq(0, 4):
                b[t // 16, 4 * (t % 16) + i] = 1.0
        fence_proxy_async()
        Fence()
        for t in threads(128):
            for j in seq(0, 8):
                a[t // 2, 8 * (t % 2) + j] = A[t // 2, 8 * (t % 2) + j]
        fence_proxy_async()
        @wait@
        wgmma_fence()
        wgmma(x[0, :, :], a[:, 0:16], b[:, 0:16], accumulate=False)
        wgmma_commit()
        wgmma_wait(0)
        acc_store(C[0:64, 0:8], x[0, :, :])
"""


def test_that_a_warp_reads_its_own_rows_is_an_axiom(tmp_path: Path) -> None:
    """Only a barrier of the whole warpgroup collects the rows that the other warps have written."""
    by_warps = ROWS.replace("@wait@", "for w in threads(4, unit=warp):\n            Fence()")
    assert "F5" in verdict(tmp_path, by_warps).axioms
    ((_, status, _, message),) = undecided(verdict(tmp_path, by_warps, policy=STRICT))
    assert status is Status.REFUTED and message.endswith("unless axiom F5 is accepted")
    together = ROWS.replace("@wait@", "Fence()")
    assert verdict(tmp_path, together).axioms == verdict(tmp_path, together, policy=STRICT).axioms == ("F6", "L5")


def test_the_proofs_page_lists_every_axiom() -> None:
    page = (Path(__file__).parents[2] / "proofs" / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| .* \| ([^|]+) \|$", page, re.MULTILINE))
    rows.pop("axiom")
    words = {a.name: "no" if not a.assumed else "unless `--strict`" if a.alternative else "yes" for a in AXIOMS}
    assert rows == words
