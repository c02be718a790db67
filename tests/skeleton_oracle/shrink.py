"""Smaller programs that still show a disagreement: lines are taken out one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.skeleton_oracle.lines import Block, put, walk
from tests.skeleton_oracle.program import well_formed


def shrink(block: Block, still: Callable[[Block], bool]) -> Block:
    """A program from which no line can be taken so that `still` holds; `still` holds for `block`."""
    smaller = next((b for b in _smaller(block) if well_formed(b) and still(b)), None)
    return block if smaller is None else shrink(smaller, still)


def _smaller(block: Block) -> Iterator[Block]:
    for path, line in walk(block):
        if len(path) > 1:
            yield put(block, path)
            if line.body and len(path) > 2:
                yield put(block, path, *line.body)
