"""Named barriers by arrive and sync: participants, recycling, progress, and what they order (rules G1 to G5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.named import plan_barriers
from exogpu.lang import load
from exogpu.verify.assess import Fate, assess
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.explicit import faults
from exogpu.verify.lower import lower
from exogpu.verify.mutants import mutants
from exogpu.verify.program import TASKS
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from tests.texts import verdict

CASES = Path(__file__).parents[1] / "codegen" / "cases" / "named.py"
TEXT = CASES.read_text()
HAND_OVER = TEXT[: TEXT.index("@proc\ndef turns")]
for _old, _new in (("64", "32"), ("63", "31"), ("128", "64"), ("warps(2)", "warps(1)")):
    HAND_OVER = HAND_OVER.replace(_old, _new)
WRITE = "                for t in threads(32):\n                    s[t] = X[m, 32 * i + t]\n"
READY = "                bar_arrive(ready)\n"


def changed(old: str, new: str, text: str = HAND_OVER) -> str:
    assert old in text
    return text.replace(old, new)


PROLOGUE = "    with role(right):\n        bar_arrive(free)\n    for m in tasks(0, M):\n"
INSIDE = "    for m in tasks(0, M):\n        with role(right):\n            bar_arrive(free)\n"
TWICE = PROLOGUE.replace("        bar_arrive(free)\n", "        bar_arrive(free)\n" * 2)
BAD = [
    ("bar.count", changed("count=64", "count=32")),
    ("bar.count", changed("count=64", "count=96")),
    ("bar.count", changed("bar_arrive(ready)", "pass")),
    ("deadlock.cycle", changed(PROLOGUE, "    for m in tasks(0, M):\n")),
    ("bar.recycle", changed(PROLOGUE, INSIDE)),
    ("bar.recycle", changed(PROLOGUE, TWICE)),
    ("race.raw", changed("bar_sync(ready)", "pass").replace("bar_arrive(ready)", "pass")),
    ("race.raw", changed(WRITE + READY, READY + WRITE)),
    ("race.war", changed("bar_sync(free)", "bar_arrive(free)")),
]


@pytest.mark.parametrize(("rule", "text"), BAD, ids=[f"{n}-{b[0]}" for n, b in enumerate(BAD)])
def test_bad_twin_is_refuted(tmp_path: Path, rule: str, text: str) -> None:
    report = verdict(tmp_path, text, "hand_over")
    broken = [o for o in report.obligations if o.status is Status.REFUTED]
    assert rule in {o.rule for o in broken}
    assert all(o.counterexample is not None and o.counterexample.replay for o in broken)


@pytest.mark.parametrize("name", ["hand_over", "turns"])
def test_good_twin_is_proved(name: str) -> None:
    report = verify(load(CASES)[name])
    assert report.status is Status.PROVED
    rules = {o.rule for o in report.obligations}
    assert {"bar.count", "bar.recycle", "deadlock.cycle"} <= rules
    assert not {r for r in rules if r.startswith("mbar.")}


ONE_BARRIER = """from exogpu.lang import *

