"""Small problem sizes that are worth a try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from exogpu.ir.evaluate import holds
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.ir.walk import index_names

MOST = 12
"""The largest value of a size that is tried, unless a precondition asks for more."""
ASSIGNMENTS = 200


def small_sizes(skeleton: Skeleton) -> Iterator[dict[str, int]]:
    """Sizes that the preconditions allow, smallest first."""
    candidates = [range(MOST + 1)] * len(skeleton.sizes)
    points = sorted(product(*candidates), key=lambda p: (max(p, default=0), sum(p), p))
    found = 0
    for point in points:
        sizes = dict(zip(skeleton.sizes, point, strict=True))
        if _allowed(skeleton, sizes):
            yield sizes
            found += 1
            if found == ASSIGNMENTS:
                return


def _allowed(skeleton: Skeleton, sizes: Mapping[str, int]) -> bool:
    return all(holds(r.cond, sizes) for r in skeleton.requires if index_names(r.cond) <= set(sizes))
