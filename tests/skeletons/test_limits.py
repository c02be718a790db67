"""What a proof has no model of is named."""

from __future__ import annotations

import runpy

import pytest

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.result import Status
from exogpu.verify.skeleton.unsupported import NotModelled
from exogpu.verify.skeleton.verdict import proof, verify_skeleton
from tests.skeletons.twins import CASES


@pytest.mark.parametrize(("reason", "skeleton"), runpy.run_path(str(CASES / "limits.py"))["LIMITS"])
def test_no_model(reason: str, skeleton: Skeleton) -> None:
    with pytest.raises(NotModelled, match=reason):
        list(proof(skeleton, DEFAULT))
    report = verify_skeleton(skeleton)
    (open_,) = report.obligations
    assert report.status is open_.status is Status.UNKNOWN
    assert open_.reason == reason and open_.help and open_.span.line > skeleton.span.line


@pytest.mark.parametrize(("status", "skeleton"), runpy.run_path(str(CASES / "limits.py"))["ENDLESS"])
def test_what_is_too_much_is_not_tried(status: str, skeleton: Skeleton) -> None:
    assert verify_skeleton(skeleton).status is Status[status]
