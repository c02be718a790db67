"""Small problem sizes that are worth a try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from exogpu.ir.evaluate import holds
from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Index, Int, Not
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.ir.walk import index_names

MOST = 12
"""The largest value of a size that is tried, unless a precondition names others."""
LARGEST = 512
"""The largest number in a precondition that is tried."""
ASSIGNMENTS = 200
POINTS = 20_000
"""Assignments among which those that the preconditions allow are looked for."""


def small_sizes(skeleton: Skeleton) -> Iterator[dict[str, int]]:
    """Sizes that the preconditions allow, smallest first: small ones, and those near the numbers of preconditions."""
    named = {n + d for r in skeleton.requires for n in _numbers(r.cond) if n < LARGEST for d in (0, 1)}
    values = sorted({*range(MOST + 1), *named})
    while len(values) ** len(skeleton.sizes) > POINTS:
        values = values[:-1]
    points = sorted(product(values, repeat=len(skeleton.sizes)), key=lambda p: (max(p, default=0), sum(p), p))
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


def _numbers(e: Index | Cond) -> Iterator[int]:
    match e:
        case Int(value):
            yield value
        case Bin(_, left, right) | Cmp(_, left, right):
            yield from _numbers(left)
            yield from _numbers(right)
        case BoolOp(_, args):
            for a in args:
                yield from _numbers(a)
        case Not(arg):
            yield from _numbers(arg)
        case _:
            return
