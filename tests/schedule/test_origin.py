"""What a schedule makes stands where its step is called; what was written stands where it was written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Assign, BarrierRef, Fence, InstrCall, Window
from exogpu.ir.types import Smem
from exogpu.ir.walk import reads, walk
from exogpu.kernels.schedules import cluster
from exogpu.report.edits import row
from exogpu.report.model import Run
from exogpu.schedule import (
    Refused,
    Schedule,
    Tasks,
    Threads,
    bind,
    divide,
    fence,
    insert,
    launch,
    schedule,
    set_mode,
    stage,
    var,
    window,
)
from exogpu.schedule.library import modes
from exogpu.source import NOWHERE, Span
from exogpu.verify.assess import Assessed, Fate, Verdict
from exogpu.verify.edits import Edit, dropped, sites
from exogpu.verify.prepare import prepare
from tests.schedule.common import algorithm, refusal

LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def derived() -> Schedule:
    s = divide(schedule(algorithm("copy")), "i", 256, tail="guard", names=("tile", "t"))
    s = modes(modes(s, Tasks(), "tile"), Threads(1), "t")
    s = bind(s, "y[_] = _", "x[_]", "a")
    s = insert(s, s.find("for t in _: _").after, fence())
    return launch(s, 256)


def text(span: Span) -> str:
    """What stands at a place of this file."""
    assert span.file == __file__
    assert span.line == span.end_line
    return LINES[span.line - 1][span.col : span.end_col]


def places(proc: Proc) -> Iterator[Span]:
    """Every place of a procedure that a report can name."""
    yield from (proc.span, proc.block.span, *(r.span for r in proc.block.roles))
    yield from (d.span for d in (*proc.args, *proc.requires, *proc.barriers, *proc.named))
    for stmt in walk(proc.body):
        yield stmt.span
        if isinstance(stmt, Assign):
            yield from (read.span for read, _ in reads(stmt.rhs))
        if isinstance(stmt, InstrCall):
            yield from (o.span for _, o in stmt.operands if isinstance(o, Window | BarrierRef))


def test_a_made_statement_stands_at_the_call_of_its_step() -> None:
    proc = derived().kernel
    (made,) = (stmt for stmt in walk(proc.body) if isinstance(stmt, Fence))
    assert text(made.span) == 'insert(s, s.find("for t in _: _").after, fence())'
    assert text(proc.block.span) == "launch(s, 256)"
    new, old = (stmt for stmt in walk(proc.body) if isinstance(stmt, Assign))
    assert text(new.span) == 'bind(s, "y[_] = _", "x[_]", "a")'
    assert [text(read.span) for read, _ in reads(old.rhs)] == ['bind(s, "y[_] = _", "x[_]", "a")']
    (written,) = (stmt for stmt in walk(schedule(algorithm("copy")).proc.body) if isinstance(stmt, Assign))
    assert old.span == written.span != new.span


def test_a_replayed_step_keeps_its_place() -> None:
    s = derived()
    assert [*places(s.replay().proc)] == [*places(s.proc)]


def test_the_log_shows_arguments_as_they_are_written() -> None:
    s = divide(schedule(algorithm("copy")), "i", 256, tail="guard", names=("tile", "t"))
    s = stage(s, "t", window("x", (256 * var("tile"), 256)), "b", Smem(swizzle=32), edges="zero")
    s = insert(s, s.find("for t in _: _").after, fence())
    calls = [step.call for step in s.steps]
    assert calls[0] == 'divide("i", 256, tail="guard", names=("tile", "t"))'
    assert calls[1] == 'stage("t", "x[256 * tile : 256 * tile + 256]", "b", SMEM(swizzle=32), edges="zero")'
    assert calls[2] == "insert(after `for t in seq(0, 256):`, `Fence()`)"
    assert repr(s) == f"<schedule of copy: {len(calls)} steps>"


def test_everything_of_a_derived_kernel_has_a_place() -> None:
    found = [*places(cluster.DERIVATION.kernel)]
    assert len(found) > 80
    assert NOWHERE not in found
    assert {Path(span.file).name for span in found} == {"cluster.py", "steps.py", "three_loops.py"}


def test_columns_count_characters() -> None:
    größe = schedule(algorithm("copy"))
    äußere, größe = größe, launch(größe, 256)
    assert äußere.proc.block != größe.proc.block
    assert text(größe.proc.block.span) == "launch(größe, 256)"


def test_a_refusal_says_which_step_it_is_about() -> None:
    s = schedule(algorithm("copy"))
    found = refusal(lambda: divide(s, "i", 3), "schedule.condition").diagnostic
    assert "for i in seq(0, N):" in Path(found.span.file).read_text(encoding="utf-8")
    assert [(text(label.span), label.text) for label in found.labels] == [('divide(s, "i", 3)', "called here")]
    with pytest.raises(Refused) as caught:
        s.find("for k in _: _")
    assert [text(label.span) for label in caught.value.diagnostic.labels] == ['s.find("for k in _: _")']
    found = refusal(lambda: launch(s), "schedule.limit").diagnostic
    assert (text(found.span), found.labels) == ("launch(s)", ())


def test_a_library_function_is_where_the_user_calls_it() -> None:
    s = modes(divide(schedule(algorithm("copy")), "i", 256, tail="guard", names=("tile", "t")), Tasks(), "tile")
    assert text(insert(s, s.find("tile").after, fence()).proc.body[1].span).startswith("insert(s, s.find")


def test_labels_and_tables_name_the_file_of_what_was_written_elsewhere() -> None:
    s = set_mode(derived(), "t", Threads(1))
    labels = {event.span.file: event.label for event in prepare(s.kernel).events if event.label.startswith("assign")}
    written = next(file for file in labels if file != __file__)
    assert labels == {__file__: "assignment to a", written: f"assignment to y in {Path(written).name}"}
    (edit,) = (edit for site in sites(s.kernel) for edit in dropped(site))
    assessed = Assessed(edit, Verdict(Fate.KILLED, "", 0.0))
    run = Run(deterministic=True)
    assert row(assessed, s.kernel.span, run).split()[0] == str(edit.span.line)
    moved = Edit("drop", "no Fence", next(f for f in places(s.kernel) if f.file == written), s.kernel)
    assert row(Assessed(moved, assessed.verdict), s.kernel.span, run).startswith(
        f"{Path(written).name}:{moved.span.line} "
    )
