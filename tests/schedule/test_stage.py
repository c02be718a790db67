"""Windows of tensors staged in other memories: loads, stores, sums, edges, and what is refused."""

from __future__ import annotations

import pytest

from exogpu.ir.types import Smem
from exogpu.schedule import stage, var, window
from tests.schedule.common import example, keeps_meaning, refusal, start

TILE = (window("A", (4 * var("io"), 4), (2 * var("ko"), 2)), "sA", Smem(swizzle=128))


def test_a_tile_with_zeros_beyond_the_edges() -> None:
    s = stage(start("product"), "i", *TILE, edges="zero")
    text = keeps_meaning(s)
    assert "sA: f32[4, 2] @ SMEM(swizzle=128)" in text
    assert "sA[sA_0, sA_1] = select(" in text and "4 * io + sA_0 < M and 2 * ko + sA_1 < K" in text
    assert "sA[i, k] * B[" in text and ">= 0" not in text and "sA.store" not in str(s.steps[-1].labels)
    assert s.find("sA.load").next() == s.find("i")


def test_a_tile_of_which_only_what_exists_is_loaded() -> None:
    text = keeps_meaning(stage(start("product"), "i", *TILE, edges="guard"))
    assert "if 4 * io + sA_0 < M and 2 * ko + sA_1 < K:" in text and "select" not in text


def test_a_tile_that_is_taken_to_be_in_bounds() -> None:
    found = example(lambda: stage(start("product"), "i", *TILE))
    assert 4 * found["io"] + found["sA_0"] >= found["M"] or 2 * found["ko"] + found["sA_1"] >= found["K"]


def test_a_window_that_is_too_small() -> None:
    small = window("A", (4 * var("io"), 4), (2 * var("ko"), 1))
    assert example(lambda: stage(start("product"), "i", small, "sA", edges="zero"))["k"] == 1
    wrong = "A[4 * io : 4 * io + 4, ko : ko + 2]"
    assert example(lambda: stage(start("product"), "i", wrong, "sA", edges="zero"))["ko"] > 0


def test_a_row_that_is_loaded_and_one_that_is_stored() -> None:
    s = stage(start("mirrored"), "j", "x[i, :]", "a")
    s = stage(s, "j", "y[i, 0:4]", "b", before="nothing")
    text = keeps_meaning(s)
    assert "b[j] = a[j] + a[3 - j]" in text and "y[i, b_0] = b[b_0]" in text and "a[a_0] = x[i, a_0]" in text
    assert s.find("b.store").prev() == s.find("j")


def test_an_element() -> None:
    s = stage(start("mirrored"), "y[_] = _", "y[i, j]", "t", before="nothing")
    assert "t[0] = x[i, j] + x[i, 3 - j]" in keeps_meaning(s) and "y[i, j] = t[0]" in s.show()


def test_a_halo() -> None:
    s = stage(start("stencil"), "i", "x[4 * io - 1 : 4 * io + 5]", "tile", edges="zero")
    text = keeps_meaning(s)
    assert "select(4 * io - 1 + tile_0 >= 0 and 4 * io - 1 + tile_0 < N" in text
    assert "tile[i] + tile[i + 2]" in text
    assert example(lambda: stage(start("stencil"), "i", "x[4 * io : 4 * io + 5]", "tile", edges="zero"))["i"] == 0


def test_load_and_store() -> None:
    text = keeps_meaning(stage(start("scaled"), "j", "y[i, :]", "t"))
    assert "t[t_0] = y[i, t_0]" in text and "y[i, t_0_1] = t[t_0_1]" in text
    refusal(lambda: stage(start("scaled"), "j", "y[i, :]", "t", before="nothing"), "schedule.limit")


def test_what_is_stored_must_have_been_written_or_loaded() -> None:
    loop = start("partly").find("j")
    keeps_meaning(stage(start("partly"), loop.until(loop.next()), "y[i, :]", "t"))
    keeps_meaning(stage(start("partly"), loop.until(loop.next()), "y[i, :3]", "t", before="nothing"))
    found = example(lambda: stage(start("partly"), loop.until(loop.next()), "y[i, :]", "t", before="nothing"))
    assert found["t_0"] == 3
    refusal(lambda: stage(start("partly"), "y[_] += _", "y[i, :1]", "t", before="nothing"), "schedule.limit")


def test_sums() -> None:
    tile = "C[4 * io : 4 * io + 4, 2 * jo : 2 * jo + 2]"
    s = stage(start("product"), "ko", tile, "acc", edges="guard", before="zero")
    text = keeps_meaning(s)
    assert s.reassociated and "acc[acc_0, acc_1] = 0.0" in text and "+= acc[acc_0_1, acc_1_1]" in text
    s = stage(start("product"), "ko", tile, "acc", edges="guard")
    assert not s.reassociated and "= acc[acc_0_1, acc_1_1]" in keeps_meaning(s)
    refusal(lambda: stage(start("scaled"), "j", "y[i, :]", "t", before="zero"), "schedule.limit")
    refusal(lambda: stage(start("narrow_sum"), "i", "s[:]", "t", before="zero"), "schedule.limit")


def test_accesses_outside_the_window_stay_there() -> None:
    text = keeps_meaning(stage(start("rows_in_turn"), "j", "x[i, :]", "t"))
    assert "t[j] += x[i - 1, j] + t[0]" in text
    found = example(lambda: stage(start("rows_by_halves"), "j", "x[i, :]", "t"))
    assert found["i"] > 0
    refusal(lambda: stage(start("rows_in_turn"), "j", "x[i - 1, :]", "t", before="zero"), "schedule.limit")
    refusal(lambda: stage(start("mirrored"), "j", "x[i + 1, :]", "t"), "schedule.limit")


def test_instructions_in_and_outside_the_window() -> None:
    s = start("rows_of_vectors")
    body = s.find("vec_copy(_) #0").until(s.find("vec_copy(_) #1"))
    text = keeps_meaning(stage(s, body, "x[i, :]", "u", before="nothing"))
    assert "vec_copy(t[:], x[i - 1, 0 : 4])" in text and "vec_copy(y[0 : 4], u[:])" in text
    example(lambda: stage(s, body, "x[i, 0:3]", "u", before="nothing"))


@pytest.mark.parametrize("text", ["x", "q[0]", "x[0, 0, 0]", "x[0:4:2, 0]", "x[", "x[0:0, 0]", "x[i, :]"])
def test_what_is_no_window(text: str) -> None:
    refusal(lambda: stage(start("mirrored"), "i", text, "t"), "schedule.expression")


def test_what_cannot_be_staged() -> None:
    refusal(lambda: stage(start("mirrored"), "i", "x[0:N, 0]", "t"), "schedule.limit")
    refusal(lambda: stage(start("mirrored"), "j", "x[i, :]", "y"), "schedule.limit")
    refusal(lambda: stage(start("mirrored"), "i", "x[0, :]", "t"))
    refusal(lambda: stage(start("scratch"), "i", "t[0]", "u"), "schedule.limit")
    refusal(lambda: stage(start("copy"), "y[_] = _", "x[i + 1]", "t"), "schedule.limit")
    refusal(lambda: stage(start("total"), "i", "x[0, 0]", "t", edges="guard"))


def test_a_buffer_of_the_procedure() -> None:
    s = stage(start("scratch"), "y[_] = _", "t[0]", "u")
    assert "y[i] = u[0] * u[0]" in keeps_meaning(s)
