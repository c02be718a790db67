"""Procedures that differ in one detail, which matters or does not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from exogpu.equiv.equivalent import equivalent
from exogpu.equiv.result import Equivalence, Verdict
from exogpu.ir.proc import Proc
from exogpu.lang import load
from exogpu.source import Span

SAME = (
    ("copy", "copy_in_tiles"),
    ("copy", "copy_whole_tiles"),
    ("copy", "copy_odd"),
    ("copy", "copy_backwards"),
    ("copy", "copy_twice"),
    ("copy", "copy_through_ring"),
    ("copy", "copy_with_select"),
    ("copy_rounded", "copy_cast"),
    ("products", "products_reversed"),
    ("whole_total", "whole_total_by_columns"),
    ("narrow_total", "narrow_total_in_tiles"),
    ("scaled", "scaled_reversed"),
    ("exponentials", "exponentials_bound"),
    ("untouched", "stored_again"),
    ("largest", "largest_by_columns"),
    ("total", "total_in_tiles"),
    ("cleared_total", "cleared_total_in_padded_tiles"),
    ("positive_part", "positive_part_of_sum"),
)
UP_TO_ORDER = (
    ("total", "total_by_columns"),
    ("total", "total_in_padded_tiles"),
    ("total", "total_in_interleaved_tiles"),
    ("counted", "counted_by_columns"),
)
"""A total that starts with -0 is changed by the zeros of a padded tile."""
DIFFERENT = (
    ("copy", "copy_all_but_one"),
    ("copy", "mirror"),
    ("copy_twice", "overwritten"),
    ("copy", "copy_through_one_slot"),
    ("copy", "copy_rounded"),
    ("copy", "shifted"),
    ("copy", "zero"),
    ("doubled", "added_thrice"),
    ("differences", "differences_reversed"),
    ("spread", "moved"),
    ("total", "total_of_triangle"),
    ("narrow_total", "narrow_total_by_columns"),
    ("wrapped", "not_wrapped"),
    ("scaled", "rounded_then_scaled"),
    ("exponentials", "exponentials_of_first"),
    ("largest", "smallest"),
    ("largest", "largest_but_first"),
    ("positive_part", "sum_of_positive_part"),
)
UNKNOWN = (
    ("doubled", "added_twice", "no proof that both leave the same in `y`"),
    ("largest", "largest_of_parts", "the values of `row` are a recurrence that is no sum"),
    ("zero", "times_zero", "no proof that both leave the same in `y`"),
    ("unwritten", "unwritten", "`t` is read where nothing is known to have been written to it"),
    ("copy", "copy_too_far", "no proof that `copy_too_far` stays inside `y`"),
    ("wide_sum", "wide_sum_of_rounded", "sums in f32 of values of a wider type are rounded at every step"),
    ("mixed", "wide", "no proof that both leave the same in `y`"),
)


@cache
def twins() -> Mapping[str, Proc]:
    cases = Path(__file__).parent / "cases"
    return {**load(cases / "twins.py"), **load(cases / "sums.py")}


def proc(name: str) -> Proc:
    return twins()[name]


def source(span: Span) -> str:
    """The text at a place."""
    line = Path(span.file).read_text(encoding="utf-8").splitlines()[span.line - 1]
    return line[span.col : span.end_col]


def compared(a: str, b: str) -> Equivalence:
    found = equivalent(proc(a), proc(b))
    assert equivalent(proc(b), proc(a)).verdict is found.verdict
    return found


@pytest.mark.parametrize(("a", "b"), SAME)
def test_a_detail_that_does_not_matter(a: str, b: str) -> None:
    found = compared(a, b)
    assert found.proved and found.reassociated == ()


@pytest.mark.parametrize(("a", "b"), UP_TO_ORDER)
def test_sums_in_another_order(a: str, b: str) -> None:
    found = compared(a, b)
    assert found.proved and found.reassociated == found.tensors


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_a_detail_that_matters(a: str, b: str) -> None:
    found = compared(a, b)
    assert found.verdict is Verdict.REFUTED
    assert found.difference is not None and found.difference.a != found.difference.b


@pytest.mark.parametrize(("a", "b", "reason"), UNKNOWN)
def test_what_is_neither_proved_nor_refuted(a: str, b: str, reason: str) -> None:
    found = compared(a, b)
    assert found.verdict is Verdict.UNKNOWN
    assert reason in found.reason
    assert found.span is not None and "[" in source(found.span)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ("doubled", "added_twice", "a sum of two in f32 in `doubled` is not matched with a sum over iterations in f32"),
        ("zero", "times_zero", "0 in `zero` is not matched with a product in f32 in `times_zero`"),
        ("mixed", "wide", " in `mixed` is not matched with "),
    ],
)
def test_what_was_not_matched_and_where(a: str, b: str, text: str) -> None:
    found = compared(a, b)
    assert text in found.reason
    assert found.span is not None and source(found.span).startswith("y[i]")
    (label,) = found.labels
    assert source(label.span).startswith("y[i]")
    assert label.text == f"compared with this, in `{a}`"
    inside = [proc(name).span.line for name in (a, b)]
    assert label.span.line > inside[0] and found.span.line > inside[1]


@pytest.mark.parametrize("name", sorted({name for pair in (*SAME, *UP_TO_ORDER) for name in pair}))
def test_everything_is_the_same_as_itself(name: str) -> None:
    found = equivalent(proc(name), proc(name))
    assert found.proved and found.reassociated == ()


def test_preconditions_of_both_are_assumed() -> None:
    assert equivalent(proc("copy_odd"), proc("copy")).assumed == ("N % 2 == 1",)


def test_preconditions_that_contradict_each_other() -> None:
    found = equivalent(proc("copy_odd"), proc("copy_whole_tiles"))
    assert found.verdict is Verdict.VACUOUS
