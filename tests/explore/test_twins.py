"""Every rule has a smallest bad and a good twin; the explorer finds the one and nothing in the other."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import ASSUMED
from exogpu.verify.explore import Clean, Fault, explore, small_sizes

CASES = Path(__file__).resolve().parent / "cases"
SIZES = 6
"""So many sizes are tried."""


def twins() -> Iterator[ParameterSet]:
    for path in sorted(CASES.glob("*.py")):
        for rule, bad, good in runpy.run_path(str(path))["TWINS"]:
            yield pytest.param(rule, bad, good, id=f"{path.stem}:{bad.name}-{good.name}")


@pytest.mark.parametrize(("rule", "bad", "good"), list(twins()))
def test_twins(rule: str, bad: Skeleton, good: Skeleton) -> None:
    results = (explore(bad, sizes, ASSUMED) for sizes in islice(small_sizes(bad), SIZES))
    fault = next((r for r in results if isinstance(r, Fault)), None)
    assert fault is not None, "nothing was found"
    assert fault.rule == rule, fault.message
    assert fault.message and fault.span.line
    for sizes in islice(small_sizes(good), SIZES):
        assert isinstance(explore(good, sizes, ASSUMED), Clean), sizes
