"""The text report: snippets, witnesses, step tables, summaries, colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from exogpu.diagnostics import Diagnostic
from exogpu.report.snippet import render_diagnostic
from exogpu.report.style import ColorChoice, Palette, use_color
from exogpu.report.table import HEAD, TAIL, render_steps
from exogpu.report.text import TextOptions, render_text
from exogpu.source import NOWHERE, Span
from exogpu.verify.result import Status, Step
from tests.report import samples

Golden = Callable[[str, str], None]
PLAIN = TextOptions(lines=samples.lines)


def test_refuted_and_undecided_kernel(golden: Golden) -> None:
    golden("report/refuted.txt", render_text(samples.run(samples.BAD), PLAIN))


def test_proved_kernel_lists_properties_and_axioms(golden: Golden) -> None:
    golden("report/proved.txt", render_text(samples.run(samples.GOOD), PLAIN))


def test_chains(golden: Golden) -> None:
    golden("report/chains.txt", render_text(samples.run(samples.GOOD), replace(PLAIN, chains=True)))


def test_bad_input_uses_the_same_look(golden: Golden) -> None:
    golden("report/bad_input.txt", render_text(samples.run(problems=(samples.PROBLEM,)), PLAIN))


def test_cost_is_shown_only_when_not_deterministic() -> None:
    shown = render_text(samples.run(samples.GOOD, deterministic=False), PLAIN)
    assert "0.42 s, z3 5.4.1, rlimit 1,200" in shown
    assert "0.42" not in render_text(samples.run(samples.GOOD), PLAIN)


def test_reason_of_an_undecided_kernel_is_printed() -> None:
    report = replace(samples.report(Status.UNSUPPORTED), reason="clusters are not supported")
    assert "reason: clusters are not supported" in render_text(samples.run(report), PLAIN)


def test_a_proof_up_to_reassociation_says_so() -> None:
    sums = replace(samples.GOOD, reassociated=("C", "S"))
    shown = render_text(samples.run(sums), PLAIN)
    assert "ring_good   PROVED up to reassociation   1 obligation\n" in shown
    assert "equal to the sequential program up to the order of the sums in C, S" in shown
    assert "reassociation" not in render_text(samples.run(samples.GOOD), PLAIN)


def test_color_wraps_the_same_text() -> None:
    plain = render_text(samples.run(samples.BAD), PLAIN)
    colored = render_text(samples.run(samples.BAD), replace(PLAIN, palette=Palette(True)))
    assert "\x1b[" in colored and "\x1b" not in plain
    stripped = colored
    for code in ("1;31", "1;33", "1;32", "1;36", "2", "1", "0"):
        stripped = stripped.replace(f"\x1b[{code}m", "")
    assert stripped == plain


@pytest.mark.parametrize(
    ("choice", "terminal", "environment", "expected"),
    [
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", True, {"TERM": "dumb"}, False),
    ],
)
def test_color_choice(choice: ColorChoice, terminal: bool, environment: dict[str, str], expected: bool) -> None:
    assert use_color(choice, terminal, environment) is expected


def test_unreadable_source_still_gives_a_location() -> None:
    diagnostic = Diagnostic("race.war", "a message", Span("/project/gone.py", 7, 2, 7, 5))
    assert render_diagnostic(samples.run(), diagnostic, lines=lambda _: ()) == [
        "error[race.war]: a message",
        " --> gone.py:7:3",
    ]


def test_place_without_a_line_is_the_file() -> None:
    diagnostic = Diagnostic("input.file", "no file", Span("/project/x.py", 0, 0, 0, 0), help="look elsewhere")
    assert render_diagnostic(samples.run(), diagnostic) == [
        "error[input.file]: no file",
        " --> x.py",
        "  = help: look elsewhere",
    ]


def test_span_of_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    diagnostic = Diagnostic("race.war", "m", Span("/project/a.py", 1, 4, 2, 3))
    rendered = render_diagnostic(samples.run(), diagnostic, lines=lambda _: ("abc def(", "    x)"))
    assert rendered[3:5] == ["1 | abc def(", "  |     ^^^^"]


def test_table_shows_a_state_only_when_it_changes() -> None:
    table = render_steps(samples.STEPS)
    assert table[0].split() == ["step", "actor", "at", "iteration", "event", "sA[0]", "full[0]"]
    assert table[3].endswith("wgmma reads sA"), "the third step leaves sA[0] as it was"
    assert table[4].endswith("writing")


def test_wide_table_lists_changes_in_one_column() -> None:
    state = tuple((f"barrier[{n}]", "phase 1") for n in range(20))
    table = render_steps([Step("warp 0", NOWHERE, (), "init", state), Step("warp 1", NOWHERE, (), "wait")])
    assert table[0].split() == ["step", "actor", "event", "changed"]
    assert "barrier[0] = phase 1, barrier[1] = phase 1" in table[1]


def test_long_execution_is_shortened_in_the_middle() -> None:
    steps = [Step(f"warp {n}", NOWHERE, (), "step") for n in range(100)]
    table = render_steps(steps)
    assert len(table) == 1 + HEAD + 1 + TAIL
    assert table[1].split()[0] == "1" and table[-1].split()[0] == "100"
    assert "60 steps" in table[1 + HEAD]


def test_no_steps_no_table() -> None:
    assert render_steps(()) == []
