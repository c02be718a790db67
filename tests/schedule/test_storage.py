"""Dimensions, rings, memories and types of buffers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from exogpu.ir.formats import contains
from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.numeric import convert, storage_dtype
from exogpu.ir.types import Gmem, Rmem, Scalar, Smem
from exogpu.schedule import (
    divide_dim,
    drop_dim,
    expand_dim,
    fission,
    join_dims,
    lift_alloc,
    rearrange_dims,
    resize_dim,
    ring_buffer,
    set_layout,
    set_memory,
    set_type,
    var,
)
from tests.schedule.common import example, keeps_meaning, refusal, start


def test_a_buffer_for_every_iteration_lets_a_loop_be_cut() -> None:
    s = expand_dim(start("squares"), "t: _", 8, var("j"))
    s = lift_alloc(s, "t: _")
    s = fission(s, s.find("t[_] = _").after)
    text = keeps_meaning(s)
    assert "t: f32[8, 1] @ RMEM" in text and "y[i, j_1] = t[j_1, 0] * t[j_1, 0]" in text


def test_a_dimension_of_one_element_goes() -> None:
    s = drop_dim(expand_dim(start("squares"), "t: _", 8, var("j")), "t: _", -1)
    assert "t[j] = x[i, j]" in keeps_meaning(s)
    refusal(lambda: drop_dim(s, "t: _", 0), "schedule.limit")
    refusal(lambda: drop_dim(start("squares"), "t: _", 0), "schedule.limit")


def test_an_index_beyond_the_new_dimension() -> None:
    assert example(lambda: expand_dim(start("squares"), "t: _", 7, "j"))["j"] == 7
    assert example(lambda: expand_dim(start("squares"), "t: _", 8, "j - 1"))["j"] == 0
    keeps_meaning(expand_dim(start("squares"), "t: _", 4, "j % 4", 1))
    refusal(lambda: expand_dim(start("squares"), "t: _", 8, "q"), "schedule.expression")
    refusal(lambda: expand_dim(start("squares"), "t: _", 8, "j", 2), "schedule.limit")
    refusal(lambda: expand_dim(start("squares"), "y[_] = _", 8, "j"), "schedule.pattern")


def test_the_index_is_known_where_the_buffer_is_allocated() -> None:
    refusal(lambda: expand_dim(lift_alloc(start("squares"), "t: _"), "t: _", 8, "j"), "schedule.expression")


def test_resize_and_rearrange() -> None:
    s = resize_dim(start("corner"), "t: _", 0, 3, 2)
    s = resize_dim(s, "t: _", -1, 4)
    text = keeps_meaning(rearrange_dims(s, "t: _", (1, 0)))
    assert "t: f32[4, 3] @ RMEM" in text and "t[b, a] = x[i]" in text and "y[i] = t[3, 2]" in text
    assert example(lambda: resize_dim(start("corner"), "t: _", 0, 2, 2))["a"] == 2
    assert example(lambda: resize_dim(start("corner"), "t: _", 0, 3, 3))["a"] == 0
    assert example(lambda: resize_dim(start("corner"), "t: _", 1, 3))["i"] >= 0
    refusal(lambda: resize_dim(start("corner"), "t: _", 2, 3), "schedule.limit")
    refusal(lambda: rearrange_dims(start("corner"), "t: _", (0, 0)), "schedule.limit")


def test_divide_and_join_dimensions() -> None:
    s = divide_dim(start("corner"), "t: _", 0, 4)
    text = keeps_meaning(s)
    assert "t: f32[2, 4, 6] @ RMEM" in text and "t[(a + 2) // 4, (a + 2) % 4, b] = x[i]" in text
    s = join_dims(s, "t: _", 0)
    assert "t[a + 2, b] = x[i]" in keeps_meaning(s)
    s = join_dims(start("corner"), "t: _", 0)
    assert "t[6 * (a + 2) + b] = x[i]" in keeps_meaning(s)
    refusal(lambda: divide_dim(start("corner"), "t: _", 0, 3), "schedule.limit")
    refusal(lambda: join_dims(start("corner"), "t: _", 1), "schedule.limit")


@pytest.mark.parametrize(("name", "depth"), [("delayed", 2), ("window_of_three", 3), ("growing", 1)])
def test_a_dimension_becomes_a_ring(name: str, depth: int) -> None:
    s = ring_buffer(start(name), "t: _", depth, 0)
    text = keeps_meaning(s)
    assert (f"t[k % {depth}" in text or f"t[(k + 1) % {depth}]" in text) == (depth > 1)
    assert not s.reassociated
    if depth > 1:
        found = example(lambda: ring_buffer(start(name), "t: _", depth - 1, 0))
        assert "k''" in found
    refusal(lambda: ring_buffer(start(name), "t: _", 65, 0), "schedule.limit")


def test_a_ring_of_buffers() -> None:
    s = set_memory(start("squares"), "t: _", Smem())
    assert "@ SMEM(ring=3)" in keeps_meaning(ring_buffer(s, "t: _", 3))
    refusal(lambda: ring_buffer(start("squares"), "t: _", 3), "schedule.limit")
    refusal(lambda: ring_buffer(s, "t: _", 0), "schedule.limit")


def test_memory_and_layout() -> None:
    s = set_memory(start("squares"), "t: _", Smem(swizzle=64))
    assert "@ SMEM(swizzle=64)" in keeps_meaning(s)
    s = set_layout(s, "t: _", swizzle=128, pool="p", offset=1024)
    assert "@ SMEM(swizzle=128, pool='p', offset=1024)" in keeps_meaning(s).replace('"', "'")
    refusal(lambda: set_memory(s, "t: _", Gmem()), "schedule.limit")
    refusal(lambda: set_layout(start("squares"), "t: _", swizzle=128), "schedule.limit")


def test_what_instructions_use() -> None:
    s = expand_dim(start("vectors"), "t: _", 2, var("i") % 2)
    text = keeps_meaning(s)
    assert "vec_copy(t[i % 2, :], x[i, 0 : 4])" in text
    assert "t[i % 2, 1 : 5]" in keeps_meaning(resize_dim(s, "t: _", 1, 8, -1))
    assert "@ SMEM" in keeps_meaning(set_memory(s, "t: _", Smem()))
    refusal(lambda: resize_dim(s, "t: _", 1, 3), "schedule.condition")
    refusal(lambda: divide_dim(s, "t: _", 1, 2), "schedule.limit")
    refusal(lambda: rearrange_dims(s, "t: _", (1, 0)), "schedule.limit")
    refusal(lambda: set_memory(s, "t: _", Rmem(threads=2)), "schedule.limit")


def test_a_type_that_holds_the_same_numbers() -> None:
    s = set_type(start("narrow_values"), "t: _", Scalar.BF16)
    assert "t: bf16[2] @ RMEM" in keeps_meaning(s)
    keeps_meaning(set_type(s, "t: _", Scalar.F32))
    refusal(lambda: set_type(s, "t: _", Scalar.F16), "schedule.limit")
    refusal(lambda: set_type(s, "t: _", Scalar.F64), "schedule.limit")
    refusal(lambda: set_type(start("vectors"), "t: _", Scalar.BF16), "schedule.limit")


@pytest.mark.parametrize("name", ["t", "u", "v"])
def test_a_type_that_rounds(name: str) -> None:
    refusal(lambda: set_type(start("wide_values"), f"{name}: _", Scalar.BF16), "schedule.limit")


def test_a_type_to_which_the_algorithm_rounds_anyway() -> None:
    s = set_type(start("rounded_later"), "t: _", Scalar.BF16)
    assert "t: bf16[1] @ RMEM" in s.show()
    args = random_inputs(s.proc, {"N": 1000}, seed=1)
    want, got = interpret(s.original, args), interpret(s.proc, args)
    np.testing.assert_array_equal(got["y"], want["y"])
    refusal(lambda: set_type(start("rounded_later"), "t: _", Scalar.F16), "schedule.limit")
    refusal(lambda: set_type(start("rounded_later"), "u: _", Scalar.BF16), "schedule.limit")


@pytest.mark.parametrize("name", ["t", "u", "v"])
def test_a_value_that_would_be_rounded_once_more_or_less(name: str) -> None:
    refusal(lambda: set_type(start("rounded_twice"), f"{name}: _", Scalar.BF16), "schedule.limit")


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_which_types_contain_which() -> None:
    """Compared with the conversion of every number of the narrow types."""
    narrow = (Scalar.BF16, Scalar.F16, Scalar.E4M3, Scalar.E5M2, Scalar.I8, Scalar.U8)
    for one, other in product(narrow, narrow):
        every = np.arange(2**one.bits, dtype=np.uint32).astype(f"uint{one.bits}")
        numbers = every.view(storage_dtype(one)).astype(np.float32)
        numbers = convert(numbers[~np.isnan(numbers)], one)
        assert contains(other, one) == bool((convert(numbers, other) == numbers).all()), (one, other)
    assert all(contains(Scalar.F32, one) and contains(Scalar.F64, one) for one in narrow)
    assert contains(Scalar.TF32, Scalar.BF16) and not contains(Scalar.F16, Scalar.TF32)
    assert contains(Scalar.I32, Scalar.U8) and not contains(Scalar.U8, Scalar.I8)
    assert contains(Scalar.BF16, Scalar.U8) and not contains(Scalar.F32, Scalar.I32)
    assert all(contains(one, one) for one in Scalar)
