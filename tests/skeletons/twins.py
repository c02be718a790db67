"""Pairs of skeletons that differ in one place: one goes wrong, the other does not."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import ASSUMED
from exogpu.verify.explore import Fault, explore, small_sizes

CASES = Path(__file__).resolve().parent / "cases"


def twins(prefix: str) -> Iterator[ParameterSet]:
    """What `TWINS` lists in the files whose names begin so: a word about each pair, the bad one, the good one."""
    for stem, n, pair in _listed(prefix, "TWINS"):
        yield pytest.param(*pair, id=f"{stem}:{n}:{pair[0]}")


def pairs(prefix: str, name: str) -> Iterator[ParameterSet]:
    """Pairs that files list under another name, if they do."""
    for stem, n, pair in _listed(prefix, name):
        yield pytest.param(*pair, id=f"{stem}:{n}")


def _listed(prefix: str, name: str) -> Iterator[tuple[str, int, tuple[object, ...]]]:
    for path in sorted(CASES.glob(f"{prefix}*.py")):
        for n, pair in enumerate(runpy.run_path(str(path)).get(name, ())):
            yield path.stem, n, pair


def fault(skeleton: Skeleton, sizes: int) -> Fault | None:
    """What goes wrong at one of so many small sizes."""
    found = (explore(skeleton, s, ASSUMED, effort=2) for s in islice(small_sizes(skeleton), sizes))
    return next((f for f in found if isinstance(f, Fault)), None)
