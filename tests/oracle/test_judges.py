"""Random kernels under three judges: never PROVED and wrong, never REFUTED and right (`tests.nightly`: in bulk)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exogpu.ir.wellformed import check
from exogpu.verify.result import Status
from tests.nightly import judge, main, table
from tests.oracle.compare import compare
from tests.oracle.generate import generate
from tests.oracle.program import make, numbered, parse
from tests.oracle.shrink import shrink

SLICE = 16


@pytest.mark.parametrize("number", range(SLICE))
def test_judges_agree_on_a_slice_of_the_nightly_run(number: int) -> None:
    program = numbered(0, number)
    assert compare(program.proc).disagreement == "", program.text


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.randoms(use_true_random=False))
def test_judges_agree_on_what_hypothesis_makes(random: Random) -> None:
    program = make(random)
    assert compare(program.proc).disagreement == "", program.text


def test_programs_are_well_formed_and_the_same_for_the_same_seed() -> None:
    for number in range(60):
        text = generate(Random(number))
        assert text == generate(Random(number))
        assert check(parse(text)) == ()


def test_both_verdicts_are_common() -> None:
    edited = [bool(numbered(1, n).edit) for n in range(60)]
    assert 15 < sum(edited) < 45


WRONG = """from exogpu.lang import *

@proc
def kernel(T: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM, Z: f32[T, 32] @ GMEM):
    block(32)
    for t in tasks(0, T):
        s: f32[32] @ SMEM
        for l in threads(32):
            Z[t, l] = 1.0
        if K > 0:
            for i in threads(32):
                s[i] = X[t, i]
        for j in threads(32):
            Y[t, j] = s[31 - j]
        Fence()
"""


def test_shrinking_leaves_what_matters() -> None:
    smallest = shrink(parse(WRONG), lambda p: "race.raw" in compare(p).rules)
    assert [a.name for a in smallest.args] == ["T", "K", "X", "Y"]
    assert compare(smallest).status == Status.REFUTED.value


def test_a_run_continues_where_its_log_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(tmp_path / "log")
    assert main(["--programs", "2", "--jobs", "1", "--log", log]) == 0
    first = capsys.readouterr().out
    assert "2 programs" in first
    assert "0 disagreements" in first
    assert main(["--programs", "2", "--jobs", "1", "--log", log]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == first.splitlines()[1:]


def test_the_table_shows_a_disagreement_with_its_program() -> None:
    record = judge(0, 1) | {"disagreement": "PROVED and wrong", "text": "the text"}
    shown = table([record], 1.0)
    assert "DISAGREEMENT on program 1" in shown
    assert "the text" in shown
    assert shown.endswith("1 disagreements")
