"""Unknown numbers that are the same in the whole run: a skeleton is right if it is right whatever they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from exogpu.ir.evaluate import holds
from exogpu.ir.index import Index, Int
from exogpu.ir.skeleton.tree import Block, If, Let, Skeleton, Stmt
from exogpu.ir.skeleton.walk import children, with_blocks
from exogpu.ir.walk import index_names, substitute_cond

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
        env = {v: Int(number) for v, number in zip(chosen, numbers, strict=True)}
        bodies = tuple(replace(b, stmts=(*given, *_chosen(b.stmts, env))) for b in skeleton.bodies)
        shown = ", ".join(f"{v} = {number}" for v, number in zip(chosen, numbers, strict=True))
        yield shown, replace(skeleton, unknowns=rest, bodies=bodies)


def _chosen(block: Block, env: Mapping[str, Index]) -> Block:
    """A block in which branches that these numbers decide are taken or left out."""
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case If(cond=cond, then=then, orelse=orelse) if not index_names(test := substitute_cond(cond, env)):
                out += _chosen(then if holds(test, {}) else orelse, env)
            case _:
                out.append(with_blocks(stmt, [_chosen(inner, env) for inner in children(stmt)]))
    return tuple(out)
