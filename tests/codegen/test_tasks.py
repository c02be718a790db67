"""The raster decode visits every task once, groups of the first loop walked fastest, the last group smaller."""

from __future__ import annotations

import itertools

import pytest

from exogpu.codegen.cuda.tree import IntLit, Name
from exogpu.codegen.lower.tasks import decode
from tests.codegen.tree_value import run


def coordinates(counts: tuple[int, ...], raster: int, offset: int = 0) -> list[tuple[int, ...]]:
    names = [Name(f"v{i}") for i in range(len(counts))]
    found = decode(Name("task"), names, [IntLit(n) for n in counts], [IntLit(offset)] * len(counts), raster)
    total = 1
    for n in counts:
        total *= n
    environments = (run(found, {"task": task}) for task in range(total))
    return [tuple(env[n.text] for n in names) for env in environments]


def grouped(counts: tuple[int, ...], raster: int) -> list[tuple[int, ...]]:
    """The order in words: for each group of the first loop, for the others in order, for each of the group."""
    first, *rest = counts
    order = []
    for start in range(0, first, raster):
        for others in itertools.product(*(range(n) for n in rest)):
            order += [(i, *others) for i in range(start, min(start + raster, first))]
    return order


@pytest.mark.parametrize("counts", [(1, 1), (5, 3), (16, 4), (33, 7), (3, 100), (4, 3, 5), (9, 2, 3, 2)])
@pytest.mark.parametrize("raster", [2, 3, 8, 16])
def test_raster_order(counts: tuple[int, ...], raster: int) -> None:
    assert coordinates(counts, raster) == grouped(counts, raster)


@pytest.mark.parametrize("counts", [(7,), (3, 4), (2, 3, 4), (2, 3, 2, 2)])
def test_row_major_order(counts: tuple[int, ...]) -> None:
    assert coordinates(counts, 1) == list(itertools.product(*(range(n) for n in counts)))


def test_loops_that_do_not_start_at_zero() -> None:
    assert coordinates((3, 2), 2, offset=10) == [(i + 10, j + 10) for i, j in grouped((3, 2), 2)]


def test_raster_of_a_single_loop_changes_nothing() -> None:
    assert coordinates((9,), 4) == [(i,) for i in range(9)]
