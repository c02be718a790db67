"""Unknown numbers that are the same in the whole run: a skeleton is right if it is right whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod

from exogpu.ir.index import Int
from exogpu.ir.skeleton.tree import Let, Skeleton
from exogpu.ir.walk import index_names

MOST = 4
"""Most cases that are told apart."""


def cases(skeleton: Skeleton) -> Iterator[tuple[str, Skeleton]]:
    """The skeleton with every unknown number that depends on sizes alone as a given one, and which these are in words;
    the skeleton itself if there is none, or if the cases are too many."""
    sizes = set(skeleton.sizes)
    chosen = {v: u for v, u in skeleton.unknowns if all(index_names(a) <= sizes for a in u.args)}
    if not chosen or prod(u.below for u in chosen.values()) > MOST:
        yield "", skeleton
        return
    rest = tuple((v, u) for v, u in skeleton.unknowns if v not in chosen)
    for numbers in product(*(range(u.below) for u in chosen.values())):
        given = tuple(Let(v, Int(number)) for v, number in zip(chosen, numbers, strict=True))
        bodies = tuple(replace(b, stmts=(*given, *b.stmts)) for b in skeleton.bodies)
        shown = ", ".join(f"{v} = {number}" for v, number in zip(chosen, numbers, strict=True))
        yield shown, replace(skeleton, unknowns=rest, bodies=bodies)
