"""Every skeleton of the corpus gets the verdict that is expected of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.codes import lookup
from tests.skeletons.corpus import PROVED, UNSUPPORTED, Answer, Case, cases, constants, files, judge, skeletons


@pytest.mark.parametrize("case", cases(), ids=str)
def test_verdict(case: Case) -> None:
    outcome = judge(case)
    assert outcome.answer is Answer.RIGHT, f"expected {' | '.join(case.expected)}, got {outcome.got}"


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_file_says_what_it_is_and_what_is_expected(path: Path) -> None:
    given = constants(path)
    assert isinstance(given["CLASS"], str)
    assert isinstance(given["EXPECT"], dict)
    assert set(given["EXPECT"]) == set(skeletons(path.stem))
    wanted = {w for alternatives in given["EXPECT"].values() for w in alternatives.split(" | ")}
    assert [w for w in wanted - {PROVED, UNSUPPORTED} if lookup(w) is None] == []
