"""Parts of procedures as procedures: taken out, scheduled, put back; and replaced by others."""

from __future__ import annotations

from exogpu.ir.types import Smem
from exogpu.schedule import (
    divide,
    extract,
    fuse,
    label,
    launch,
    put_back,
    reorder,
    replace_by,
    restrict,
    set_memory,
    shift,
    simplify,
    stage,
)
from tests.schedule.common import algorithm, example, keeps_meaning, refusal, same_results, start


def test_a_part_is_scheduled_by_itself() -> None:
    s = divide(start("copy"), "i", 4, tail="guard")
    loop, store = s.find("ii"), s.find("y[_] = _")
    part = extract(s, loop, "tile")
    assert "io: size" in part.show() and "require(io < ceildiv(N, 4))" in part.show().replace("0 <= io and ", "")
    assert same_results(part.proc, part.proc) > 0
    part = stage(part, "ii", "x[4 * io : 4 * io + 4]", "t", edges="guard")
    part = label(part, "inner", "ii")
    s = put_back(s, loop, part)
    text = keeps_meaning(s)
    assert "y[4 * io + ii] = t[ii]" in text and s.find("inner") == s.forward(loop)
    assert s.find("t.load").next() == s.find("inner") and str(s.forward(store)).endswith("t[ii]")
    assert s.steps[-1].call == "put_back(`for ii in seq(0, 4):`, tile in 2 steps)" and s.steps[-1].obligations
    assert s.replay().show() == text


def test_names_that_are_taken() -> None:
    s = start("apart")
    part = extract(s, "i", "first")
    part = divide(part, "i", 4, tail="guard", names=("j", "k"))
    assert "for j_1 in seq(0, ceildiv(N, 4)):" in keeps_meaning(put_back(s, "i", part))


def test_what_a_part_assumes_is_proved() -> None:
    s = start("multiple")
    part = divide(restrict(extract(s, "i", "part"), "N % 2 == 0"), "i", 2)
    keeps_meaning(put_back(s, "i", part))
    part = divide(restrict(extract(s, "i", "part"), "N % 8 == 0"), "i", 8)
    assert example(lambda: put_back(s, "i", part))["N"] % 8


def test_sums_in_another_order_are_reported() -> None:
    s = start("total")
    part = reorder(extract(s, "i", "part"), "i")
    assert part.reassociated and put_back(s, "i", part).reassociated


def test_what_cannot_be_put_back() -> None:
    s = start("apart")
    part = extract(s, "i", "first")
    refusal(lambda: put_back(s, "j", part), "schedule.limit")
    refusal(lambda: put_back(s, "i", launch(part, 32)), "schedule.limit")
    refusal(lambda: put_back(fuse(s, "i"), "i", part), "schedule.limit")


def test_what_cannot_be_taken_out() -> None:
    refusal(lambda: extract(start("scratch"), "t: _", "x"), "schedule.limit")
    s = start("backward")
    refusal(lambda: extract(s, "if _: _", "x"), "schedule.limit")
    assert extract(simplify(shift(s, "i", 0)), "if _: _", "x").proc.requires
    s = set_memory(start("vectors"), "t: _", Smem())
    refusal(lambda: extract(s, "vec_copy(_) #0", "x"), "schedule.limit")


def test_another_procedure_that_does_the_same() -> None:
    s = divide(start("copy"), "i", 4, tail="cut")
    part = "x[4 * io : 4 * io + 4]"
    s = replace_by(s, "ii", algorithm("copy_four"), src=part, dst="y[4 * io : 4 * io + 4]")
    assert "y[4 * io + (3 - k)] = x[4 * io + (3 - k)]" in keeps_meaning(s)
    s = replace_by(start("copy"), "i", algorithm("copy"), N="N", x="x", y="y")
    assert "for i_1 in seq(0, N):" in keeps_meaning(s)
    s = replace_by(start("total"), "j", algorithm("scaled_sum"), n="M", row="i", rows="N", x="x", s="s")
    assert "s[0] += x[i, k]" in keeps_meaning(s)


def test_another_procedure_that_does_something_else() -> None:
    s = divide(start("copy"), "i", 4, tail="cut")
    one, other = "x[4 * io : 4 * io + 4]", "y[4 * io : 4 * io + 4]"
    refusal(lambda: replace_by(s, "ii", algorithm("copy_four"), src=other, dst=one), "schedule.limit")
    refusal(lambda: replace_by(s, "ii", algorithm("copy_four"), src="x[0:4]", dst=other))
    found = example(lambda: replace_by(start("copy"), "i", algorithm("multiple"), N="N", x="x", y="y"))
    assert found["N"] % 4
    found = example(
        lambda: replace_by(start("total"), "j", algorithm("scaled_sum"), n="N", row="i", rows="N", x="x", s="s")
    )
    assert found["N"] != found["M"]
    refusal(lambda: replace_by(s, "ii", algorithm("copy_four"), src=one), "schedule.limit")
    refusal(lambda: replace_by(s, "ii", algorithm("copy_four"), src="x[0:3]", dst=other), "schedule.condition")
    refusal(lambda: replace_by(s, "ii", algorithm("copy_four"), src="x[0]", dst=other), "schedule.limit")


def test_names_of_another_procedure_are_its_own() -> None:
    s = replace_by(start("copied_twice"), "for i in _: _", algorithm("copy_some"), N="N", i_1="N", x="x", y="y")
    assert "for i_2 in seq(0, N):\n            y[i_2] = x[i_2]" in keeps_meaning(s)


def test_operands_in_another_order() -> None:
    s = replace_by(start("larger"), "i", algorithm("larger_turned"), N="N", x="x", y="y")
    assert "max(x[N - 1 - i_1], x[i_1])" in keeps_meaning(s) and not s.reassociated


def test_the_same_in_other_words_is_not_refuted() -> None:
    """It is refused, but not with an execution that shows no difference."""
    s, other = start("three_added"), algorithm("three_added_back")
    found = refusal(lambda: replace_by(s, "i", other, N="N", z="z", w="w"), "schedule.limit")
    assert "or it is not known" in str(found)


def test_another_value_is_refuted() -> None:
    found = example(lambda: replace_by(start("larger"), "i", algorithm("larger_next"), N="N", x="x", y="y"))
    assert found["N"] - 1 - found["i"] != found["i"] % 2
