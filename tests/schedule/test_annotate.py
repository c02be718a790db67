"""Annotations: no sequential meaning, and a kernel at the end."""

from __future__ import annotations

import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.index import Int
from exogpu.ir.stmt import Alloc, Assign, Tasks, Threads, Unroll
from exogpu.ir.types import Rmem, Scalar
from exogpu.ir.value import Num
from exogpu.isa import bar_sync, wgmma_commit, wgmma_wait
from exogpu.schedule import (
    Schedule,
    Warpgroups,
    Warps,
    arrive,
    assign_role,
    divide,
    fence,
    insert,
    launch,
    mbarrier,
    named_barrier,
    set_mode,
    sync,
    unit_loop,
    wait,
)
from exogpu.schedule.journal import html, markdown
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from tests.schedule.common import keeps_meaning, refusal, start


def elementwise() -> Schedule:
    s = divide(start("copy"), "i", 256, tail="guard", names=("tile", "t"))
    s = set_mode(s, "tile", Tasks())
    return launch(set_mode(s, "t", Threads(1)), 256)


def test_a_kernel_is_derived_and_proved() -> None:
    s = elementwise()
    keeps_meaning(s)
    assert verify(s.kernel).status is Status.PROVED


def test_what_is_missing_for_a_kernel() -> None:
    with pytest.raises(BadInput, match="is an algorithm: it says what is computed"):
        start("copy").kernel  # noqa: B018


def test_modes_need_literal_bounds() -> None:
    refusal(lambda: set_mode(start("copy"), "i", Threads(1)), "schedule.limit")
    refusal(lambda: set_mode(start("copy"), "i", Unroll()), "schedule.limit")
    assert "for i in unroll(0, 8):" in keeps_meaning(set_mode(start("eight"), "i", Unroll()))


def test_roles_and_barriers() -> None:
    s = launch(start("two"), roles={"producer": Warps(4), "consumer": Warpgroups(2, regs=232)}, persistent=True)
    s = mbarrier(s, "full", ring=4, count=1)
    s = named_barrier(s, "pair", count=256)
    y = s.find("y[_] = _")
    s = insert(s, y.before, [wait("full", lag=4), arrive("full", tx=64)])
    s = assign_role(s, "y[_] = _", "producer")
    s = unit_loop(s, y, "p", 1)
    s = assign_role(s, "z[_] = _", "consumer", s.find("i").var % 2)
    s = insert(s, s.forward(y).after, [sync(wgmma_commit), sync(wgmma_wait, 1), sync(bar_sync, "pair"), fence()])
    text = keeps_meaning(s)
    for line in (
        "block(producer=warps(4), consumer=warpgroups(2, regs=232), persistent=True)",
        "full = mbarrier(ring=4, count=1)",
        "Await(full, lag=4)",
        "Arrive(full, tx=64)",
        "with role(consumer[i % 2]):",
        "wgmma_wait(1)",
        "bar_sync(pair)",
    ):
        assert line in text, text
    refusal(lambda: assign_role(s, "z[_] = _", "nobody"), "schedule.limit")
    refusal(lambda: mbarrier(s, "x", count=1), "schedule.limit")


def test_what_means_something_is_not_inserted() -> None:
    s = start("copy")
    store = Assign("y", (Int(0),), "=", Num(1.0))
    refusal(lambda: insert(s, s.find("y[_] = _").after, store), "schedule.limit")
    refusal(lambda: unit_loop(s, "y[_] = _", "p", 2), "schedule.limit")
    assert "t: f32[4] @ RMEM" in keeps_meaning(
        insert(s, s.find("y[_] = _").after, Alloc("t", Scalar.F32, (4,), Rmem()))
    )


def test_code_in_the_log_has_no_backticks_of_its_own() -> None:
    s = start("copy")
    s = divide(s, s.find("i"), 4, tail="guard")
    assert "`for i" in str(s.steps[0])
    assert "## 1. `divide(for i in seq(0, N):, 4" in markdown(s)


def test_the_log_as_a_document() -> None:
    s = elementwise()
    text = markdown(s)
    assert '## 1. `divide("i", 256, tail="guard", names=("tile", "t"))`' in text and "+    for tile in" in text
    assert "the same numbers" in text and "Nothing to prove." in text
    assert markdown(s, whole=True).count("```python") == 2 + len(s.steps)
    page = html(s)
    assert page.count("<details>") == 1 + len(s.steps) and "&lt; N" in page
    assert "-    for i in seq(0, N):" in start("copy").diff(s)


@pytest.mark.parametrize("threads", [0, -32, 2048])
def test_a_block_has_threads(threads: int) -> None:
    refusal(lambda: launch(start("copy"), threads), "schedule.limit")
