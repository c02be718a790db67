"""Skeletons on which the prover and executions once disagreed: now neither says what is not so."""

from __future__ import annotations

import pytest

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.result import Status
from exogpu.verify.skeleton.verdict import verify_skeleton
from tests.skeleton_oracle.compare import PROVED, attempt
from tests.skeletons.twins import fault, pairs, twins

SIZES = 8


@pytest.mark.parametrize(("rules", "bad", "good"), list(twins("soundness")))
def test_a_fault_is_not_proved_away(rules: str, bad: Skeleton, good: Skeleton) -> None:
    found = fault(bad, SIZES)
    assert found is not None and found.rule in rules.split(" | "), found
    assert attempt(bad)[0] != PROVED
    assert attempt(good) == (PROVED, "")
    assert fault(good, SIZES) is None


@pytest.mark.parametrize(("bad", "good"), list(pairs("soundness", "UNSEEN")))
def test_what_executions_cannot_show_is_not_proved(bad: Skeleton, good: Skeleton) -> None:
    assert fault(bad, SIZES) is None
    assert attempt(bad)[0] != PROVED
    assert attempt(good) == (PROVED, "")


@pytest.mark.parametrize(("impossible", "possible"), list(pairs("soundness", "IMPOSSIBLE")))
def test_preconditions_that_allow_nothing_prove_nothing(impossible: Skeleton, possible: Skeleton) -> None:
    assert verify_skeleton(impossible).status is Status.VACUOUS
    assert verify_skeleton(possible).status is Status.REFUTED
