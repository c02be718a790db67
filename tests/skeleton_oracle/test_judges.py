"""Random skeletons under two judges: never PROVED and wrong, never right and refuted (`tests.nightly --skeletons`)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.nightly import main
from tests.skeleton_oracle.campaign import disagreement, found, judge, table
from tests.skeleton_oracle.compare import FAULT, OPEN, PROVED, UNKNOWN, Finding
from tests.skeleton_oracle.generate import SHAPES, generate
from tests.skeleton_oracle.lines import Block, Line, lines, source, walk
from tests.skeleton_oracle.program import Program, numbered, well_formed
from tests.skeleton_oracle.shrink import shrink

SLICE = 10
OF_A_KIND = ("lives", "lives", "orders", "orders", "pool", "options")


@pytest.mark.parametrize("number", range(SLICE))
def test_judges_agree_on_a_slice_of_the_nightly_run(number: int) -> None:
    program = numbered(0, number)
    assert disagreement(program, found(program.block)) == "", program.text


@pytest.mark.parametrize(("number", "kind"), [*enumerate(OF_A_KIND)])
def test_judges_agree_on_some_of_each_kind(number: int, kind: str) -> None:
    program = numbered(1, number, [kind])
    assert disagreement(program, found(program.block)) == "", program.text


def test_programs_are_well_formed_and_the_same_for_the_same_seed() -> None:
    for number in range(60):
        block = generate(Random(number)).block()
        assert block == generate(Random(number)).block()
        assert well_formed(block), source(block)


def test_every_kind_is_reached() -> None:
    assert {kind for n in range(150) for kind in generate(Random(n)).kinds} == {*SHAPES}
    assert all(generate(Random(n), ["lives", "pool"]).kinds & {"lives", "pool"} for n in range(20))


def test_most_programs_have_edits() -> None:
    edited = [bool(numbered(1, n).edits) for n in range(60)]
    assert 30 < sum(edited) < 59


RACE: Block = (
    Line("@skeleton"),
    Line(
        "def random(n: size):",
        (
            *lines("x = smem(2)", "y = smem()", "b = mbarrier(count=1)"),
            Line('with role("p", threads=1):', (*lines("arrive(b)"), Line("if n > 1:", lines("store(x[0])")))),
            Line('with role("c", threads=1):', lines("load(y)", "wait(b, parity=0)", "load(x[0])", "load(x[1])")),
        ),
    ),
)


def test_shrinking_leaves_what_matters() -> None:
    smallest = shrink(RACE, lambda b: found(b).executions == FAULT and found(b).rule == "race.raw")
    texts = [line.text for _, line in walk(smallest)]
    assert [t for t in texts if t not in ("arrive(b)", "wait(b, parity=0)", "b = mbarrier(count=1)")] == [
        "@skeleton",
        "def random(n: size):",
        "x = smem(2)",
        'with role("p", threads=1):',
        "store(x[0])",
        'with role("c", threads=1):',
        "load(x[0])",
    ]


def test_what_a_disagreement_is() -> None:
    right, edited = Program(RACE, 0), Program(RACE, 1)
    wrong = Finding(PROVED, FAULT, "race.raw", "a race", (0.0, 0.0))
    unproved = Finding(UNKNOWN, FAULT, "race.raw", "a race", (0.0, 0.0))
    assert disagreement(edited, wrong) == "PROVED, and an execution goes wrong: race.raw: a race"
    assert disagreement(right, unproved).startswith("right as it was made")
    assert disagreement(edited, unproved) == ""


def test_a_run_continues_where_its_log_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--skeletons", "--programs", "2", "--jobs", "1", "--log", str(tmp_path / "log")]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "2 skeletons" in first
    assert "0 disagreements" in first
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[1:] == first.splitlines()[1:]


def test_the_table_shows_a_disagreement_with_its_program() -> None:
    record = judge(0, 1) | {"disagreement": "PROVED and wrong", "text": "the text", "smallest": "less"}
    shown = table([record], 1.0)
    assert "DISAGREEMENT on skeleton 1" in shown
    assert "the text" in shown
    assert shown.endswith("1 disagreements")


def test_the_table_counts_by_kind() -> None:
    wrong = judge(0, 1) | {"kinds": ("lives", "pool"), "proof": PROVED, "executions": FAULT, "disagreement": "so"}
    wrong |= {"text": "", "smallest": ""}
    left = wrong | {
        "number": 2,
        "kinds": ("lives",),
        "edits": 0,
        "proof": UNKNOWN,
        "executions": OPEN,
        "disagreement": "",
    }
    rows = [line.split() for line in table([wrong, left], 1.0).splitlines()]
    assert ["lives", "0", "1", "0", "1", "1", "0", "1"] in rows
    assert ["pool", "0", "0", "0", "1", "1", "0", "1"] in rows
