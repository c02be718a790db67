"""Every skeleton of the corpus gets the verdict that is expected of it."""

from __future__ import annotations

import pytest

from exogpu.codes import lookup
from tests.skeletons.corpus import PROVED, UNSUPPORTED, Answer, Case, cases, expectations, files, judge, skeletons


@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_verdict(case: Case) -> None:
    outcome = judge(case)
    assert outcome.answer is Answer.RIGHT, f"expected {' | '.join(case.expected)}, got {outcome.got}"


@pytest.mark.parametrize("file", files())
def test_every_skeleton_has_an_expected_verdict(file: str) -> None:
    wanted = {w for alternatives in expectations(file).values() for w in alternatives}
    assert set(expectations(file)) == set(skeletons(file))
    assert [w for w in wanted - {PROVED, UNSUPPORTED} if lookup(w) is None] == []
