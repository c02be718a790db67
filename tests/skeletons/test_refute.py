"""Where executions are looked for that go wrong."""

from __future__ import annotations

import runpy

from exogpu.verify.axioms import DEFAULT
from exogpu.verify.result import Status
from exogpu.verify.skeleton.refute import refutation, turned
from exogpu.verify.skeleton.verdict import verify_skeleton
from tests.skeletons.twins import CASES

GIVEN = runpy.run_path(str(CASES / "refute.py"))


def test_a_fault_of_many_iterations_of_one_loop_is_found_before_a_proof_is_tried() -> None:
    assert refutation(GIVEN["WRONG"], DEFAULT, thorough=False) is None
    found = turned(GIVEN["WRONG"], DEFAULT, lowered=False)
    assert found is not None and found.counterexample is not None
    assert found.counterexample.sizes == (("m", 1), ("n", 7)) and not found.counterexample.minimal
    told = verify_skeleton(GIVEN["WRONG"]).obligations[0].counterexample
    assert told is not None and told.sizes == (("m", 0), ("n", 6))


def test_nothing_is_found_in_a_right_one() -> None:
    assert turned(GIVEN["RIGHT"], DEFAULT, lowered=True) is None
    assert verify_skeleton(GIVEN["RIGHT"]).status is Status.PROVED