@proc
def both_ways(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(left=warps(1), right=warps(1), persistent=True)
    turn = named_barrier(count=64)
    for m in tasks(0, M):
        s: f32[32] @ SMEM
        with role(left):
            for t in threads(32):
                s[t] = X[m, t]
            bar_arrive(turn)
        with role(right):
            bar_sync(turn)
            for t in threads(32):
                Y[m, t] = s[31 - t]
            bar_arrive(turn)
        with role(left):
            bar_sync(turn)
"""


def test_one_barrier_cannot_serve_both_directions(tmp_path: Path) -> None:
    """The left warp would join the second generation at once, and so count twice in the first."""
    report = verdict(tmp_path, ONE_BARRIER, "both_ways")
    assert report.status is Status.REFUTED
    assert {o.rule for o in report.obligations if o.status is not Status.PROVED} == {"bar.recycle"}


AHEAD = """from exogpu.lang import *

@proc
def ahead(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(left=warps(1), right=warps(1), persistent=True)
    turn = named_barrier(count=64)
    with role(right):
        bar_arrive(turn)
    for m in tasks(0, M):
        s: f32[32] @ SMEM
        with role(left):
            bar_sync(turn)
            for t in threads(32):
                s[t] = X[m, t]
            bar_arrive(turn)
        with role(right):
            bar_sync(turn)
            for t in threads(32):
                Y[m, t] = s[31 - t]
            bar_arrive(turn)
    with role(left):
        bar_sync(turn)
"""


def test_a_warp_that_hurries_ahead_breaks_a_barrier_of_both_directions(tmp_path: Path) -> None:
    """With its warps in order every run ends well; each statement but the first has one that goes wrong when its warp
    goes first. Nobody can be ahead of the first generation."""
    report = verdict(tmp_path, AHEAD, "ahead")
    broken = [o for o in report.obligations if o.status is not Status.PROVED]
    assert {(o.rule, o.status) for o in broken} == {("bar.recycle", Status.REFUTED)}
    statements = [n for n, line in enumerate(AHEAD.splitlines(), 1) if line.lstrip().startswith("bar_")]
    assert sorted(o.span.line for o in broken) == statements[1:]


def test_a_task_of_its_own_has_barriers_of_its_own(tmp_path: Path) -> None:
    """Without a persistent loop the arrive before each task is the first of the CTA."""
    text = changed(", persistent=True", "", changed(PROLOGUE, INSIDE))
    assert verdict(tmp_path, text, "hand_over").status is Status.PROVED


def test_the_explicit_engine_agrees(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(HAND_OVER)
    program = lower(load(tmp_path / "k.py")["hand_over"])
    for n in (0, 32, 96):
        assert not list(faults(program, {"M": 2, "N": n, TASKS: 2}))


def test_no_edit_of_the_barriers_survives_as_a_proof(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(HAND_OVER)
    kernel = load(tmp_path / "k.py")["hand_over"]
    edited = [m for m in mutants(kernel) if m.kind in ("drop", "count", "unit", "role")]
    assert len(edited) >= 9
    found = list(assess(verify(kernel), edited, DEFAULT))
    assert [(a.edit.what, a.verdict.fate) for a in found if a.verdict.fate not in (Fate.KILLED, Fate.REJECTED)] == []


HEAD = """from exogpu.lang import *

@proc
def k(M: size):
    block(a=warps(2), b=warps(2))
    bar = named_barrier(count=128)
    done = mbarrier(count=1)
    for m in tasks(0, M):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("Arrive(bar)", "lang.type_mismatch"),
        ("Await(bar)", "lang.type_mismatch"),
        ("bar_sync(done)", "lang.type_mismatch"),
        ("for t in threads(1):\n            bar_sync(bar)", "lang.collective"),
        ("for t in threads(8, unit=16):\n            bar_arrive(bar)", "lang.collective"),
        ("bar_sync(m)", "lang.type_mismatch"),
    ],
)
def test_whole_warps_and_the_right_kind(tmp_path: Path, body: str, code: str) -> None:
    (tmp_path / "k.py").write_text(HEAD.format(body=body))
    with pytest.raises(BadInput) as caught:
        load(tmp_path / "k.py")
    assert code in {d.code for d in caught.value.diagnostics}


@pytest.mark.parametrize("count", ["0", "48", "2048"])
def test_the_count_is_that_of_whole_warps(tmp_path: Path, count: str) -> None:
    (tmp_path / "k.py").write_text(HEAD.format(body="bar_sync(bar)").replace("128", count))
    with pytest.raises(BadInput) as caught:
        load(tmp_path / "k.py")
    assert {d.code for d in caught.value.diagnostics} == {"lang.range"}


def test_numbers_are_shared_with_the_fences(tmp_path: Path) -> None:
    fence = "for w in threads(2, unit=64):\n            Fence()"
    (tmp_path / "k.py").write_text(HEAD.format(body=fence))
    found = plan_barriers(load(tmp_path / "k.py")["k"])
    assert found.declared == {"bar": 1}
    assert found.teams == {((0, 64), 64): 2}
    more = "\n".join(f"    n{i} = named_barrier(count=64)" for i in range(13)) + "\n    for m"
    (tmp_path / "k.py").write_text(HEAD.format(body=fence).replace("    for m", more))
    with pytest.raises(BadInput) as caught:
        verify(load(tmp_path / "k.py")["k"])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "bar.ids"
    assert "15 named barriers" in diagnostic.message
