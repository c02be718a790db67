"""What a proof has no model of is named."""

from __future__ import annotations

import runpy

import pytest

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.skeleton.unsupported import NotModelled
from exogpu.verify.skeleton.verdict import proof
from tests.skeletons.twins import CASES


@pytest.mark.parametrize(("reason", "skeleton"), runpy.run_path(str(CASES / "limits.py"))["LIMITS"])
def test_no_model(reason: str, skeleton: Skeleton) -> None:
    with pytest.raises(NotModelled, match=reason):
        list(proof(skeleton, DEFAULT))
