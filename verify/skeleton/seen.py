"""What one execution at a small size shows of a skeleton: a guess, which is shown to be right afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.explore import Observation, observe, small_sizes
from exogpu.verify.explore.outcome import Excessive

LEAST = (2, 6)
"""Iterations of loops that are tried: enough to see that they are alike, and enough to have gone round a ring."""
SEEDS = 2
"""Executions that are tried for each, with other unknown numbers."""
TRIED = 100


def seen(skeleton: Skeleton) -> Iterator[list[Observation]]:
    """What threads do at barriers in some executions in which all goes well."""
    small = [*islice(small_sizes(skeleton), TRIED)]
    first = [next((s for s in small if min(s.values(), default=least) >= least), None) for least in LEAST]
    for n, sizes in enumerate(first):
        for seed in range(SEEDS) if sizes is not None and sizes not in first[:n] else ():
            try:
                yield observe(skeleton, sizes or {}, seed=seed)
            except Excessive:
                return
