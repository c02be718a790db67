"""Axioms in proofs of skeletons: listed where one is used, and no proof without it."""

from __future__ import annotations

import runpy

import pytest

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import Policy
from exogpu.verify.result import Status
from exogpu.verify.skeleton.verdict import proof, verify_skeleton
from tests.skeletons.twins import CASES, twins

PROVED = Status.PROVED


@pytest.mark.parametrize(("axiom", "leaning", "free"), list(twins("axioms")))
def test_a_proof_that_stands_on_an_axiom(axiom: str, leaning: Skeleton, free: Skeleton) -> None:
    found = verify_skeleton(leaning)
    assert found.status is PROVED and axiom in found.axioms
    for policy in (Policy(without=frozenset({axiom})), Policy(strict=True)):
        assert any(o.status is not PROVED for o in proof(leaning, policy))
    accepted = verify_skeleton(leaning, Policy(strict=True, accepted=frozenset({axiom})))
    assert accepted.status is PROVED and axiom in accepted.axioms
    alone = verify_skeleton(free, Policy(strict=True))
    assert alone.status is PROVED and axiom not in alone.axioms


def test_the_axiom_that_is_missing_is_named() -> None:
    waits, does_not = runpy.run_path(str(CASES / "axioms.py"))["OVERWRITTEN"]
    (reason,) = {o.reason for o in proof(waits, Policy(without=frozenset({"L5"}))) if o.status is not PROVED}
    assert reason.startswith("only axiom L5, which is not accepted, orders the two with n = ")
    reasons = [o.reason for o in proof(does_not, Policy(without=frozenset({"L5"}))) if o.rule == "race.raw"]
    assert any(r.startswith("nothing orders the two with n = ") for r in reasons), reasons
