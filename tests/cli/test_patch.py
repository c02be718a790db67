"""The diff of an edited kernel: of its own file where statements can be cut out or replaced, else of a reprint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.cli.patch import patch
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Await, Fence
from exogpu.lang import load
from exogpu.verify.edits import dropped, first_only, lags, narrowed, sites
from exogpu.verify.slim import weakenings

TEXT = '''\
"""A kernel with constants, comments and names that a reprint would lose."""

from exogpu.lang import *

T = 64  # threads of a role


@proc
def hand(M: size, X: f32[M, T] @ GMEM, Y: f32[M, T] @ GMEM):
    block(p=warps(2), c=warps(2), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for i in tasks(0, M):
        s: f32[T] @ SMEM(ring=2)
        with role(p):
            Await(empty, lag=2)  # the slot is free
            for t in threads(T):
                s[t] = X[i, t]
            Fence()
            Arrive(full)
        with role(c):
            Await(full)
            for t in threads(T):
                Y[i, t] = s[T - 1 - t]
            Fence()
            Arrive(empty)
    with role(p):
        Fence()
'''

Pick = Callable[[Proc], Proc]


def shown(path: Path, text: str, edit: Pick) -> list[str]:
    """The lines that the diff takes out and puts in."""
    path.write_text(text, encoding="utf-8")
    proc = load(path)["hand"]
    lines = patch(proc, edit(proc), "hand.py").diff
    return [line for line in lines if line[0] in "+-"]


def without_fence(at: int) -> Pick:
    """The `at`-th fence is gone."""

    def edit(proc: Proc) -> Proc:
        fences = [site for site in sites(proc) if isinstance(site.stmt, Fence)]
        return next(dropped(fences[at])).proc

    return edit


def later(proc: Proc) -> Proc:
    """The first await has a lag of one more."""
    site = next(s for s in sites(proc) if isinstance(s.stmt, Await))
    return list(lags(site))[-1].proc


def first_thread(proc: Proc) -> Proc:
    site = next(s for s in sites(proc) if isinstance(s.stmt, Await))
    return next(first_only(proc, site)).proc


def by_warps(proc: Proc) -> Proc:
    site = next(s for s in sites(proc) if isinstance(s.stmt, Fence))
    return next(narrowed(proc, site, 32)).proc


def without_empty(proc: Proc) -> Proc:
    return next(e.proc for e in weakenings(proc) if e.what == "no empty")


HEADS = ["--- hand.py", "+++ hand.py, slim"]


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        (without_fence(0), ["-            Fence()"]),
        (without_fence(2), ["-    with role(p):", "-        Fence()"]),
        (later, ["-            Await(empty, lag=2)  # the slot is free", "+            Await(empty, lag=3)"]),
        (
            first_thread,
            [
                "-            Await(empty, lag=2)  # the slot is free",
                "+            for u0 in threads(1):",
                "+                Await(empty, lag=2)",
            ],
        ),
        (
            by_warps,
            ["-            Fence()", "+            for u0 in threads(2, unit=warp):", "+                Fence()"],
        ),
        (
            without_empty,
            [
                "-    empty = mbarrier(ring=2, count=1)",
                "-            Await(empty, lag=2)  # the slot is free",
                "-            Arrive(empty)",
            ],
        ),
    ],
)
def test_the_file_itself_is_changed(tmp_path: Path, edit: Pick, changes: list[str]) -> None:
    assert shown(tmp_path / "hand.py", TEXT, edit) == [*HEADS, *changes]


ONE_LINE = TEXT.replace("            Fence()\n            Arrive(full)", "            Fence(); Arrive(full)")
IN_THEN = TEXT.replace(
    "            Fence()\n            Arrive(full)",
    """            if i >= 0:
                Fence()
            else:
                pass
            Arrive(full)""",
)


@pytest.mark.parametrize("text", [ONE_LINE, IN_THEN], ids=["two statements in a line", "the then of an else"])
def test_what_cannot_be_cut_out_is_shown_in_a_reprint(tmp_path: Path, text: str) -> None:
    lines = shown(tmp_path / "hand.py", text, without_fence(0))
    assert lines[:2] == ["--- hand, reprinted", "+++ hand, slim"]
    assert "Fence()" in "".join(lines[2:])


def test_a_file_beside_it_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "widths.py").write_text("T = 64\n", encoding="utf-8")
    text = TEXT.replace("T = 64  # threads of a role", "from widths import T")
    assert shown(tmp_path / "hand.py", text, without_fence(0)) == [*HEADS, "-            Fence()"]


def test_a_file_that_is_gone_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "hand.py"
    path.write_text(TEXT, encoding="utf-8")
    proc = load(path)["hand"]
    path.unlink()
    assert patch(proc, without_fence(0)(proc), "hand.py").diff[0] == "--- hand, reprinted"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("comment", ["# the slot is free", "# the slot\x0c is \u2028 free \x85", "# \x0b"])
@pytest.mark.parametrize("end", ["\n", ""])
def test_what_is_not_edited_stays_byte_for_byte(tmp_path: Path, newline: str, comment: str, end: str) -> None:
    path = tmp_path / "hand.py"
    text = TEXT.replace("# the slot is free", comment).rstrip("\n") + end
    path.write_bytes(text.replace("\n", newline).encode())
    proc = load(path)["hand"]
    assert patch(proc, without_fence(0)(proc), "hand.py").write(str(path))
    left = text.replace("            Fence()\n            Arrive(full)", "            Arrive(full)")
    assert path.read_bytes() == left.replace("\n", newline).encode()


def test_a_file_that_ends_lines_in_several_ways_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hand.py"
    path.write_bytes(TEXT.replace("\n", "\r\n", 3).encode())
    proc = load(path)["hand"]
    assert not patch(proc, without_fence(0)(proc), "hand.py").write(str(path))
